"""The former name of `warptsp.interop.networkx`."""

from warptsp.interop.networkx import problem as problem
from warptsp.interop.networkx import solve as solve

__all__ = ["problem", "solve"]
