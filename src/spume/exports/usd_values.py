"""Arrays as values of USD, and the attributes that take them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.frames.names import identifier

INTEGERS = "biuB"


def set_mesh(
    prim: Any, vertices: NDArray[Any], triangles: NDArray[Any], normals: NDArray[Any], number: int | None
) -> None:
    from pxr import Usd, UsdGeom

    time = Usd.TimeCode.Default() if number is None else Usd.TimeCode(number)
    prim.CreatePointsAttr().Set(vectors(vertices), time)
    prim.CreateFaceVertexCountsAttr().Set(ints(np.full(len(triangles), 3)), time)
    prim.CreateFaceVertexIndicesAttr().Set(ints(triangles.ravel()), time)
    prim.CreateNormalsAttr().Set(vectors(normals), time)
    prim.SetNormalsInterpolation(UsdGeom.Tokens.vertex)
    prim.CreateExtentAttr().Set(extent(vertices, 0.0), time)


def extent(x: NDArray[Any], half: float) -> Any:
    if len(x) == 0:
        return vectors(np.zeros((2, 3)))
    return vectors(np.array([x.min(axis=0) - half, x.max(axis=0) + half]))


def primvar(prim: Any, name: str, values: NDArray[Any]) -> Any:
    from pxr import Sdf, UsdGeom

    types = Sdf.ValueTypeNames
    if values.ndim == 1:
        kind = types.IntArray if values.dtype.kind in INTEGERS else types.FloatArray
    elif values.shape[1:] == (3,):
        kind = types.Vector3fArray
    else:
        kind = types.FloatArray
    size = int(np.prod(values.shape[1:])) if kind == types.FloatArray and values.ndim > 1 else -1
    api = UsdGeom.PrimvarsAPI(prim.GetPrim())
    return api.CreatePrimvar(identifier(name), kind, UsdGeom.Tokens.vertex, size)


def array(values: NDArray[Any]) -> Any:
    from pxr import Vt

    if values.ndim == 2 and values.shape[1] == 3:
        return vectors(values)
    if values.dtype.kind in INTEGERS:
        return ints(values)
    return Vt.FloatArray.FromNumpy(np.ascontiguousarray(values.reshape(-1), dtype=np.float32))


def vectors(values: NDArray[Any]) -> Any:
    from pxr import Vt

    return Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(values, dtype=np.float32))


def pairs(values: NDArray[Any]) -> Any:
    from pxr import Vt

    return Vt.Vec2fArray.FromNumpy(np.ascontiguousarray(values, dtype=np.float32))


def long_ints(values: NDArray[Any]) -> Any:
    from pxr import Vt

    return Vt.Int64Array.FromNumpy(np.ascontiguousarray(values, dtype=np.int64))


def ints(values: NDArray[Any]) -> Any:
    from pxr import Vt

    return Vt.IntArray.FromNumpy(np.ascontiguousarray(values, dtype=np.int32))
