"""The state of the emulated AWS as texts, one per service, and back.

Both functions run on the emulator's own event loop, where every API call is handled: what they
see is the state between two calls, so what one call wrote before another is never missing.
The names used here are private to the pinned ministack; `tests/local` proves the round trip.
Source: contracts/emulation.md section 4.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

ATTEMPTS = 5  # a thread of the emulator's own may change a dictionary while it is written
ENDPOINT_FILE = "endpoint"
CODE_FOLDER = "code"  # what functions were uploaded, by content
# What grows with use and nobody needs after a restart.
FORGOTTEN = frozenset({"cloudwatch", "cloudwatch_logs", "cloudtrail"})
# Services whose state may be large; copying it would hold up the emulator four times as long.
LARGE = frozenset({"dynamodb", "sqs"})


def take(ministack: ModuleType, folder: Path, endpoint: str) -> dict[str, str]:
    """Return the text of every service's state, by file name; functions' code goes to `folder`."""
    texts = {ENDPOINT_FILE: endpoint}
    _keep_code_in(folder)
    for service, get_state in ministack._build_persistence_save_dict().items():
        if service not in FORGOTTEN:
            text = _text_of(service, get_state)
            if text is not None:
                texts[f"{service}.json"] = text
    return texts


def restore(ministack: ModuleType, folder: Path, endpoint: str) -> None:
    """Give every service the state that a snapshot holds. Raises: ValueError if it is not whole.

    Messages that somebody had received are shown again at once: he ended with the old emulator.
    """
    from ministack.core import persistence  # noqa: PLC0415  reads the environment

    _keep_code_in(folder)
    old = endpoint_of(folder)
    for service, module_name in ministack._state_map.items():
        path = folder / f"{service}.json"
        if path.exists():
            # The addresses of queues hold the port, which may be another now.
            text = path.read_text().replace(f"{old}/", f"{endpoint}/")
            state = json.loads(text, object_hook=persistence._json_object_hook)["payload"]
            if service == "sqs":
                _show_again(state)
            ministack._get_module(module_name).load_persisted_state(state)


def endpoint_of(folder: Path) -> str:
    """Return where the emulator listened whose snapshot this is."""
    return (folder / ENDPOINT_FILE).read_text()


def _show_again(state: dict[str, Any]) -> None:
    for queue in state.get("queues", {})._data.values():
        for message in queue.get("messages", ()):
            if message.get("receipt_handle") is not None:
                message["visible_at"] = min(message["visible_at"], time.time())


def _text_of(service: str, get_state: Any) -> str | None:
    from ministack.core import persistence  # noqa: PLC0415

    for attempt in range(ATTEMPTS):
        try:
            with _without_copies(service):
                state = get_state()
                if state is None:
                    return None
                wrapped = {
                    "__ministack_format__": persistence._state_format_version(service),
                    "payload": state,
                }
                return json.dumps(wrapped, default=persistence._json_default)
        except RuntimeError:
            if attempt == ATTEMPTS - 1:
                raise
    return None


@contextmanager
def _without_copies(service: str) -> Iterator[None]:
    """Let `get_state` return the state itself, to this thread alone and only for a moment."""
    if service not in LARGE:
        yield
        return
    import importlib  # noqa: PLC0415

    module: Any = importlib.import_module(f"ministack.services.{service}")
    real, reader = module.copy, threading.get_ident()

    def deepcopy(value: object, memo: dict[int, object] | None = None) -> object:
        return value if threading.get_ident() == reader else real.deepcopy(value, memo)

    module.copy = SimpleNamespace(copy=real.copy, deepcopy=deepcopy)
    try:
        yield
    finally:
        module.copy = real


def _keep_code_in(folder: Path) -> None:
    from ministack.services import lambda_svc  # noqa: PLC0415

    if not hasattr(lambda_svc, "CODE_BLOB_DIR"):
        raise RuntimeError("ministack.services.lambda_svc.CODE_BLOB_DIR: not the pinned version")
    lambda_svc.CODE_BLOB_DIR = str(folder / CODE_FOLDER)
