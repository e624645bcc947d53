"""Lower bounds: how short no tour can be, with a certificate that proves it."""

from warptsp._offers import on_demand
from warptsp.bound.held_karp import LowerBound, lower_bound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from warptsp.bound.certificate import proven_value, read_certificate, write_certificate

__all__ = ["LowerBound", "lower_bound", "proven_value", "read_certificate", "write_certificate"]
__getattr__ = on_demand(
    __name__,
    dict.fromkeys(("proven_value", "read_certificate", "write_certificate"), "warptsp.bound.certificate"),
)
