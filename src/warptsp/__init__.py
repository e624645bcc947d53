"""Near-optimal travelling-salesman tours, fast: from a handful of places to a billion.

>>> import warptsp
>>> result = warptsp.solve([[0, 0], [3, 0], [3, 4], [0, 4]])
>>> result.length
14.0

Names are loaded when they are first used, so that the import takes next to no time.
"""

from __future__ import annotations

import logging

from warptsp._offers import offer, on_demand
from warptsp._version import __version__ as __version__

# What is logged is for handlers of the program; without any, Python would write warnings to stderr.
logging.getLogger(__name__).addHandler(logging.NullHandler())

TYPE_CHECKING = False  # the import of typing would take longer than all the rest

_HOME = {
    "solve": "warptsp.solver",
    "merge": "warptsp.solver.merging",
    "solve_many": "warptsp.many",
    "ManyProgress": "warptsp.many",
    "ManyResults": "warptsp.many",
    "plot": "warptsp.plotting",
    "Result": "warptsp.result",
    "HistoryPoint": "warptsp.result",
    "Snapshot": "warptsp.result",
    "LowerBound": "warptsp.bound",
    "lower_bound": "warptsp.bound",
    "Proof": "warptsp.proof",
    "prove": "warptsp.solver.proving",
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
    "NoTourFound": "warptsp.errors",
    "InvalidOption": "warptsp.errors",
    "UnsupportedProblem": "warptsp.errors",
    "BackendUnavailable": "warptsp.errors",
    "DeviceFailure": "warptsp.errors",
    "DeviceOutOfMemory": "warptsp.errors",
    "OutputError": "warptsp.errors",
}

__all__ = sorted([*_HOME, "__version__"])

# What methods of Problem and Result, and `solve`, ask layers above their own for.
offer("problem of a data frame", "warptsp.io.table.frame", "problem_of_frame")
offer("problem of a mapping", "warptsp.interop.mappings", "problem_of_mapping")
offer("problem of records", "warptsp.interop.mappings", "problem_of_records")
offer("problem of shapes", "warptsp.interop.shapes", "problem_of_shapes")
offer("problem of a graph", "warptsp.interop.networkx", "problem")
offer("problem of an OSRM table", "warptsp.io.osrm", "osrm_problem")
offer("picture", "warptsp.plotting", "draw")
offer("figure", "warptsp.plotting", "plot")
offer("notebook", "warptsp.plotting.notebook", "result_as_html")
offer("insert", "warptsp.insertion", "insert")
offer("remove", "warptsp.insertion", "remove")
offer("report", "warptsp.report", "write")
offer("progress display", "warptsp.cli._display", "make_display")

if TYPE_CHECKING:
    from warptsp.bound import (
        LowerBound as LowerBound,
    )
    from warptsp.bound import (
        lower_bound as lower_bound,
    )
    from warptsp.errors import (
        BackendUnavailable as BackendUnavailable,
    )
    from warptsp.errors import (
        DeviceFailure as DeviceFailure,
    )
    from warptsp.errors import (
        DeviceOutOfMemory as DeviceOutOfMemory,
    )
    from warptsp.errors import (
        InvalidOption as InvalidOption,
    )
    from warptsp.errors import (
        InvalidProblem as InvalidProblem,
    )
    from warptsp.errors import (
        InvalidTour as InvalidTour,
    )
    from warptsp.errors import (
        NoTourFound as NoTourFound,
    )
    from warptsp.errors import (
        OutputError as OutputError,
    )
    from warptsp.errors import (
        ParseError as ParseError,
    )
    from warptsp.errors import (
        UnsupportedProblem as UnsupportedProblem,
    )
    from warptsp.errors import (
        WarpTSPError as WarpTSPError,
    )
    from warptsp.io import load as load
    from warptsp.io import read_tour as read_tour
    from warptsp.io import write_tour as write_tour
    from warptsp.many import ManyProgress as ManyProgress
    from warptsp.many import ManyResults as ManyResults
    from warptsp.many import solve_many as solve_many
    from warptsp.plotting import plot as plot
    from warptsp.problem import Metric as Metric
    from warptsp.problem import OpenPath as OpenPath
    from warptsp.problem import Problem as Problem
    from warptsp.progress import Progress as Progress
    from warptsp.proof import Proof as Proof
    from warptsp.result import HistoryPoint as HistoryPoint
    from warptsp.result import Result as Result
    from warptsp.result import Snapshot as Snapshot
    from warptsp.solver import solve as solve
    from warptsp.solver.merging import merge as merge
    from warptsp.solver.proving import prove as prove
    from warptsp.stop import (
        AllOf as AllOf,
    )
    from warptsp.stop import (
        AnyOf as AnyOf,
    )
    from warptsp.stop import (
        DefaultStop as DefaultStop,
    )
    from warptsp.stop import (
        MaxKicks as MaxKicks,
    )
    from warptsp.stop import (
        MaxRuntime as MaxRuntime,
    )
    from warptsp.stop import (
        NoImprovement as NoImprovement,
    )
    from warptsp.stop import (
        SearchState as SearchState,
    )
    from warptsp.stop import (
        StoppingCriterion as StoppingCriterion,
    )
    from warptsp.stop import (
        StopToken as StopToken,
    )
    from warptsp.stop import (
        TargetGap as TargetGap,
    )
    from warptsp.stop import (
        TargetLength as TargetLength,
    )


__getattr__ = on_demand(__name__, _HOME)


def __dir__() -> list[str]:
    return __all__  # what is public; not what else this file needs
