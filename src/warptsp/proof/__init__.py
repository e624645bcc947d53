"""Proofs of optimality, by branch and cut."""

from .certificate import is_proof, read_proof
from .check import proven_bound
from .closed_instance import is_optimal
from .evidence import Certificate
from .proof import Proof, ProofProgress
from .proving import MAX_CITIES, prove_within

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
