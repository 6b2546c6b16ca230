"""``python -m collectord`` is the console script."""

from collectord.cli import main

if __name__ == "__main__":
    main()
