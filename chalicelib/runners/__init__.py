"""How an attempt of a scheduled job is made: an HTTP call or a script, and where alarms go.

Nothing here is imported before a job runs, and the HTTP client not before a call is made. What
the sandbox of a script can and cannot keep apart is in docs/runs.md.
"""
