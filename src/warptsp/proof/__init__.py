"""Proofs of optimality, by branch and cut."""

from __future__ import annotations

from warptsp._offers import on_demand

TYPE_CHECKING = False  # `solver.prove` imports what it needs, within its time limit
if TYPE_CHECKING:
    from warptsp.proof.certificate import is_proof, read_proof
    from warptsp.proof.check import proven_bound
    from warptsp.proof.closed_instance import is_optimal
    from warptsp.proof.evidence import Certificate
    from warptsp.proof.proof import Proof, ProofProgress
    from warptsp.proof.proving import MAX_CITIES, prove_within

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
        "proven_bound": "warptsp.proof.check",
        **dict.fromkeys(("Proof", "ProofProgress"), "warptsp.proof.proof"),
        **dict.fromkeys(("MAX_CITIES", "prove_within"), "warptsp.proof.proving"),
        **dict.fromkeys(("is_proof", "read_proof"), "warptsp.proof.certificate"),
    },
)
