"""How tests are dealt out to processes: one by one, but for those that share what starts slowly.

The groups of pytest-xdist's own (`--dist loadgroup`) are told by a name that pytest 9.2 does not
keep, so that each process started an emulated AWS and deployed to it.
"""

from __future__ import annotations

from xdist.scheduler import LoadScopeScheduling

EMULATED_AWS = "emulated AWS"
ON_EMULATED_AWS = (  # where tests ask for `emulated_aws`, or for the one of `tests/aws`
    "tests/aws/",
    "tests/contract/",
    "tests/infra/test_compose.py",
    "tests/local/test_patches.py",
    "tests/store/test_entries_on_dynamodb.py",
    "tests/store/test_on_dynamodb.py",
    "tests/store/test_runs_on_dynamodb.py",
)
WITH_SERVERS = "tests/local/"  # of which some keep one for all of a file


class Sharing(LoadScopeScheduling):  # type: ignore[misc]
    """Keeps what shares something in one process."""

    def _split_scope(self, nodeid: str) -> str:
        return shared_by(nodeid)


def shared_by(nodeid: str) -> str:
    """Return what names all that a test shares with others; its own id if it shares nothing."""
    file, _, _ = nodeid.partition("::")
    if file.startswith(ON_EMULATED_AWS):
        return EMULATED_AWS
    return file if file.startswith(WITH_SERVERS) else nodeid
