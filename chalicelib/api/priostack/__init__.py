"""The Priostack dialect: REST `/api/v1` (contracts/priostack.md, contracts/dialects.md)."""

PREFIX = "/api/v1"  # of its paths; loading this loads none of its routes
