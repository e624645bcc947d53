"""The command ``warptsp``, also as ``python -m warptsp``."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found,unused-ignore]  # `signal` takes milliseconds to import
import sys

TYPE_CHECKING = False  # without the import of typing
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and exit: with 0, 2 for bad input, 128 and its number after a signal."""
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)  # an interrupted import has nothing to say
    from warptsp import interruption

    try:
        try:
            interruption.install()
            from warptsp.cli import run, streams

            streams.secure()
            status = run(sys.argv[1:])
        finally:
            interruption.finish()
    except BaseException as error:
        raised = interruption.signal_behind(error)
        if raised is None:
            raise
        status = interruption.status(interruption.number_of(raised))
    sys.exit(status)


if __name__ == "__main__":
    main()
