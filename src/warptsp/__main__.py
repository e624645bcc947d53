"""``python -m warptsp``: the command line."""

from warptsp.cli import main

if __name__ == "__main__":
    main()
