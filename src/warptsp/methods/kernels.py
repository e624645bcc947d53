"""Where a search runs: on a GPU; on the CPU while kernels are compiled, or if the GPU cannot be used."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING

import warptsp._native as _native
from warptsp.errors import BackendUnavailable, DeviceFailure, DeviceOutOfMemory
from warptsp.machine import CPU
from warptsp.methods.protocol import View, ViewedRun, best_of

if TYPE_CHECKING:
    from warptsp.backends.cuda.compiler import Compilation, Source
    from warptsp.backends.cuda.device import Device
    from warptsp.methods.protocol import Run

logger = logging.getLogger(__name__)

_TOLD: set[str] = set()  # devices whose kernels this process has been told to be still in the making


def on_gpu_or_cpu(run: Run, on_gpu: Callable[[], None], on_cpu: Callable[[Run], None]) -> None:
    """Do this on the run's GPU; on the CPU if it has none, or if the GPU fails and the CPU may do."""
    if run.device.gpus:
        try:
            on_gpu()
            return
        except (BackendUnavailable, DeviceFailure, DeviceOutOfMemory) as error:
            run.use_cpu(error)
    on_cpu(run)


def search_on_device(
    run: Run,
    search: Callable[[Run, Device | None], None],
    *,
    sources: Callable[[], Iterable[Source]],
    meanwhile: Callable[[Run, None], None] | None,
    same: bool,
) -> None:
    """Search on the run's GPU; on the CPU if it has none, or if the GPU fails and the CPU may do.

    `search` is given what to report to, and the GPU, None for the CPU; `sources` returns the kernels that a
    GPU needs. Until they are compiled the CPU does `meanwhile`: `search` of `kernels_are_there`, as `same`.
    """
    first = None if meanwhile is None else partial(_on_cpu, meanwhile)

    def start() -> None:
        from warptsp.backends.cuda.device import Device

        if not kernels_are_there(run, sources(), search=first, same=same):
            return
        run.enter("GPU")
        with Device.open(run.device.gpus[0]) as device:
            search(run, device)

    on_gpu_or_cpu(run, start, partial(_on_cpu, search))


def _on_cpu(search: Callable[[Run, None], None], run: Run) -> None:
    search(run, None)


def kernels_are_there(
    run: Run,
    sources: Iterable[Source],
    *,
    offer_tour: Callable[[_native.StopToken], None] | None = None,
    search: Callable[[Run], None] | None = None,
    same: bool = False,
) -> bool:
    """Have the kernels compiled if they are not in the cache; the CPU searches meanwhile.

    `search` searches on the CPU, and is given a run that says stop, too, when the compilation is complete;
    None where the tour would depend on how long that takes, and must not. `same`: whether that search, if it
    comes to its own end, has the tour that the GPU would come to. `offer_tour` offers a tour to the run,
    unless the token that it is given stops it, as the end of the compilation does; called if there is none
    yet, and `search` offers none.

    False if the GPU has nothing left to do, since the time ran out or the CPU was there first: the tour has
    been offered, and the run's device is the CPU. BackendUnavailable if they cannot be compiled, or if that
    takes too long for a run that may use the CPU as well.
    """
    from warptsp.backends.cuda.compiler import COMPILING, Compilation
    from warptsp.backends.cuda.device import find_usable

    gpu = find_usable(run.device.gpus[0])[1]  # several are of one model
    wanted = missing_kernels(sources, gpu.compute_capability)
    if not wanted:
        return True
    run.enter(f"compiling kernels for {gpu.name}, once")
    compilation = Compilation(wanted, gpu.compute_capability)
    remaining = run.remaining()
    if run.may_use_cpu and remaining is not None and remaining < COMPILING:
        raise BackendUnavailable(
            f"its kernels are being compiled, for later runs; that takes up to {COMPILING:g} s, and the time "
            f"limit leaves {remaining:.1f} s"
        )
    device, begun, counters = run.device, run.elapsed(), dict(run.counters)
    run.report_device(CPU)  # which searches from here on
    try:
        over = search is not None and _search(run, compilation, search, same=same)
        over = over or not (compilation.wait(0.0) or _wait(run, compilation, offer_tour))
    except BackendUnavailable:
        if run.may_use_cpu:
            run.report_device(device)  # for the warning that says what could not be used
        raise
    if over:
        _tell_of_compiling(str(device))
        return False
    run.report_device(device)
    seconds = counters.get("seconds_on_cpu", 0.0) + run.elapsed() - begun
    run.start_over(**{**counters, "seconds_on_cpu": round(seconds, 3)})
    return True


def _tell_of_compiling(device: str) -> None:
    """Log that the CPU was there first; a warning once for each device, as many short calls may follow."""
    level = logging.INFO if device in _TOLD else logging.WARNING
    _TOLD.add(device)
    words = "device %s: its kernels were still being compiled, for later runs; the tour is the CPU's"
    logger.log(level, words, device)


def missing_kernels(sources: Iterable[Source], capability: tuple[int, int]) -> list[Source]:
    """Return those that a run would have to compile."""
    from warptsp.backends.cuda.compiler import not_cached

    return not_cached(sources, capability)


def _search(run: Run, compilation: Compilation, search: Callable[[Run], None], *, same: bool) -> bool:
    """Search on the CPU until the kernels are compiled; True if nothing is left to do then."""
    cut_short = False

    def is_cut_short() -> bool:
        nonlocal cut_short
        cut_short = cut_short or compilation.has_ended()
        return cut_short

    search(ViewedRun(run, View(stops=is_cut_short)))
    return run.stop_reason is not None or run.token.stopped() or (same and not cut_short)


def _wait(run: Run, compilation: Compilation, offer_tour: Callable[[_native.StopToken], None] | None) -> bool:
    """Wait until the kernels are compiled, with a tour at hand if there is one; False if time ran out."""
    if run.best is None and offer_tour is not None:
        offer_tour(token_until(run, compilation.has_ended))
    told: AbstractContextManager[None] = nullcontext()
    if run.best is not None:
        best, length = best_of(run)
        run.expect(None)
        told = run.repeating(length, lambda: best, "compiling")
    with told:
        while not compilation.wait(0.02):
            if (tell := getattr(run.token, "poll", None)) is not None:
                tell()
            if run.token.stopped():
                return False
    if run.best is not None:
        run.expect(run.best)
    return True


def token_until(run: Run, ends: Callable[[], bool], seconds: float = math.inf) -> _native.StopToken:
    """Return a token for one call, which stops with the run's, after so long, or when `ends` says so; it is
    asked now and then."""
    token = _native.StopToken(run.token, seconds)

    def look() -> None:
        if ends():
            token.request()

    token.poll = look
    return token
