"""Near-optimal travelling-salesman tours, fast: from a handful of places to millions.

>>> import warptsp
>>> result = warptsp.solve([[0, 0], [3, 0], [3, 4], [0, 4]])
>>> result.length
14.0

Names are loaded when they are first used, so that the import takes next to no time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "solve": "warptsp.solver",
    "Result": "warptsp.result",
    "HistoryPoint": "warptsp.result",
    "Progress": "warptsp.progress",
    "Problem": "warptsp.problem",
    "OpenPath": "warptsp.problem",
    "Metric": "warptsp.problem",
    "load": "warptsp.io",
    "read_tour": "warptsp.io",
    "write_tour": "warptsp.io",
    "AllOf": "warptsp.stop",
    "AnyOf": "warptsp.stop",
    "DefaultStop": "warptsp.stop",
    "MaxKicks": "warptsp.stop",
    "MaxRuntime": "warptsp.stop",
    "NoImprovement": "warptsp.stop",
    "SearchState": "warptsp.stop",
    "StopToken": "warptsp.stop",
    "StoppingCriterion": "warptsp.stop",
    "TargetGap": "warptsp.stop",
    "TargetLength": "warptsp.stop",
    "WarpTSPError": "warptsp.errors",
    "InvalidProblem": "warptsp.errors",
    "ParseError": "warptsp.errors",
    "InvalidTour": "warptsp.errors",
    "InvalidOption": "warptsp.errors",
    "UnsupportedProblem": "warptsp.errors",
    "BackendUnavailable": "warptsp.errors",
    "DeviceOutOfMemory": "warptsp.errors",
    "OutputError": "warptsp.errors",
}

__all__ = sorted([*_HOME, "__version__"])

if TYPE_CHECKING:
    from warptsp.errors import (
        BackendUnavailable as BackendUnavailable,
        DeviceOutOfMemory as DeviceOutOfMemory,
        InvalidOption as InvalidOption,
        InvalidProblem as InvalidProblem,
        InvalidTour as InvalidTour,
        OutputError as OutputError,
        ParseError as ParseError,
        UnsupportedProblem as UnsupportedProblem,
        WarpTSPError as WarpTSPError,
    )
    from warptsp.io import load as load, read_tour as read_tour, write_tour as write_tour
    from warptsp.problem import Metric as Metric, OpenPath as OpenPath, Problem as Problem
    from warptsp.progress import Progress as Progress
    from warptsp.result import HistoryPoint as HistoryPoint, Result as Result
    from warptsp.solver import solve as solve
    from warptsp.stop import (
        AllOf as AllOf,
        AnyOf as AnyOf,
        DefaultStop as DefaultStop,
        MaxKicks as MaxKicks,
        MaxRuntime as MaxRuntime,
        NoImprovement as NoImprovement,
        SearchState as SearchState,
        StopToken as StopToken,
        StoppingCriterion as StoppingCriterion,
        TargetGap as TargetGap,
        TargetLength as TargetLength,
    )


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'warptsp' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
