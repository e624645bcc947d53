"""Proofs of optimality, by branch and cut."""

from __future__ import annotations

from warptsp._offers import on_demand

TYPE_CHECKING = False  # `solver.prove` imports what it needs, within its time limit
if TYPE_CHECKING:
    from .certificate import is_proof, proven_bound, read_proof
    from .closed_instance import is_optimal
    from .evidence import Certificate
    from .proving import MAX_CITIES, Proof, ProofProgress, prove_within

__all__ = [
    "MAX_CITIES",
    "Certificate",
    "Proof",
    "ProofProgress",
    "is_optimal",
    "is_proof",
    "prove_within",
    "proven_bound",
    "read_proof",
]
__getattr__ = on_demand(
    __name__,
    {
        "Certificate": "warptsp.proof.evidence",
        "is_optimal": "warptsp.proof.closed_instance",
        **dict.fromkeys(("MAX_CITIES", "Proof", "ProofProgress", "prove_within"), "warptsp.proof.proving"),
        **dict.fromkeys(("is_proof", "proven_bound", "read_proof"), "warptsp.proof.certificate"),
    },
)
