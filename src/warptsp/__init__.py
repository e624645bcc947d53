"""Near-optimal travelling-salesman tours, fast."""
