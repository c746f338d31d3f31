"""The ZenBPM dialect: REST `/v1`, and `/system` (contracts/zenbpm.md sections 1 and 9)."""

PREFIX = "/v1"  # of its paths; loading this loads none of its routes
