"""Checkpoints: whole folders, made current by one rename."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from chalicelib.local.checkpoints import Checkpointer, InUse, StateFolder


class Save:
    """Writes one file, and says so."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __call__(self, folder: Path) -> bool:
        (folder / "table.json").write_text(self.text)
        return True


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[StateFolder]:
    folder = StateFolder(tmp_path)
    folder.open()
    yield folder
    folder.close()


def test_a_new_folder_has_no_checkpoint(folder: StateFolder) -> None:
    assert folder.newest() is None


def test_the_newest_checkpoint_is_the_last_that_was_written(folder: StateFolder) -> None:
    folder.write(Save("one"))
    folder.write(Save("two"))

    newest = folder.newest()
    assert newest is not None
    assert "two" == (newest / "table.json").read_text()


def test_only_the_last_two_checkpoints_are_kept(folder: StateFolder) -> None:
    for number in range(5):
        folder.write(Save(str(number)))

    kept = sorted(path.name for path in (folder.path / "checkpoints").iterdir())
    assert ["000000004", "000000005"] == kept


def test_it_writes_nothing_when_nothing_changed(folder: StateFolder) -> None:
    folder.write(Save("one"))

    assert not folder.write(lambda _: False)

    assert ["000000001"] == [path.name for path in (folder.path / "checkpoints").iterdir()]


def test_a_checkpoint_that_fails_halfway_never_counts(folder: StateFolder) -> None:
    folder.write(Save("whole"))

    def fail(part: Path) -> bool:
        (part / "table.json").write_text("half")
        raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space"):
        folder.write(fail)

    newest = folder.newest()
    assert newest is not None
    assert "whole" == (newest / "table.json").read_text()


def test_a_later_checkpoint_succeeds_after_one_that_failed(folder: StateFolder) -> None:
    def fail(part: Path) -> bool:
        raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space"):
        folder.write(fail)

    assert folder.write(Save("whole"))


def test_what_a_killed_process_left_half_written_is_cleared_away(folder: StateFolder) -> None:
    folder.write(Save("whole"))
    folder.close()
    half = folder.path / "checkpoints" / "000000002.part"
    half.mkdir()
    (half / "table.json").write_text("half")

    folder.open()

    assert not half.exists()
    assert "000000001" == getattr(folder.newest(), "name", None)


def test_a_folder_that_is_open_refuses_a_second_server(folder: StateFolder) -> None:
    second = StateFolder(folder.path)

    with pytest.raises(InUse, match="in use by another server"):
        second.open()

    folder.close()
    second.open()
    second.close()


def test_stopping_writes_the_last_state(folder: StateFolder) -> None:
    checkpointer = Checkpointer(folder, Save("last"))
    checkpointer.start()

    checkpointer.stop()

    newest = folder.newest()
    assert newest is not None
    assert "last" == (newest / "table.json").read_text()
