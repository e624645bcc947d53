"""The command ``warptsp``, also as ``python -m warptsp``."""

from __future__ import annotations

import sys
from typing import NoReturn

from warptsp import interruption


def main() -> NoReturn:
    """Run the command line and exit: status 0, 2 for bad input, 130 or 143 after Ctrl-C or SIGTERM."""
    try:
        interruption.install()  # before the imports, which an interrupt may hit
        from warptsp.cli import run

        status = run(sys.argv[1:])
    except KeyboardInterrupt:
        status = 130
    sys.exit(status)


if __name__ == "__main__":
    main()
