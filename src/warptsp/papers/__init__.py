"""The systems of five published papers and theses, a folder for each family of methods.

Each is a method of `solve` like any other, and its figures are put beside the published ones
(docs/reproduction). The main solver needs nothing from here.
"""
