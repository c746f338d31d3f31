"""Scheduled jobs over HTTP: REST `/scheduler/v1` (contracts/scheduled-jobs.md)."""

PREFIX = "/scheduler/v1"  # of its paths; loading this loads none of its routes
