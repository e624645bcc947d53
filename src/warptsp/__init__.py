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

_NAMES_IN = {
    "warptsp.solver": "solve",
    "warptsp.solver.merging": "merge",
    "warptsp.solver.proving": "prove",
    "warptsp.many": "ManyProgress ManyResults solve_many",
    "warptsp.plotting": "plot",
    "warptsp.result": "HistoryPoint Result Snapshot",
    "warptsp.bound": "LowerBound lower_bound",
    "warptsp.proof": "Proof",
    "warptsp.progress": "Progress",
    "warptsp.problem": "Metric OpenPath Problem",
    "warptsp.io": "load read_tour write_tour",
    "warptsp.stop": "AllOf AnyOf DefaultStop MaxKicks MaxRuntime NoImprovement SearchState StopToken "
    "StoppingCriterion TargetGap TargetLength",
    "warptsp.errors": "BackendUnavailable DeviceFailure DeviceOutOfMemory InvalidOption InvalidProblem "
    "InvalidTour NoTourFound OutputError ParseError UnsupportedProblem WarpTSPError",
}
_HOME = {name: module for module, names in _NAMES_IN.items() for name in names.split()}

__all__ = sorted([*_HOME, "__version__"])

# What methods of Problem and Result, and `solve`, ask layers above their own for.
offer("problem of a data frame", "warptsp.io.table.frame", "problem_of_frame")
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

if TYPE_CHECKING:  # ruff: isort: off
    from warptsp.bound import LowerBound as LowerBound, lower_bound as lower_bound
    from warptsp.errors import (
        BackendUnavailable as BackendUnavailable,
        DeviceFailure as DeviceFailure,
        DeviceOutOfMemory as DeviceOutOfMemory,
        InvalidOption as InvalidOption,
        InvalidProblem as InvalidProblem,
        InvalidTour as InvalidTour,
        NoTourFound as NoTourFound,
        OutputError as OutputError,
        ParseError as ParseError,
        UnsupportedProblem as UnsupportedProblem,
        WarpTSPError as WarpTSPError,
    )
    from warptsp.io import load as load, read_tour as read_tour, write_tour as write_tour
    from warptsp.many import ManyProgress as ManyProgress, ManyResults as ManyResults
    from warptsp.many import solve_many as solve_many
    from warptsp.plotting import plot as plot
    from warptsp.problem import Metric as Metric, OpenPath as OpenPath, Problem as Problem
    from warptsp.progress import Progress as Progress
    from warptsp.proof import Proof as Proof
    from warptsp.result import HistoryPoint as HistoryPoint, Result as Result, Snapshot as Snapshot
    from warptsp.solver import solve as solve
    from warptsp.solver.merging import merge as merge
    from warptsp.solver.proving import prove as prove
    from warptsp.stop import (
        AllOf as AllOf,
        AnyOf as AnyOf,
        DefaultStop as DefaultStop,
        MaxKicks as MaxKicks,
        MaxRuntime as MaxRuntime,
        NoImprovement as NoImprovement,
        SearchState as SearchState,
        StoppingCriterion as StoppingCriterion,
        StopToken as StopToken,
        TargetGap as TargetGap,
        TargetLength as TargetLength,
    )


__getattr__ = on_demand(__name__, _HOME)


def __dir__() -> list[str]:
    return __all__  # what is public; not what else this file needs
