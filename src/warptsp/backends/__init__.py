"""Where a search runs: the preparation that all back ends share, and one module for each of them."""
