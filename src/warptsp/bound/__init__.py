"""Lower bounds: how short no tour can be, with a certificate that proves it."""

from .certificate import proven_value, read_certificate, write_certificate
from .held_karp import LowerBound, lower_bound

__all__ = [
    "LowerBound",
    "lower_bound",
    "proven_value",
    "read_certificate",
    "write_certificate",
]
