"""Proofs of optimality, by branch and cut."""

from .proving import MAX_CITIES, Proof, ProofProgress, prove

__all__ = ["MAX_CITIES", "Proof", "ProofProgress", "prove"]
