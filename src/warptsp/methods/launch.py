"""What a user may ask of the launches of kernels."""

from warptsp.errors import InvalidOption
from warptsp.methods.parameters import changed_params

LARGEST_BLOCK = 1024  # threads, on every GPU
LAUNCH = (
    "block",
    "grid",
    "jobs",
    "tour_order",
    "range_size",
)  # parameters of methods that have no effect on a CPU


def check_block(block: int | None, most: int = LARGEST_BLOCK) -> None:
    """Check the threads of a block: InvalidOption if there cannot be so many."""
    if block is not None and (block % 32 or not 32 <= block <= most):
        raise InvalidOption(f"block: {block} is not a multiple of 32 between 32 and {most}")


def asked_of_launches(params: object) -> list[str]:
    """Return the parameters that only launches on a GPU heed, less those that are as by default."""
    if not any(hasattr(params, name) for name in LAUNCH):
        return []
    changed = changed_params(params)
    return [name for name in LAUNCH if name in changed]


def refuse_on_cpu(params: object) -> None:
    """Check that nothing is asked of launches where there are none; InvalidOption names what is asked for."""
    asked = asked_of_launches(params)
    if asked:
        raise InvalidOption(
            f"parameter {asked[0]}: it concerns launches on a GPU, and has no effect on device cpu; "
            "leave it out"
        )
