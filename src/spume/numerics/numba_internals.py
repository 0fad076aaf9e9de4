"""Every private name of Numba and llvmlite that spume uses; no other file imports one.

Numba may rename or remove these in any release. `misfit()` then says what is missing, and `numerics.jit` does without
all of them. Public are `numba`, `numba.types`, `numba.extending` and `llvmlite.ir`.
"""

import importlib
import inspect
import re
from collections.abc import Iterator
from types import CodeType
from typing import Any

import numba

NEWEST_TESTED = "0.68.1"
"""The newest Numba with which the tests have passed; pyproject.toml has the oldest."""

NAMES = (
    "numba.core.codegen.CPUCodegen.magic_tuple",
    "numba.core.codegen.CPUCodeLibrary._finalize_dynamic_globals",
    "numba.core.codegen.CPUCodeLibrary._unserialize",
    "numba.core.codegen.CPUCodeLibrary.serialize_using_object_code",
    "numba.core.codegen.CodeLibrary._ensure_finalized",
    "numba.core.codegen.CodeLibrary.codegen",
    "numba.core.codegen.CodeLibrary.enable_object_caching",
    "numba.core.codegen.CodeLibrary.has_dynamic_globals",
    "numba.core.codegen.JITCodeLibrary",
    "numba.core.codegen.JITCodeLibrary._finalize_final_module",
    "numba.core.codegen.JITCodeLibrary.get_pointer_to_function",
    "numba.core.compiler.CompileResult",
    "numba.core.compiler.CompileResult._rebuild",
    "numba.core.compiler.CompileResult._reduce",
    "numba.core.compiler.Compiler",
    "numba.core.compiler.Compiler._compile_bytecode",
    "numba.core.cpu.CPUContext.codegen",
    "numba.core.cpu.CPUContext.create_cpython_wrapper",
    "numba.core.cpu.CPUContext.refresh",
    "numba.core.cpu.CPUTargetOptions.forceinline",
    "numba.core.cpu.CPUTargetOptions.no_cfunc_wrapper",
    "numba.core.cpu_options.ParallelOptions",
    "numba.core.dispatcher.Dispatcher.add_overload",
    "numba.core.event.Listener",
    "numba.core.event.register",
    "numba.core.event.unregister",
    "numba.core.registry.CPUDispatcher",
    "numba.core.serialize.dumps",
    "numba.core.targetconfig.TargetConfig",
    "numba.core.types.functions.BaseFunction.get_call_type",
    "numba.core.types.functions.BaseFunction.get_impl_key",
    "numba.core.types.functions.Function",
    "llvmlite.binding.Linkage",
    "llvmlite.binding.get_host_cpu_features",
    "llvmlite.binding.get_host_cpu_name",
)
"""What is imported from here, and the methods that are called or overridden."""

USES = (
    ("numba.core.codegen.CPUCodeLibrary._finalize_final_module", "_final_module"),
    ("numba.core.codegen.CPUCodeLibrary._get_module_for_linking", "_shared_module"),
    ("numba.core.codegen.CPUCodeLibrary.finalize", "_finalize_final_module"),
    ("numba.core.codegen.CPUCodeLibrary.finalize", "_optimize_final_module"),
    ("numba.core.codegen.Codegen.create_library", "_library_class"),
    ("numba.core.codegen.Codegen.unserialize_library", "_library_class"),
    ("numba.core.codegen.CodeLibrary._ensure_finalized", "_finalized"),
    ("numba.core.compiler.CompileResult._reduce", "serialize_using_object_code"),
    ("numba.core.compiler.CompileResult._rebuild", "unserialize_library"),
    ("numba.core.compiler.CompilerBase.compile_extra", "_compile_bytecode"),
    ("numba.core.cpu.CPUContext.get_executable", "get_pointer_to_function"),
    ("numba.core.cpu.CPUContext.get_executable", "codegen"),
    ("numba.core.dispatcher.Dispatcher.compile", "_cache"),
    ("numba.core.dispatcher.Dispatcher.compile", "add_overload"),
    ("numba.core.dispatcher.Dispatcher.compile", "overloads"),
    ("numba.core.dispatcher.Dispatcher.compile", "load_overload"),
    ("numba.core.dispatcher.Dispatcher.compile", "save_overload"),
    ("numba.core.funcdesc.FunctionDescriptor._from_python_function", "unique_id"),
    ("numba.core.lowering.BaseLower.create_cpython_wrapper", "create_cpython_wrapper"),
    ("numba.core.targetconfig.TargetConfig.__eq__", "values"),
    ("numba.core.targetconfig.TargetConfig.__hash__", "values"),
    ("numba.core.targetconfig.TargetConfig.is_set", "_values"),
    ("numba.core.types.functions.BaseFunction.__init__", "typing_key"),
    ("numba.core.typed_passes.BaseNativeLowering.run_pass", "library"),
)
"""Attributes that spume sets or replaces, each after a function of Numba that must use it."""


class MissingName(Exception):
    """A private name that this version of Numba or llvmlite does not have."""


def find(path: str) -> Any:
    """The object with a dotted path, or `MissingName`."""
    module, *members = path.split(".")
    found = importlib.import_module(module)
    for member in members:
        module = f"{module}.{member}"
        try:
            found = getattr(found, member) if hasattr(found, member) else importlib.import_module(module)
        except ImportError:
            raise MissingName(f"{path} is missing") from None
    return found


def check_use(function: str, attribute: str) -> None:
    """Raise `MissingName` unless the code of the function with the path `function` uses `attribute`."""
    code = getattr(inspect.unwrap(find(function)), "__code__", None)
    if code is None or not any(attribute in each.co_names for each in _nested(code)):
        raise MissingName(f"{function} does not use {attribute}")


def _nested(code: CodeType) -> Iterator[CodeType]:
    """`code` and the code of the functions that it defines."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def misfit() -> str | None:
    """The first private name that is missing, as a clause for a sentence; None if all are there."""
    try:
        for path in NAMES:
            find(path)
        for function, attribute in USES:
            check_use(function, attribute)
    except MissingName as missing:
        return str(missing)
    return None


def is_tested() -> bool:
    """Whether Numba is not newer than `NEWEST_TESTED`."""
    return _numbers(numba.__version__) <= _numbers(NEWEST_TESTED)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def _or_none(path: str) -> Any:
    try:
        return find(path)
    except MissingName:
        return None


CPUDispatcher = _or_none("numba.core.registry.CPUDispatcher")
Compiler = _or_none("numba.core.compiler.Compiler")
CompileResult = _or_none("numba.core.compiler.CompileResult")
JITCodeLibrary = _or_none("numba.core.codegen.JITCodeLibrary")
Listener = _or_none("numba.core.event.Listener")
Linkage = _or_none("llvmlite.binding.Linkage")
NumbaFunction = _or_none("numba.core.types.functions.Function")
ParallelOptions = _or_none("numba.core.cpu_options.ParallelOptions")
TargetConfig = _or_none("numba.core.targetconfig.TargetConfig")
llvm = _or_none("llvmlite.binding")
dumps = _or_none("numba.core.serialize.dumps")
register = _or_none("numba.core.event.register")
unregister = _or_none("numba.core.event.unregister")
