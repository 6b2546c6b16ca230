"""
``collectord adapters``: the plug-ins, what they read, and where on this machine.

A refused plug-in is listed with its reason, because it is the answer to "why is my agent
not here?".
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from collectord.adapter import Plugin
from collectord.cli import console
from collectord.cli.settings import Settings, common_options, examples
from collectord.config import AdapterConfig
from collectord.errors import PluginRefused

__all__ = ["command"]


@click.command(epilog=examples("collectord adapters", "collectord adapters --json"))
@common_options
def command(settings: Settings) -> None:
    """
    List the agents that can be collected, and where their sessions are looked for.

    A folder that does not exist is waited for: the agent may not have run yet.
    """
    plugins = settings.named_plugins
    refused = () if settings.adapter_keys else settings.registry.refused
    if settings.json:
        for plugin in plugins:
            console.write_json(_described(plugin, settings))
        for each in refused:
            console.write_json(
                {"key": each.name, "distribution": each.distribution, "refused": each.reason}
            )
        return
    if not plugins and not refused:
        console.write_note(
            "No adapter is installed: none was found in the entry-point group collectord.adapters."
        )
    for number, plugin in enumerate(plugins):
        if number:
            console.write()
        for line in _lines(_described(plugin, settings)):
            console.write(console.printable(line))
    if refused:
        console.write("\nRefused:" if plugins else "Refused:")
        for each in refused:
            console.write(
                console.printable(f"  {each.name}  of {each.distribution}: {each.reason}")
            )


def _described(plugin: Plugin, settings: Settings) -> dict[str, Any]:
    adapter = plugin.adapter
    chosen = settings.config.adapter(plugin.key, adapter.name)
    return {
        "key": plugin.key,
        "title": adapter.title,
        "adapter": f"{adapter.name}/{adapter.version}",
        "dialect": adapter.dialect.name,
        "distribution": plugin.distribution,
        "enabled": chosen.enabled,
        "roots": [
            {"path": str(root), "exists": root.is_dir(), "configured": configured}
            for root, configured in _roots(plugin, chosen)
        ],
    }


def _roots(plugin: Plugin, chosen: AdapterConfig) -> Iterator[tuple[Path, bool]]:
    try:
        found = dict.fromkeys(plugin.adapter.roots(os.environ, Path.home()))
    except Exception as error:  # the plug-in boundary
        reason = f"{type(error).__name__} while it was asked for its roots"
        raise PluginRefused(plugin.key, plugin.distribution, reason) from error
    for root in found:
        yield root, False
    for root in chosen.roots:
        if root not in found:
            yield root, True


def _lines(described: dict[str, Any]) -> Iterator[str]:
    off = "" if described["enabled"] else "  (not enabled)"
    yield f"{described['key']}  {described['title']}{off}"
    yield f"  adapter  {described['adapter']}, dialect {described['dialect']}"
    yield f"  from     {described['distribution']}"
    for root in described["roots"]:
        notes = [] if root["exists"] else ["not there yet"]
        notes += ["from the configuration"] if root["configured"] else []
        yield f"  root     {root['path']}" + (f"  ({', '.join(notes)})" if notes else "")
