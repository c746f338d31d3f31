"""Seeded worlds over the in-memory ports, with faults at every call (design section 9).

The operations, the engine, the store and the delivery run unchanged; only the ports under them
are in memory and wrapped, so that every call is a point where the actor may be struck and where
another actor may go on. Actors are greenlets, time is virtual, nothing sleeps.

    python -m tests.simulation --all                              everything, with the count
    python -m tests.simulation --all --only call net --turn 3     two scenarios, other pairs
    python -m tests.simulation --scenario sequence --seed 17      one run again, with its trace
    python -m tests.simulation --scenario sequence --strikes 31:crash-after,40:duplicate
"""
