"""The method around the step: sources, time step, gravity, health, bits."""

import subprocess
import sys

import numba
import numpy as np
import pytest

from spume import Scene, Simulation
from spume.errors import RunFailed
from spume.matter import driver
from spume.matter.driver import take_step
from spume.matter.time_step import TimeStep

SOLID = {"law": "neo-hookean", "density": 1000.0, "bulk_modulus": 2.0e4, "shear_modulus": 5.0e3}
GROUND = {"shape": {"half_plane": {"point": [0.0, 0.0], "normal": [0.0, 1.0]}}, "contact": "separate", "friction": 0.2}


def simulate(**tables):
    scene = {"title": "method", "method": "mpm", "dimension": 2, "duration": 10.0, "grid": {"cell": 0.02},
             "material": {"solid": SOLID}}  # fmt: skip
    return Simulation(Scene(**(scene | tables)))


def square(center, size=0.1, **more):
    return {"material": "solid", "shape": {"rectangle": {"center": center, "size": [size, size]}}, **more}


def test_body_mass_is_density_times_volume_and_is_told():
    sim = simulate(body=[{"material": "solid", "shape": {"circle": {"center": [0.0, 0.0], "radius": 0.1}}}])
    assert sim.diagnostics()["mass"] == pytest.approx(1000.0 * np.pi * 0.1**2, rel=1e-3)
    (note,) = type(sim.method).estimate(sim.scene).notes
    assert "kg" in note


def test_frames_are_hit_exactly():
    sim = simulate(body=[square([0.0, 0.5])], obstacle=[GROUND])
    for k in range(1, 31):
        sim.method.advance(k / 30, lambda: False, lambda progress: None)
        assert sim.time == k / 30


def test_an_automatic_step_obeys_the_courant_number_and_its_growth_limit():
    control = TimeStep(cell=0.01, wave_speed=4.0, courant=0.5, growth=1.1)
    assert control.choose(1.0, 0.0) == pytest.approx(0.5 * 0.01 / 5.0)
    assert control.choose(6.0, 0.0) == pytest.approx(0.5 * 0.01 / 10.0)
    assert control.choose(0.0, 0.0) == pytest.approx(1.1 * 0.5 * 0.01 / 10.0)


@pytest.mark.parametrize("remaining", [0.3, 1.0, 1.2, 1.9999, 2.1, 7.3])
def test_steps_cut_to_the_end_of_a_frame_are_never_tiny(remaining):
    dt, left, taken = 1.0, remaining, []
    while left > 0:
        step = TimeStep.cut(dt, left)
        taken.append(step)
        left = 0.0 if step == left else left - step
    assert max(taken) <= dt * (1 + 1e-9)
    assert min(taken) >= min(remaining, 0.5 * dt * (1 - 1e-9))


def test_a_body_appears_at_its_start_time():
    sim = simulate(body=[square([0.0, 0.5]), square([1.0, 0.5], start=0.0123)])
    count = len(sim.particles)
    sim.advance(0.0122)
    assert len(sim.particles) == count
    sim.advance(0.0002)
    assert len(sim.particles) == 2 * count
    # it falls from its start time on, not from zero
    late = sim.particles.body == 1
    assert np.abs(sim.particles.v[late, 1]).max() <= 9.81 * 0.0002 * 1.01


@pytest.mark.parametrize("side", [0.0, 1.0])
def test_times_that_differ_by_rounding_are_one_and_no_step_lies_between(side, monkeypatch):
    """A body that starts with a frame, up to rounding: implicit steps of 1e-18 s do not converge."""
    frame = 0.01
    lengths = []
    monkeypatch.setattr(driver, "take_step", lambda world, step, dt: lengths.append(dt) or take_step(world, step, dt))
    sim = simulate(body=[square([0.0, 0.5]), square([1.0, 0.5], start=float(np.nextafter(frame, side)))])
    one = len(sim.particles)
    for k in (1, 2):
        sim.method.advance(k * frame, lambda: False, lambda progress: None)
        assert sim.time == k * frame
    assert len(sim.particles) == 2 * one
    assert min(lengths) > 1e-6
    assert sum(lengths) == pytest.approx(2 * frame, rel=1e-12)


def test_copies_are_released_on_schedule_with_their_spin():
    emitter = {**square([0.0, 0.5], velocity=[0.0, -1.0], spin=4.0), "copies": {"count": 3, "interval": 0.2}}
    sim = simulate(gravity=[0.0, 0.0], emitter=[emitter])
    one = len(sim.particles)
    arms = sim.particles.x - sim.particles.x.mean(axis=0)
    assert np.allclose(sim.particles.v, [0.0, -1.0] + 4.0 * np.stack([-arms[:, 1], arms[:, 0]], axis=1))
    sim.advance(0.39)
    assert len(sim.particles) == 2 * one
    sim.advance(0.4)
    assert len(sim.particles) == 3 * one


def test_the_affine_velocity_starts_as_the_gradient_of_the_velocity():
    """C against the change of v = ω × x + v0 sin(k·x) along a small displacement: equal up to (k·δ)² of k·δ."""
    wave = {"velocity": [0.3, 0.1], "wave_vector": [4.0, 9.0]}
    sim = simulate(body=[square([0.0, 0.5], spin=3.0, wave=wave)], transfer={"scheme": "apic"})
    p = sim.particles
    step = 1e-4
    middle = p.x.mean(axis=0)

    def velocity(x):
        arms = x - middle
        return 3.0 * np.stack([-arms[:, 1], arms[:, 0]], axis=1) + np.outer(np.sin(x @ [4.0, 9.0]), [0.3, 0.1])

    assert np.allclose(p.v, velocity(p.x), atol=1e-12)
    for axis in (0, 1):
        shift = step * np.eye(2)[axis]
        change = (velocity(p.x + shift) - velocity(p.x - shift)) / (2 * step)
        assert np.abs(p.C[:, :, axis] - change).max() <= (9.0 * step) ** 2 * 9.0 * 0.3


@pytest.mark.parametrize(("rate", "speed"), [(None, 2.0), (0.05, 0.5)])
def test_a_flow_releases_its_rate(rate, speed):
    """A nozzle 0.1 m wide: rate = 0.1 m × speed; after t a volume of rate × t is there, to one layer."""
    emitter = square([0.0, 0.0], velocity=[0.0, 2.0]) | ({} if rate is None else {"rate": rate})
    sim = simulate(gravity=[0.0, 0.0], emitter=[emitter])
    sim.advance(0.5)
    layer = 0.1 * 0.01
    assert sim.particles.volume.sum() == pytest.approx(0.1 * speed * 0.5, abs=1.01 * layer)
    assert np.allclose(sim.particles.v, [0.0, speed], atol=1e-9)
    # the stream has no gaps: its length is speed × time
    assert np.ptp(sim.particles.x[:, 1]) == pytest.approx(speed * 0.5, abs=0.021)


def test_gravity_follows_its_keyframes():
    """v = ∫ g dt of a ramp from 0 to −10 within one second; the step samples g at its start, an error of ½ Δt Δg."""
    keys = {"times": [0.0, 1.0], "values": [[0.0, 0.0], [0.0, -10.0]]}
    sim = simulate(gravity=keys, body=[square([0.0, 0.0])], time={"dt": 1e-3})
    sim.advance(0.5)
    assert sim.particles.v[:, 1].mean() == pytest.approx(-0.5 * 10.0 * 0.5**2, abs=0.5 * 1e-3 * 5.0 * 1.01)


def test_volume_from_the_grid_is_right_inside_and_too_large_at_the_surface():
    """[Yue15] algorithm 5. Inside a lattice of equal points ρ = Σ w m / h² is exact; at the surface it is too small."""
    sim = simulate(grid={"cell": 0.02, "spline": "quadratic"}, body=[square([0.0, 0.0], 0.4, volume="grid")])
    inside = np.abs(sim.particles.x).max(axis=1) < 0.1
    assert np.allclose(sim.particles.volume[inside], 0.01**2, rtol=1e-12)
    assert sim.particles.volume.max() > 1.5 * 0.01**2
    assert np.allclose(sim.particles.mass, 1000.0 * 0.01**2)


def test_walls_keep_what_is_inside():
    walls = {"lower": [-0.2, 0.0], "upper": [0.2, 0.6], "contact": "slip"}
    sim = simulate(grid={"cell": 0.02, "walls": walls}, body=[square([0.0, 0.3], velocity=[1.5, 0.0])])
    sim.advance(0.6)
    assert np.all(sim.particles.x >= [-0.22, -0.02])
    assert np.all(sim.particles.x <= [0.22, 0.62])


class TestGoesWrong:
    """Each failure names the time and what to change."""

    def test_a_step_too_long_for_the_stiffness(self):
        sim = simulate(body=[square([0.0, 0.05], velocity=[0.0, -3.0])], obstacle=[GROUND], time={"dt": 0.02})
        with pytest.raises(RunFailed, match=r"t = .*(courant|dt)"):
            sim.advance(5.0)

    def test_a_point_outside_the_walls(self):
        walls = {"lower": [-0.2, 0.0], "upper": [0.2, 0.6], "contact": "slip"}
        sim = simulate(grid={"cell": 0.02, "walls": walls}, body=[square([0.0, 0.3])])
        sim.particles.x[0] = [0.5, 0.3]
        with pytest.raises(RunFailed, match="left the walls"):
            sim.advance(0.05)

    def test_material_faster_than_its_sound_is_named_as_the_cause(self):
        """Waves run at 5.2 m/s in this solid; shorter steps would not help at 50 m/s."""
        sim = simulate(body=[square([0.0, 0.05])])
        sim.particles.F[3] *= 0.1
        sim.particles.v[:] = [0.0, -50.0]
        with pytest.raises(RunFailed, match=r"crushed .* faster than its speed of sound"):
            sim.advance(0.1)

    def test_a_crushed_point(self):
        sim = simulate(body=[square([0.0, 0.3])])
        sim.particles.F[3] = 0.1 * np.eye(3)
        with pytest.raises(RunFailed, match="crushed"):
            sim.advance(0.0001)

    def test_a_point_that_is_not_a_number(self):
        sim = simulate(body=[square([0.0, 0.3])])
        sim.particles.stress[5] = np.nan
        with pytest.raises(RunFailed, match=r"not finite at t"):
            sim.advance(0.05)

    def test_a_collapsing_step(self):
        control = TimeStep(cell=0.01, wave_speed=1.0)
        with pytest.raises(RunFailed, match="collapsed"):
            control.choose(1e9, 0.5)


@pytest.mark.parametrize(
    ("dimension", "scheme"),
    [(2, "flip"), (2, "apic"), (3, "apic"), pytest.param(3, "flip", marks=pytest.mark.slow_suite)],
)
def test_a_run_is_the_same_bits_for_any_number_of_threads(dimension, scheme):
    kind = {2: "circle", 3: "sphere"}[dimension]
    plane = {"point": [0.0] * dimension, "normal": [0.0, 1.0, 0.0][:dimension]}
    before = numba.get_num_threads()
    states = []
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("needs two threads")
    for threads in (1, 2):
        numba.set_num_threads(threads)
        sim = simulate(
            dimension=dimension,
            transfer={"scheme": scheme},
            body=[{"material": "solid", "shape": {kind: {"center": [0.0, 0.1, 0.0][:dimension], "radius": 0.08}},
                   "velocity": [0.3, -1.0, 0.1][:dimension], "fill": {"jitter": 0.4}}],
            obstacle=[{"shape": {"half_space": plane}, "contact": "separate", "friction": 0.3}],
        )  # fmt: skip
        sim.advance(0.08)
        states.append(sim.particles.arrays())
    numba.set_num_threads(before)
    for name, one in states[0].items():
        assert np.array_equal(one, states[1][name]), name


@pytest.mark.parametrize("dimension", [2, pytest.param(3, marks=pytest.mark.slow_suite)])
def test_a_run_is_the_same_bits_whether_clearances_are_remembered_or_not(dimension):
    """A ball flies at a paddle that turns, a plate that comes down and a ground that turns; at the first two; and at a
    fixed plate so thin that no node feels it. What is known is kept for a step, for ten and for the whole run."""
    kind, D = {2: "circle", 3: "sphere"}[dimension], dimension
    plate = {2: "rectangle", 3: "box"}[dimension]
    turn = {"rotate": {"rate": 9.0, "about": [0.0, 0.3, 0.0][:D]} | ({"axis": [0.0, 0.3, 1.0]} if D == 3 else {})}
    down = {"keyframes": {"times": [0.0, 0.02, 0.06], "positions": [[0.0] * D, [0.0, -0.1, 0.0][:D], [0.0] * D]}}
    tilt = {"rotate": {"rate": 1.0} | ({"axis": [0.0, 0.0, 1.0]} if D == 3 else {})}
    obstacles = [
        {"shape": {plate: {"center": [0.16, 0.3, 0.0][:D], "size": [0.2, 0.05, 0.2][:D]}}, "contact": "separate",
         "friction": 0.3, "motion": turn},
        {"shape": {plate: {"center": [0.0, 0.32, 0.0][:D], "size": [0.3, 0.06, 0.3][:D]}}, "contact": "stick",
         "motion": down},
        {"shape": {"half_space": {"point": [0.0] * D, "normal": [0.0, 1.0, 0.0][:D]}}, "contact": "slip",
         "motion": tilt},
    ]  # fmt: skip
    body = {"material": "solid", "shape": {kind: {"center": [0.0, 0.1, 0.0][:D], "radius": 0.07}},
            "velocity": [0.5, 3.0, 0.1][:D]}  # fmt: skip
    thin = {"shape": {plate: {"center": [0.0, 0.19, 0.0][:D], "size": [0.3, 0.006, 0.3][:D]}}, "contact": "slip"}
    for listed in (obstacles, obstacles[:2], [thin]):
        states = []
        for kept in (1, 10, 10**9):
            sim = simulate(dimension=D, body=[body], obstacle=listed)
            for k in range(150):
                if k % kept == 0:
                    sim.method.world.forget_clearances()
                sim.method.take_step(4e-4)
            states.append(sim.particles.arrays())
        for other in states[1:]:
            for name, one in states[0].items():
                assert np.array_equal(one, other[name]), name
        assert states[0]["v"][:, 1].min() < 2.0


@pytest.mark.slow_suite
def test_a_second_process_finds_every_kernel_compiled(tmp_path):
    """The disk cache works: the second of two identical processes compiles nothing."""
    code = (
        "from spume.numerics.jit import compilation_listener\n"
        "import spume\n"
        "compiled = []\n"
        "with compilation_listener(compiled.append):\n"
        "    sim = spume.Simulation(spume.load_scene('colliding-discs'))\n"
        "    sim.advance(1e-4)\n"
        "    sim.diagnostics()\n"
        "print(len(compiled))\n"
    )
    counts = [
        int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()[-1])
        for _ in range(2)
    ]
    assert counts[1] == 0
