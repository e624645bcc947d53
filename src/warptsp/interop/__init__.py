"""Instances from objects of other packages, known by what they offer: none of those packages is imported."""
