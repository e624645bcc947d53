"""Stopping criteria: small objects that say when a search has gone on for long enough.

Each is a callable ``(SearchState) -> bool``. Join them with ``|`` (stop when any says so) and ``&`` (stop
when all say so): ``MaxRuntime(60) | TargetGap(0.5)``.
"""

from warptsp.stop.criterion import (
    AllOf,
    AnyOf,
    Custom,
    Limit,
    SearchState,
    StoppingCriterion,
    StopToken,
    as_criterion,
)
from warptsp.stop.default import DefaultStop
from warptsp.stop.limits import MaxKicks, MaxRuntime, NoImprovement
from warptsp.stop.target import TargetGap, TargetLength

__all__ = [
    "AllOf",
    "AnyOf",
    "Custom",
    "DefaultStop",
    "Limit",
    "MaxKicks",
    "MaxRuntime",
    "NoImprovement",
    "SearchState",
    "StopToken",
    "StoppingCriterion",
    "TargetGap",
    "TargetLength",
    "as_criterion",
]
