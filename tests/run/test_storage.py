"""Files are the standard safetensors format, whole or absent, and notice damage."""

import contextlib
import errno
import io
import os
import tracemalloc

import numpy as np
import pytest
from safetensors.numpy import load_file

from spume.errors import CacheError
from spume.runs import storage
from spume.runs.storage import (
    BLOCK,
    plain,
    read_arrays,
    read_checked,
    read_json,
    read_metadata,
    verify_arrays,
    write_arrays,
    write_json,
)

ARRAYS = {
    "x": np.arange(12.0).reshape(4, 3),
    "body": np.array([1, 2, 3, 4], dtype=np.int32),
    "flag": np.array([True, False, True, True]),
    "empty": np.zeros((0, 3)),
    "scalar": np.float64(2.5) * np.ones(()),
    "small": np.arange(5, dtype=np.float32),
}


def test_the_safetensors_library_reads_what_was_written(tmp_path):
    write_arrays(tmp_path / "a.safetensors", ARRAYS, {"frame": 3})
    loaded = load_file(tmp_path / "a.safetensors")
    assert loaded.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert loaded[name].dtype == array.dtype
        np.testing.assert_array_equal(loaded[name], array)


def test_arrays_with_gaps_are_written_in_their_own_order(tmp_path):
    gapped = np.arange(24.0).reshape(4, 6)[::2, ::3]
    write_arrays(tmp_path / "a.safetensors", {"g": gapped, "t": gapped.T}, {})
    loaded = read_arrays(tmp_path / "a.safetensors")
    np.testing.assert_array_equal(loaded["g"], gapped)
    np.testing.assert_array_equal(loaded["t"], gapped.T)


def test_metadata_keeps_every_bit_of_numbers_and_random_states(tmp_path):
    state = np.random.default_rng(1).bit_generator.state
    metadata = {"time": 0.1 + 0.2, "state": state, "limit": float("inf")}
    write_arrays(tmp_path / "a.safetensors", {}, metadata)
    assert read_metadata(tmp_path / "a.safetensors") == metadata


def test_the_same_contents_give_the_same_bytes(tmp_path):
    write_arrays(tmp_path / "a", ARRAYS, {"b": 1, "a": 2})
    write_arrays(tmp_path / "b", dict(reversed(ARRAYS.items())), {"a": 2, "b": 1})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_every_flipped_byte_is_noticed(tmp_path):
    file = tmp_path / "a.safetensors"
    write_arrays(file, {"x": np.arange(3.0)}, {"frame": 3})
    verify_arrays(file)
    whole = file.read_bytes()
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 1
        file.write_bytes(bytes(damaged))
        with pytest.raises(CacheError, match=r"a\.safetensors"):
            verify_arrays(file)


def test_a_device_that_fails_is_an_error_with_the_name_of_the_file(tmp_path, monkeypatch):
    file = tmp_path / "a.safetensors"
    write_arrays(file, {"x": np.arange(3.0)}, {"frame": 3})

    class Failing(io.BytesIO):
        def read(self, size=-1):
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(storage, "_readable", lambda path: Failing())
    for read in (verify_arrays, read_checked):
        with pytest.raises(CacheError, match=r"a\.safetensors' cannot be read: Input/output error"):
            read(file)


def test_every_truncation_is_noticed(tmp_path):
    file = tmp_path / "a.safetensors"
    write_arrays(file, {"x": np.arange(3.0)}, {"frame": 3})
    whole = file.read_bytes()
    for length in range(len(whole)):
        file.write_bytes(whole[:length])
        with pytest.raises(CacheError, match=r"a\.safetensors"):
            read_metadata(file)


def test_a_json_file_with_a_flipped_byte_is_refused_or_the_same(tmp_path):
    file = tmp_path / "m.json"
    value = {"name": "b", "frames": [{"time": 0.1}]}
    write_json(file, value)
    whole = file.read_bytes()
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 1
        file.write_bytes(bytes(damaged))
        with contextlib.suppress(CacheError):
            assert read_json(file) == value  # a changed blank between two values


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    file = tmp_path / "m.json"
    write_json(file, {"a": 1})
    with pytest.raises(ValueError, match="JSON"):
        write_json(file, {"a": float("nan")})
    with pytest.raises(KeyError):
        write_arrays(file, {"z": np.zeros(2, dtype=complex)}, {})
    assert read_json(file) == {"a": 1}
    assert [entry.name for entry in tmp_path.iterdir()] == ["m.json"]


def test_plain_turns_numpy_into_json_and_keeps_the_numbers():
    value = {"a": np.float64(0.1), "b": np.arange(2), "c": (np.int32(3), np.nan), "d": np.inf, "e": {"f": np.True_}}
    assert plain(value) == {"a": 0.1, "b": [0, 1], "c": [3, None], "d": None, "e": {"f": True}}


def test_writing_and_verifying_take_no_memory_of_the_size_of_the_arrays(tmp_path):
    arrays = {name: np.ones((100_000, 10)) for name in "abc"}  # 8 MB each
    tracemalloc.start()
    try:
        write_arrays(tmp_path / "a", arrays, {})
        _, writing = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        verify_arrays(tmp_path / "a")
        _, verifying = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert writing < 1_000_000
    assert verifying < 2 * BLOCK + 1_000_000
