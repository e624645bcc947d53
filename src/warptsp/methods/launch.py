"""What a user may ask of the launches of kernels."""

from __future__ import annotations

from warptsp.errors import InvalidOption

LARGEST_BLOCK = 1024  # threads, on every GPU


def check_block(block: int | None, most: int = LARGEST_BLOCK) -> None:
    """Check the threads of a block.

    Raises
    ------
    InvalidOption
        If there cannot be so many.
    """
    if block is not None and (block % 32 or not 32 <= block <= most):
        raise InvalidOption(f"block: {block} is not a multiple of 32 between 32 and {most}")
