"""
The door: what the console script and ``python -m collectord`` call.

While modules are imported nobody listens to Ctrl-C: it would show a trace, get lost in
an import's own callbacks, or break a native module half way. So until a command runs
(`collectord.cli.main`), and again once it has returned, the signal just ends the
process, as the shell expects of any program; and this module imports next to nothing.
"""

try:
    import signal
    import sys
except KeyboardInterrupt:
    raise SystemExit(130) from None

__all__ = ["main"]


def main() -> None:
    """Run the command line of this process, and exit."""
    # Whoever started us with SIGINT ignored (nohup) keeps that.
    is_heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_heard:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from collectord.cli import execute  # noqa: PLC0415 - it is what takes the time

    try:
        code = execute(sys.argv[1:])
    finally:
        if is_heard:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(code)


if __name__ == "__main__":
    main()
