"""Many problems in one call: each searched by one thread, several at once.

`sources` gives the problems one after another, `taking` as many as a thread takes at once, `table` keeps what
comes of them, `results` is what a call returns.
"""

from warptsp.many.results import ManyResults
from warptsp.many.solving import ManyProgress, solve_many

__all__ = ["ManyProgress", "ManyResults", "solve_many"]
