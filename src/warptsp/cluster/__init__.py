"""The outer level: parts of one tour, improved by other threads, devices or machines."""
