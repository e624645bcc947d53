"""Random-restart hill climbing with 2-opt (document 002)."""
