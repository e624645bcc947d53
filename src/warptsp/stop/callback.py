"""A callback: whether it can be called, and whether its answer ends a search."""

import numpy as np

from warptsp._checks import shown
from warptsp.errors import InvalidOption


def check_callback(callback: object) -> None:
    """Raise InvalidOption for what cannot be called."""
    if callback is not None and not callable(callback):
        raise InvalidOption(f"callback: {shown(callback)} is not callable")


def is_true(answer: object) -> bool:
    """Whether a callback has answered True; it may be the result of a comparison of NumPy arrays."""
    return answer is True or (isinstance(answer, np.bool_) and bool(answer))
