"""VTKHDF files, read by VTK's own reader."""

from pathlib import Path

import pyvista


def read_steps(file: Path):
    """Time and mesh of every step."""
    from vtkmodules.vtkIOHDF import vtkHDFReader

    reader = vtkHDFReader()
    reader.SetFileName(str(file))
    reader.UpdateInformation()
    information = reader.GetOutputInformation(0)
    times = information.Get(reader.GetExecutive().TIME_STEPS())
    for time in times:
        reader.UpdateTimeStep(time)
        yield time, pyvista.wrap(reader.GetOutputDataObject(0)).copy()
