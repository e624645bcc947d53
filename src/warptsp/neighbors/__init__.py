"""Candidate lists: the few neighbours of each city that a search considers."""

from warptsp.neighbors.candidates import CandidateParams, candidate_lists, candidate_rows

__all__ = ["CandidateParams", "candidate_lists", "candidate_rows"]
