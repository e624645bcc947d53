"""A run of a method, and what it keeps.

`settings` is what the call asks for, `run` what a method gets and reports to, `course` what it has come to,
`checkpoint` the best tour on disk, `snapshots` tours on the way, `reserve` the time for its end.
"""

from warptsp.run.run import COMPLETE, PROVED, Run, limit_of
from warptsp.run.settings import Settings

__all__ = ["COMPLETE", "PROVED", "Run", "Settings", "limit_of"]
