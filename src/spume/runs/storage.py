"""Files that are either complete or absent, with checksums that detect damage.

Arrays are streamed from memory into safetensors files. The metadata of each file holds a checksum
over the other metadata, the names, types and shapes of the arrays, and the arrays themselves.
"""

import contextlib
import errno
import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from spume.errors import CacheError
from spume.whole_files import sync_folder, whole_file, write_failure

TYPES = {
    "float64": "F64",
    "float32": "F32",
    "float16": "F16",
    "int64": "I64",
    "int32": "I32",
    "int16": "I16",
    "int8": "I8",
    "uint64": "U64",
    "uint32": "U32",
    "uint16": "U16",
    "uint8": "U8",
    "bool": "BOOL",
}
"""NumPy's names of the types safetensors files hold."""


BLOCK = 1 << 22


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]], metadata: Mapping[str, Any]) -> str:
    """Write a safetensors file with `arrays` and JSON-serialisable `metadata`, in one atomic move. Return its
    checksum."""
    # Widest types first, so that every array starts on a multiple of its item size.
    ordered = sorted(arrays.items(), key=lambda item: (-item[1].dtype.itemsize, item[0]))
    layout = _layout(ordered)
    texts = {key: _json(value) for key, value in metadata.items()}
    digest = _digest_start(layout, texts)
    for _, array in ordered:
        digest.update(_bytes_of(array))
    header = _json({"__metadata__": texts | {"checksum": digest.hexdigest()}, **layout}).encode()
    header += b" " * (-len(header) % 8)
    size = 8 + len(header) + sum(array.nbytes for _, array in ordered)
    with whole_file(path, size, make_folder=False) as partial, open(partial, "xb") as file:
        file.write(len(header).to_bytes(8, "little"))
        file.write(header)
        for _, array in ordered:
            file.write(_bytes_of(array))
    return digest.hexdigest()


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON object with its own checksum, in one atomic move."""
    checksum = hashlib.sha256(_json(value).encode()).hexdigest()
    text = json.dumps({**value, "checksum": checksum}, indent=1, allow_nan=False).encode()
    _write_whole(path, text)


def _write_whole(path: Path, text: bytes) -> None:
    with whole_file(path, len(text), make_folder=False) as partial, open(partial, "xb") as file:
        file.write(text)


def append(path: Path, write: Callable[[BinaryIO], None], size: int) -> None:
    """Let `write` add to the end of the file and flush it to disk. If that fails half way, what was added is removed,
    as far as the disk allows; a process that is killed leaves it incomplete. `size` as in `whole_file`."""
    try:
        with open(open_own(path, os.O_APPEND), "ab", 0) as file:
            before = file.tell()
            try:
                write(file)
                os.fsync(file.fileno())
            except OSError:
                with contextlib.suppress(OSError):
                    os.ftruncate(file.fileno(), before)
                raise
        if before == 0:  # it may be new
            sync_folder(path.parent)
    except OSError as error:
        raise write_failure(path, size, error) from error


def open_own(path: Path, flags: int = 0) -> int:
    """A descriptor to read and write the file at `path`, which is created if it is missing. Raises OSError for a link:
    a stranger's folder must not lead to other files, which would be changed."""
    wrong = OSError(errno.ELOOP, "it is a link to another file: delete it")
    if path.is_symlink():
        raise wrong
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | flags, 0o666)
    about = os.fstat(descriptor)
    if not stat.S_ISREG(about.st_mode) or about.st_nlink > 1:
        os.close(descriptor)
        raise wrong
    return descriptor


def folder_inside(folder: Path, *names: str) -> Path:
    """A folder inside that of a run, to write into. Raises CacheError if it is a symbolic link: files would be written
    and deleted elsewhere."""
    place = folder
    for name in names:
        place = place / name
        if place.is_symlink():
            raise CacheError(f"'{place}' is a symbolic link, which spume does not follow to write: delete it")
    return place


def read_json(path: Path) -> dict[str, Any]:
    """The object `write_json` wrote, checked."""
    try:
        value = parse_json(contents_of(path))
    except ValueError:
        raise CacheError(f"'{path}' is damaged: it is not a whole JSON file") from None
    if not isinstance(value, dict) or "checksum" not in value:
        raise CacheError(f"'{path}' was not written by spume: it has no checksum")
    if not _is_signed(value):
        raise CacheError(f"'{path}' is damaged: its checksum does not match its contents")
    return value


def _is_signed(value: dict[str, Any]) -> bool:
    """Remove the checksum of an object; whether it matches the rest."""
    checksum = value.pop("checksum")
    return bool(hashlib.sha256(_json(value).encode()).hexdigest() == checksum)


def parse_json(text: bytes | str) -> Any:
    """The value of a JSON text. Raises ValueError, also for what is nested too deeply or too large for a number."""
    try:
        return json.loads(text, parse_int=_whole_number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _whole_number(text: str) -> int:
    value = int(text)
    try:
        float(value)
    except OverflowError:
        raise ValueError(f"{text[:20]}... is too large a number") from None
    return value


def append_record(path: Path, value: Mapping[str, Any]) -> None:
    """Append a JSON object with its own checksum to a file of such records, as a line."""
    line = record_line(value)
    append(path, lambda file: _write_all(file, line), len(line))


def write_records(path: Path, values: Iterable[Mapping[str, Any]]) -> None:
    """Write a file of records, in one atomic move."""
    lines = b"".join(record_line(value) for value in values)
    _write_whole(path, lines)


def record_line(value: Mapping[str, Any]) -> bytes:
    """A JSON object with its own checksum as a line."""
    checksum = hashlib.sha256(_json(value).encode()).hexdigest()
    return json.dumps({**value, "checksum": checksum}, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _write_all(file: BinaryIO, text: bytes) -> None:
    """Write all of `text`, of which a file without a buffer may take a part at a time."""
    written = 0
    while written < len(text):
        written += file.write(text[written:])


def read_records(path: Path) -> list[dict[str, Any]]:
    """The records of a file, checked; none if it does not exist. The last line is left out if it is not whole: it was
    being written, or its process was killed."""
    if not path.exists():
        return []
    *lines, _ = contents_of(path).split(b"\n")
    records = [_record(line) for line in lines]
    if records and records[-1] is None:
        records.pop()
    found = [record for record in records if record is not None]
    if len(found) < len(records):
        number = records.index(None) + 1
        raise CacheError(f"'{path}' is damaged: line {number} does not match its checksum")
    return found


def _record(line: bytes) -> dict[str, Any] | None:
    """The record of a line, None if it is damaged."""
    try:
        value = parse_json(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) and "checksum" in value and _is_signed(value) else None


@contextlib.contextmanager
def open_arrays(path: Path) -> Iterator[Any]:
    """The safetensors file at `path`, open for reading; a damaged one is an error that names it."""
    from safetensors import SafetensorError, safe_open

    with _readable(path):
        pass  # safetensors calls every file missing that it cannot open, whatever the reason
    try:
        opened = safe_open(path, framework="numpy")
    except (SafetensorError, OSError) as error:
        raise CacheError(f"'{path}' is damaged or truncated: {error}") from None
    with opened as file:
        yield file


def contents_of(path: Path) -> bytes:
    """The bytes of a file. Raises CacheError that says why it cannot be read."""
    with _readable(path) as file:
        return file.read()


def _readable(path: Path) -> BinaryIO:
    """The file opened for reading, or an error that says why it cannot be opened. A pipe or a device is none: reading
    it might wait forever."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (FileNotFoundError, NotADirectoryError):
        raise CacheError(f"'{path}' is missing") from None
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        found = os.strerror(errno.EISDIR) if stat.S_ISDIR(mode) else "Not a file"
        raise CacheError(f"'{path}' cannot be read: {found}")
    return open(descriptor, "rb")


def _unreadable(path: Path, error: OSError | ValueError) -> CacheError:
    return CacheError(f"'{path}' cannot be read: {getattr(error, 'strerror', None) or error}")


def read_metadata(path: Path, *, also_checksum: bool = False) -> dict[str, Any]:
    """The metadata `write_arrays` was given. Checks that the file is complete, but not its checksum, which is given as
    well if `also_checksum`."""
    with open_arrays(path) as file:
        texts = file.metadata() or {}
    if "checksum" not in texts:
        raise CacheError(f"'{path}' was not written by spume: it has no checksum")
    checksum = texts.pop("checksum")
    try:
        about = {key: parse_json(text) for key, text in texts.items()}
    except ValueError:
        raise CacheError(f"'{path}' is damaged: its metadata cannot be read") from None
    return about | {"checksum": checksum} if also_checksum else about


def array_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """The shapes of the arrays in the file, by name."""
    with open_arrays(path) as file:
        slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118 - not a dict
        unknown = [name for name, each in slices.items() if each.get_dtype() not in TYPES.values()]
        if unknown:
            raise CacheError(f"'{path}' is malformed: the array '{unknown[0]}' is not of numbers that spume writes")
        return {name: tuple(each.get_shape()) for name, each in slices.items()}


def read_arrays(path: Path, names: list[str] | None = None) -> dict[str, NDArray[Any]]:
    """The arrays of the file, or only those called `names`."""
    with open_arrays(path) as file:
        return {name: file.get_tensor(name) for name in (file.keys() if names is None else names)}


def verify_arrays(path: Path) -> None:
    """Read the file once, block by block, and raise CacheError if its checksum does not match."""
    read_metadata(path)
    try:
        with _readable(path) as file:
            length = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(length))
            texts = header.pop("__metadata__")
            checksum = texts.pop("checksum")
            digest = _digest_start(header, texts)
            while block := file.read(BLOCK):
                digest.update(block)
    except OSError as error:  # of the device
        raise _unreadable(path, error) from None
    if digest.hexdigest() != checksum:
        raise CacheError(f"'{path}' is damaged: its checksum does not match its contents")


def read_checked(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Metadata and arrays of the file, checked. Everything is read from one open file, so that the result is consistent
    even if another process replaces the file."""
    try:
        with _readable(path) as file:
            header = parse_json(file.read(int.from_bytes(file.read(8), "little")))
            texts = header.pop("__metadata__")
            checksum = texts.pop("checksum")
            digest = _digest_start(header, texts)
            names = {type_name: numpy_name for numpy_name, type_name in TYPES.items()}
            arrays = {}
            for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
                start, end = entry["data_offsets"]
                contents = file.read(end - start)
                digest.update(contents)
                little = np.frombuffer(bytearray(contents), np.dtype(names[entry["dtype"]]).newbyteorder("<"))
                arrays[name] = little.astype(little.dtype.newbyteorder("="), copy=False).reshape(entry["shape"])
            if digest.hexdigest() != checksum or file.read(1):
                raise ValueError("its checksum does not match its contents")
            return {key: parse_json(text) for key, text in texts.items()}, arrays
    except OSError as error:  # of the device
        raise _unreadable(path, error) from None
    except (ValueError, KeyError, TypeError, AttributeError, MemoryError, OverflowError) as error:
        raise CacheError(f"'{path}' is damaged: {error}") from None


def _layout(ordered: list[tuple[str, NDArray[Any]]]) -> dict[str, Any]:
    layout, offset = {}, 0
    for name, array in ordered:
        end = offset + array.nbytes
        layout[name] = {"dtype": TYPES[array.dtype.name], "shape": list(array.shape), "data_offsets": [offset, end]}
        offset = end
    return layout


def _digest_start(layout: Mapping[str, Any], texts: Mapping[str, str]) -> "hashlib._Hash":
    return hashlib.sha256(json.dumps([dict(layout), dict(texts)], sort_keys=True).encode())


def _bytes_of(array: NDArray[Any]) -> memoryview:
    """The bytes of an array without a copy; only a non-contiguous array is copied."""
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return np.ascontiguousarray(little).reshape(-1).view(np.uint8).data


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def stored_arrays(populations: Mapping[str, Mapping[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """The arrays of a frame under the names they have on disk, such as "points/x"."""
    return {f"{name}/{field}": array for name, fields in populations.items() for field, array in fields.items()}


def plain(value: object) -> Any:
    """`value` with NumPy's scalars and arrays as plain numbers and lists, and non-finite numbers as None, since JSON
    cannot represent them."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
