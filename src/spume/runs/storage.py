"""Files that are either complete or absent, with checksums that detect damage.

Arrays are streamed from memory into safetensors files. The metadata of each file holds a checksum
over the other metadata, the names, types and shapes of the arrays, and the arrays themselves.
"""

import contextlib
import errno
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from spume.errors import CacheError
from spume.terminal import readable_size

PARTIAL = ".partial"
"""Suffix of a file that is still being written."""

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


class DiskFull(CacheError):
    """A file does not fit on the disk."""


NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
BLOCK = 1 << 22


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]], metadata: Mapping[str, Any]) -> None:
    """Write a safetensors file with `arrays` and JSON-serialisable `metadata`, in one atomic move."""
    # Widest types first, so that every array starts on a multiple of its item size.
    ordered = sorted(arrays.items(), key=lambda item: (-item[1].dtype.itemsize, item[0]))
    layout = _layout(ordered)
    texts = {key: _json(value) for key, value in metadata.items()}
    digest = _digest_start(layout, texts)
    for _, array in ordered:
        digest.update(_bytes_of(array))
    header = _json({"__metadata__": texts | {"checksum": digest.hexdigest()}, **layout}).encode()
    header += b" " * (-len(header) % 8)

    def write(file: BinaryIO) -> None:
        file.write(len(header).to_bytes(8, "little"))
        file.write(header)
        for _, array in ordered:
            file.write(_bytes_of(array))

    write_atomically(path, write, 8 + len(header) + sum(array.nbytes for _, array in ordered))


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON object with its own checksum, in one atomic move."""
    checksum = hashlib.sha256(_json(value).encode()).hexdigest()
    text = json.dumps({**value, "checksum": checksum}, indent=1, allow_nan=False).encode()

    def write(file: BinaryIO) -> None:
        file.write(text)

    write_atomically(path, write, len(text))


def write_atomically(path: Path, write: Callable[[BinaryIO], None], size: int) -> None:
    """Let `write` fill a temporary file beside `path`, flush it to disk and rename it.

    At every moment `path` is absent, the old file or the new one. `size` [bytes] is for the error message if the disk
    is full.
    """
    partial = path.with_name(f"{path.name}.{os.getpid()}{PARTIAL}")
    try:
        with open(partial, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
        sync_folder(path.parent)
    except OSError as error:
        raise _write_failure(path, size, error) from error
    finally:
        partial.unlink(missing_ok=True)


def _write_failure(path: Path, size: int, error: OSError) -> CacheError:
    if error.errno not in NO_SPACE:
        return CacheError(f"'{path}' cannot be written: {error.strerror}")
    needed, free = readable_size(size), readable_size(shutil.disk_usage(path.parent).free)
    return DiskFull(f"no space left in '{path.parent}': {path.name} needs {needed} and {free} is free")


def sync_folder(folder: Path) -> None:
    """Flush renames inside `folder` to disk; systems that cannot open folders do not need this."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read_json(path: Path) -> dict[str, Any]:
    """The object `write_json` wrote, checked."""
    try:
        value = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise CacheError(f"'{path}' is missing") from None
    except OSError as error:
        raise CacheError(f"'{path}' cannot be read: {error.strerror}") from None
    except ValueError:
        raise CacheError(f"'{path}' is damaged: it is not a whole JSON file") from None
    if not isinstance(value, dict) or "checksum" not in value:
        raise CacheError(f"'{path}' was not written by spume: it has no checksum")
    checksum = value.pop("checksum")
    if hashlib.sha256(_json(value).encode()).hexdigest() != checksum:
        raise CacheError(f"'{path}' is damaged: its checksum does not match its contents")
    return value


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


def _readable(path: Path) -> BinaryIO:
    """The file opened for reading, or an error that says why it cannot be opened."""
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise CacheError(f"'{path}' is missing") from None
    except OSError as error:
        raise CacheError(f"'{path}' cannot be read: {error.strerror}") from None


def read_metadata(path: Path) -> dict[str, Any]:
    """The metadata `write_arrays` was given. Checks that the file is complete, but not its checksum."""
    with open_arrays(path) as file:
        texts = file.metadata() or {}
    if "checksum" not in texts:
        raise CacheError(f"'{path}' was not written by spume: it has no checksum")
    try:
        return {key: json.loads(text) for key, text in texts.items() if key != "checksum"}
    except ValueError:
        raise CacheError(f"'{path}' is damaged: its metadata cannot be read") from None


def array_names(path: Path) -> frozenset[str]:
    """The names of the arrays in the file."""
    with open_arrays(path) as file:
        return frozenset(file.keys())


def read_arrays(path: Path, names: list[str] | None = None) -> dict[str, NDArray[Any]]:
    """The arrays of the file, or only those called `names`."""
    with open_arrays(path) as file:
        return {name: file.get_tensor(name) for name in (file.keys() if names is None else names)}


def verify_arrays(path: Path) -> None:
    """Read the file once, block by block, and raise CacheError if its checksum does not match."""
    read_metadata(path)
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
        texts = header.pop("__metadata__")
        checksum = texts.pop("checksum")
        digest = _digest_start(header, texts)
        while block := file.read(BLOCK):
            digest.update(block)
    if digest.hexdigest() != checksum:
        raise CacheError(f"'{path}' is damaged: its checksum does not match its contents")


def read_checked(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Metadata and arrays of the file, checked. Everything is read from one open file, so that the result is consistent
    even if another process replaces the file."""
    try:
        with _readable(path) as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
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
            return {key: json.loads(text) for key, text in texts.items()}, arrays
    except (ValueError, KeyError, TypeError, AttributeError, MemoryError, OverflowError) as error:
        raise CacheError(f"'{path}' is damaged: {error}") from None


def _layout(ordered: list[tuple[str, NDArray[Any]]]) -> dict[str, Any]:
    layout, offset = {}, 0
    for name, array in ordered:
        end = offset + array.nbytes
        layout[name] = {"dtype": TYPES[array.dtype.name], "shape": list(array.shape), "data_offsets": [offset, end]}
        offset = end
    return layout


def _digest_start(layout: Mapping[str, Any], texts: Mapping[str, str]) -> Any:
    return hashlib.sha256(json.dumps([dict(layout), dict(texts)], sort_keys=True).encode())


def _bytes_of(array: NDArray[Any]) -> memoryview:
    """The bytes of an array without a copy; only a non-contiguous array is copied."""
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return np.ascontiguousarray(little).reshape(-1).view(np.uint8).data


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def stored_arrays(populations: Mapping[str, Mapping[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """The arrays of a frame under the names they have on disk, such as "points/x"."""
    return {f"{name}/{field}": array for name, fields in populations.items() for field, array in fields.items()}


def plain(value: Any) -> Any:
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
