"""What is told of what happened: log lines, metrics and spans, each a table from facts.

Facts come after their commit (`engine/facts.py`, the port `Journal`), so nothing is counted that
was not so. Nothing here is imported before there is something to tell.
"""
