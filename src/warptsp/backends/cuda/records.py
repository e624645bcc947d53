"""The structs and numbers that host and kernels share: how the host has them, held against the kernels.

A kernel file is compiled together with a ``static_assert`` for every field of its structs: name, offset, size
and kind of number, and one for each of `IN_KERNELS`. So a field that is added, moved or
exchanged on one side alone is an error of the compiler, for CI and for a user, and never a wrong number.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warptsp._native import Kicks
from warptsp.backends.cuda.tuning import IN_KERNELS
from warptsp.problem import Metric


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """A struct of the kernels, with a name in C++, and the kernel files that have it.

    A field of another field's `dtype` is called as here, and its place is in `paths`: ``{"steps":
    "shares.steps"}``.
    """

    name: str
    files: tuple[str, ...]
    dtype: np.dtype[Any]
    paths: dict[str, str]

    @property
    def fields(self) -> frozenset[str]:
        return frozenset(self.dtype.names or ())

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    def __call__(self, **fields: Any) -> np.void:
        """Return one as a kernel's argument; arrays become pointers, and what is not given is 0."""
        record = np.zeros(1, self.dtype)
        for name, value in fields.items():
            record[name][0] = value.pointer if hasattr(value, "pointer") else 0 if value is None else value
        scalar: np.void = record[0]
        return scalar

    def checks(self) -> list[str]:
        """Return the C++ lines that compile only if the kernels' struct is this one."""
        null = f"(({self.name} *)0)"
        lines = [f'static_assert(sizeof({self.name}) == {self.itemsize}, "the size of {self.name}");']
        for field, (kind, offset, *_) in (self.dtype.fields or {}).items():
            path = self.paths.get(field, field)
            conditions = [
                # As the compiler's own offsetof is written; NVRTC 12.9 and 13.0 do not know GCC's builtin.
                f"__INTADDR__(&({null}->{path})) == {offset}",
                f"sizeof({null}->{path}) == {kind.itemsize}",
            ]
            if kind.base.kind != "V":
                of_kind = f"warptsp_records::Kind<decltype({null}->{path})>::value"
                conditions.append(f"{of_kind} == '{kind.base.kind}'")
            message = f"{self.name}.{path} is not as backends/cuda/records.py has it"
            lines.append(f'static_assert({" && ".join(conditions)}, "{message}");')
        return lines


RECORDS: list[Record] = []
"""All that were imported; what only papers have is in `cuda_records` of each of them."""


def field_of_rows(metric: Metric, rows: NDArray[Any], *, points: str) -> str:
    """Return which field of a kernel's struct gets the rows of points or of a matrix."""
    if metric is not Metric.EXPLICIT:
        return points
    return "int_matrix" if rows.dtype == np.int32 else "real_matrix"


def layout_checks(file: str) -> str:
    """Return what a kernel file is compiled with; the file itself comes before it."""
    lines = [line for record in RECORDS if file in record.files for line in record.checks()]
    if not lines:
        raise LookupError(f"the structs of {file} are not imported")
    lines += [
        f'static_assert({name} == {number}, "{name} is not as the host has it");'
        for name, number in IN_KERNELS.get(file, {}).items()
    ]
    return "\n".join([f'#line 1 "backends/cuda/records.py, for {file}"', _KIND, *lines, ""])


# NumPy's letters: f for a real number, i for an integer or an enumeration, u for an integer without sign or a
# pointer. V stands for any of them.
_KIND = (
    "namespace warptsp_records { "
    "template <class T, bool is_enum = __is_enum(T)> struct Kind "
    "{ static constexpr char value = T(0.5) != T(0) ? 'f' : T(-1) < T(0) ? 'i' : 'u'; }; "
    "template <class T> struct Kind<T, true> { static constexpr char value = 'i'; }; "
    "template <class T, bool b> struct Kind<T *, b> { static constexpr char value = 'u'; }; "
    "template <class T, int n, bool b> struct Kind<T[n], b> : Kind<T> {}; }"
)


def record(
    name: str, files: str | tuple[str, ...], *fields: str, paths: dict[str, str] | None = None
) -> Record:
    """Make one, which its files are compiled with, of fields such as ``"f8 low high"``, ``"i4 stop[3]"``."""
    described: list[tuple[Any, ...]] = []
    for kind, *names in map(str.split, fields):
        dtype = np.dtype("u8" if kind == "ptr" else kind)
        for field in names:
            base, _, count = field.rstrip("]").partition("[")
            described.append((base, dtype, int(count)) if count else (base, dtype))
    files = (files,) if isinstance(files, str) else files
    RECORDS.append(made := Record(name, files, np.dtype(described, align=True), paths or {}))
    return made


FRAME = record(
    "Frame",
    "geometry.cu",
    "f8 low[3] extent cells cells_a_unit scale",
    paths={name: f"grid.{name}" for name in ("low", "extent", "cells", "cells_a_unit")},
)
EXTREMES = record("Extremes", "geometry.cu", "f8 low[3] high[3]")
_BOXES = ("geometry.cu", "candidates.cu", "bound.cu")
BOX = record("Box", _BOXES, "f8 low[2] high[2]")
TREE = record("PointTree", _BOXES, "ptr points boxes", "f8 scale", "i4 n levels")
GREEDY_STAGE = record(
    "GreedyStage",
    "geometry.cu",
    "ptr points rows city links mate next named length shortest first",
    "i4 size width trusted kind dimensions draw",
)
RANKING = record("TourRanking", "geometry.cu", "ptr links index stops", "i4 n count")
WAY = record("Way", "geometry.cu", "i4 next cities")

TOUR = record(
    "TourOnDevice",
    "lk.cu",
    "ptr points matrix",
    "i4 size dimensions",
    "ptr candidates fixed tour position blob_order blob_rank local_candidates kept",
    "ptr handed_city handed_path handed_offset paths path_count gain chosen",
)
_TYPES = {int: "i4", float: "f4"}
# Of native/lk/kick_kinds.h, in its order.
_KICKS = tuple(f"{_TYPES[type(usual)]} {name}" for name, usual in Kicks().as_dict().items())
_PARAMS = ("f4 tolerance", "i4 fitting")  # of WarpLkParams, behind its kicks
_IN_PARAMS = {name: f"params.kicks.{name}" for name in Kicks.fields}
_IN_PARAMS |= {name: f"params.{name}" for name in ("tolerance", "fitting")}
ROUND = record(
    "RoundOnDevice",
    "lk.cu",
    "i4 parts copies first_copy all_copies tours rotation blobs optimize every",
    "f4 kicks_per_city temperature max_work",
    "u8 seed round",
    "ptr stop",
    *_KICKS,
    *_PARAMS,
    paths=_IN_PARAMS,
)
LK_COUNTERS = record(
    "WarpLkCounters",
    "lk.cu",
    "u4 kicks_made kicks_refused kicks_restored kicks_accepted kicks_improving",
    "u4 passes branches chains steps moves cells_written",
    paths={
        "kicks_made": "kicks",
        "kicks_refused": "refused",
        "kicks_restored": "restored",
        "kicks_accepted": "accepted",
        "kicks_improving": "improved",
        "cells_written": "cells",
    },
)
BATCH = record(
    "BatchOnDevice",
    "lk_batch.cu",
    "ptr points matrices",
    "i4 problems size dimensions",
    "ptr seeds tolerances local_candidates kept best kicks end",
)
BATCH_PLAN = record(
    "BatchPlan",
    "lk_batch.cu",
    "i4 kicks step most agreeing",
    "f4 start cold",
    "ptr stop",
    *_KICKS,
    *_PARAMS,
    paths=_IN_PARAMS,
)
HANDED_PATH = record("HandedPath", "lk.cu", "u4 head tail", "i4 head_city tail_city length")
LINKED_PATH = record("LinkedPath", ("lk.cu", "paths.cu"), "i4 link[2] city[2] length")
PATH_PLACE = record("PathPlace", ("lk.cu", "paths.cu"), "i4 begin turned")
PATH_ORDER = record(
    "PathOrder", "paths.cu", "ptr paths points link tour cost best first", "i4 count dimensions kind"
)
PATH_WAY = record("PathWay", "paths.cu", "i4 end", "u4 value")
JOIN = record("JoinOfTours", "paths.cu", "f8 added", "i4 tour other a a_link b b_link crossed found")

BOUND_ARC = record("BoundArc", "bound.cu", "i4 to cost")
LEVEL_EDGE = record("LevelEdge", "bound.cu", "i4 a b length arc")
MERGE_NODE = record("MergeNode", "bound.cu", "i4 up longest")
SPANNING_TREE = record(
    "TreeOnDevice",
    "bound.cu",
    "ptr first arcs owner potential nodes partner chosen number best edges other_edges taken surplus arrived",
    "i4 n",
)
ASCENT = record(
    "AscentOnDevice",
    "bound.cu",
    "ptr exact velocity spacing ranges order placed change tile_surplus tile_change direction",
    "ptr leaves best_here rounds",
    "i8 tour_length best",
    "f8 progress progress_a_round",
    "i4 clusters looked_at max_potential",
)
ASCENT_ROUND = record(
    "AscentRound",
    "bound.cu",
    "i8 tree_length potentials second slope",
    "u8 leaf later_leaf",
    "i4 components[32] left[32] taken unused",
)
CLUSTER_RANGE = record("ClusterRange", "bound.cu", "i4 begin end gain")
BOX_OF_CITIES = record("BoxOfCities", "bound.cu", "i4 potential top longest")
BOX_PAIR = record("BoxPair", "bound.cu", "i4 a b")
PRICING = record(
    "PricingOnDevice",
    "bound.cu",
    "ptr points tree_boxes",
    "f8 tree_scale",
    "i4 size levels",
    "ptr nodes potential boxes",
    "f8 scale",
    paths={
        "points": "tree.points",
        "tree_boxes": "tree.boxes",
        "tree_scale": "tree.scale",
        "size": "tree.n",
        "levels": "tree.levels",
    },
)
