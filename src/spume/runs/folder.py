"""The folder of a run: paths of its files, locking, and what may be deleted.

DIR/manifest.json                        scene, version, fields
DIR/frames.jsonl                         diagnostics of every frame, a line each
DIR/frames/frame_00000.safetensors ...   frame 0 is the initial state
DIR/frames/frame_00001.parts/...         parts of a frame that several ranks have written, see `parts.py`
DIR/checkpoint.safetensors               everything a bit-for-bit continuation needs
DIR/checkpoint.previous.safetensors      the one before, should the last be damaged
DIR/checkpoint.0.parts/...               parts of a checkpoint, in a folder that the present ones do not use
DIR/snapshot.safetensors                 the state at which a live run was paused, for its viewer
DIR/whitewater/frame_00000.safetensors   points made from the frames by `spume whitewater`
DIR/run.lock                             held by the process that writes
"""

import contextlib
import itertools
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from spume.errors import CacheError
from spume.runs.manifest import Manifest, records_file
from spume.runs.parts import folders_in, make_folder, remove_folder, remove_unused_folders
from spume.runs.storage import contents_of, folder_inside, open_own, parse_json
from spume.whole_files import PARTIAL, sync_folder

UNFINISHED = re.compile(rf"(.+)\.\d+{re.escape(PARTIAL)}(\.\w+)")
"""The name of a file that process is writing: that of the whole file around the id of the process."""
FRAME_NAME = re.compile(r"frame_(\d{5,})\.safetensors")


class RunFolder:
    """Paths of one run's files."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.manifest = self.path / "manifest.json"
        self.records = records_file(self.manifest)
        self.checkpoint = self.path / "checkpoint.safetensors"
        self.next_checkpoint = self.path / "checkpoint.next.safetensors"
        self.previous_checkpoint = self.path / "checkpoint.previous.safetensors"
        self.snapshot = self.path / "snapshot.safetensors"
        self.frames = self.path / "frames"
        self.whitewater = self.path / "whitewater"
        self.lock_file = self.path / "run.lock"

    def frame(self, number: int) -> Path:
        """The file of a frame."""
        return self.frames / f"frame_{number:05d}.safetensors"

    def make_parts_of_frame(self, number: int) -> Path:
        """An empty folder for the parts of a frame, whose file is deleted."""
        try:
            self.frame(number).unlink(missing_ok=True)
        except OSError as error:
            raise CacheError(f"'{self.frame(number)}' cannot be deleted: {error.strerror}") from error
        return make_folder(self.frame(number).with_suffix(".parts"))

    def make_parts_of_checkpoint(self) -> Path:
        """An empty folder for the parts of the next checkpoint, which the present checkpoints do not use."""
        remove_unused_folders(self.path)
        numbered = (self.path / f"checkpoint.{number}.parts" for number in itertools.count())
        return make_folder(next(folder for folder in numbered if not folder.exists()))

    def frames_on_disk(self) -> list[int]:
        """Numbers of the frames whose files exist."""
        return _numbers_in(self.frames)

    def checkpoints(self) -> list[Path]:
        """The existing checkpoints, latest first."""
        files = (self.next_checkpoint, self.checkpoint, self.previous_checkpoint)
        return [file for file in files if file.exists()]

    def rotate_checkpoints(self) -> None:
        """Replace the last checkpoint by the next one, which is complete, and keep it as the previous one."""
        try:
            if self.checkpoint.exists():
                os.replace(self.checkpoint, self.previous_checkpoint)
            os.replace(self.next_checkpoint, self.checkpoint)
            sync_folder(self.path)
            remove_unused_folders(self.path)
        except OSError as error:
            raise CacheError(f"'{self.checkpoint}' cannot be written: {error.strerror}") from error

    def prepare(self, overwrite: bool) -> None:
        """Prepare the folder for a new run; called with the lock held.

        An existing run is deleted only if `overwrite` is true, and then only spume's own files.
        """
        self.refuse_links()
        if self.manifest.exists() or self.records.exists() or self.checkpoints() or self.frames_on_disk():
            if not overwrite:
                raise CacheError(self._occupied())
            self._delete_own_files()
        self.remove_partial_files()
        self._create(self.frames)

    def refuse_links(self) -> None:
        """Raise CacheError if frames would be written or deleted outside the folder."""
        folder_inside(self.path, self.frames.name)

    def _occupied(self) -> str:
        try:
            manifest = Manifest.read(self.manifest)
        except CacheError:
            return f"'{self.path}' holds files of a damaged run: give another --out, or --overwrite to delete them"
        if manifest.complete:
            return (
                f"'{self.path}' holds a finished run of '{manifest.name}' ({len(manifest.frames)} frames): "
                "give another --out, or --overwrite to replace it"
            )
        return (
            f"'{self.path}' holds an unfinished run of '{manifest.name}' ({len(manifest.frames)} frames so far): "
            f"continue it with 'spume resume {self.path}', or give --overwrite to start again"
        )

    def _delete_own_files(self) -> None:
        if not self._manifest_is_own():
            raise CacheError(f"'{self.manifest}' is not a manifest of spume: give another --out")
        # The manifest first: a folder without one never passes for a whole run, should this be cut short.
        own = [self.manifest, self.records, *self.checkpoints(), self.snapshot]
        made = folder_inside(self.path, self.whitewater.name)
        whitewater = [made / self.frame(number).name for number in _numbers_in(made)]
        for file in (*own, *map(self.frame, self.frames_on_disk()), *whitewater):
            try:
                file.unlink(missing_ok=True)
            except OSError as error:
                raise CacheError(f"'{file}' cannot be deleted: {error.strerror}") from None
        for folder in (*folders_in(self.path), *folders_in(self.frames)):
            try:
                remove_folder(folder)
            except OSError as error:
                raise CacheError(f"'{folder}' cannot be deleted: {error.strerror}") from None

    def _manifest_is_own(self) -> bool:
        """Whether manifest.json is absent or spume's; an unreadable one counts as spume's if there are frames."""
        if not os.path.lexists(self.manifest):
            return True
        try:
            value = parse_json(contents_of(self.manifest))
        except CacheError:  # not a file
            return False
        except ValueError:
            return bool(self.frames_on_disk())
        return isinstance(value, dict) and {"format", "scene", "frames", "checksum"} <= value.keys()

    def remove_partial_files(self) -> None:
        """Delete files that a killed process left incomplete."""
        for folder in (self.path, self.frames):
            for file in folder.iterdir() if folder.is_dir() else ():
                match = UNFINISHED.fullmatch(file.name)
                target = match[1] + match[2] if match else ""
                if target in self._own_names() or FRAME_NAME.fullmatch(target):
                    file.unlink(missing_ok=True)
            remove_unused_folders(folder)

    def _own_names(self) -> set[str]:
        own = (self.manifest, self.records, self.checkpoint, self.next_checkpoint, self.snapshot)
        return {file.name for file in own}

    def _create(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise CacheError(f"'{folder}' cannot be a folder: a file is in its way") from None
        except OSError as error:
            raise CacheError(f"'{folder}' cannot be made: {error.strerror}") from None

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder for this process. The system releases the lock when the process ends, even if it is
        killed."""
        self._create(self.path)
        self._held = self._take_lock()
        try:
            yield
        finally:
            self._held.close()

    def keep_lock(self) -> None:
        """Check that this process still holds the lock; called before anything is written. If the lock file was
        deleted, it is created again, unless another process has done so."""
        if not _is_same_file(self._held, self.lock_file):
            taken = self._take_lock()
            self._held.close()
            self._held = taken

    def _take_lock(self) -> IO[bytes]:
        try:
            file = open(open_own(self.lock_file, os.O_APPEND), "a+b")  # noqa: SIM115 - held open, and so locked
        except OSError as error:
            raise CacheError(f"'{self.lock_file}' cannot be written: {error.strerror}") from None
        try:
            _lock(file)
        except OSError:
            file.seek(0)
            owner = file.read(20).decode(errors="replace") or "unknown"
            file.close()
            raise CacheError(f"'{self.path}' is being written by another process (number {owner})") from None
        file.truncate(0)
        file.write(str(os.getpid()).encode())
        file.flush()
        return file


def _numbers_in(folder: Path) -> list[int]:
    """Numbers of the frames whose files are in a folder."""
    if not folder.is_dir():
        return []
    matches = (FRAME_NAME.fullmatch(file.name) for file in folder.iterdir())
    return sorted(int(match[1]) for match in matches if match)


def _is_same_file(file: IO[bytes], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.lstat())
    except OSError:
        return False


def _lock(file: IO[Any]) -> None:
    """Lock a file or raise OSError when another process holds it."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
