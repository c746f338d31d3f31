"""A simulated year of costs, from counted requests; `make costs` prints it."""
