"""
The command line: parse, call, print. Nothing is decided here.

``main`` holds the table of commands and turns errors into sentences and exit codes,
``settings`` the options that every command shares, ``console`` what people are shown;
each other module is one command, imported only when it is asked for::

    @click.command(epilog=examples("collectord sources --json"))
    @common_options
    def command(settings: Settings) -> None:
        \"\"\"List the sources that were found.\"\"\"

`settings.config`, `settings.root`, `settings.state_dir` and `settings.plugins` are read
when they are first asked for, so that ``--help`` costs nothing.
"""

from collectord.cli.main import execute

__all__ = ["execute"]
