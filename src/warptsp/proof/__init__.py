"""Proofs of optimality, by branch and cut."""

from __future__ import annotations

from warptsp._offers import on_demand

TYPE_CHECKING = False  # `solver.prove` imports what it needs, within its time limit
if TYPE_CHECKING:
    from warptsp.proof.certificate import is_proof, read_proof
    from warptsp.proof.check import proven_bound
    from warptsp.proof.proof import Proof, ProofProgress
    from warptsp.proof.proving import MAX_CITIES

__all__ = ["MAX_CITIES", "Proof", "ProofProgress", "is_proof", "proven_bound", "read_proof"]
__getattr__ = on_demand(
    __name__,
    {
        "proven_bound": "warptsp.proof.check",
        **dict.fromkeys(("Proof", "ProofProgress"), "warptsp.proof.proof"),
        "MAX_CITIES": "warptsp.proof.proving",
        **dict.fromkeys(("is_proof", "read_proof"), "warptsp.proof.certificate"),
    },
)
