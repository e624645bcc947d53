"""Best improvement over whole neighbourhoods: 2-opt, 3-opt, relocation, swaps (documents 000 and 001)."""
