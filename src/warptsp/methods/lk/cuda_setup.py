"""What the main solver on GPUs begins with: numbered cities, candidate lists and a first tour."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.backends.beside import Beside
from warptsp.backends.cuda import geometry, greedy, plane_candidates
from warptsp.backends.cuda import tuning as cuda_tuning
from warptsp.backends.cuda.cities import TURNED, Cities, HostCities, PlaneCities, is_plain
from warptsp.backends.cuda.device import Device, DeviceArray
from warptsp.backends.cuda.search import TourSearch
from warptsp.backends.instance import SearchInstance
from warptsp.methods.first_tour import fall_back, numbered, start_tour
from warptsp.methods.lk import tuning
from warptsp.methods.lk.params import LkParams
from warptsp.methods.protocol import Run
from warptsp.problem import Problem
from warptsp.problem.tours import WORTH_THREADS
from warptsp.run.reserve import SAMPLE


@dataclass(frozen=True, slots=True, eq=False)
class SetUp:
    """The set-up of a search on these GPUs from this start; most of it is done by the first of them."""

    problem: Problem
    run: Run
    devices: Sequence[Device]
    start: str | NDArray[np.int32]

    def made(self, params: LkParams) -> tuple[list[Cities], TourSearch] | None:
        """Number the cities, find candidates and a first tour; None if time ran out, and then what there is
        has been offered."""
        made = self._on_gpu() if is_plain(self.problem) else self._on_cpu()
        if made is None:
            return None
        cities, tour = made
        kicks = params.of_kicks(tuning.GPU_KICKS_OF_TOUR)
        return cities, TourSearch(
            cities, tour, threads=self.run.threads, depth=params.depth_on_gpu, kicks=kicks
        )

    def _on_gpu(self) -> tuple[list[Cities], DeviceArray] | None:
        """Cities on each GPU, and a start tour on the first; None if time ran out, and then what there is
        has been offered."""
        run, problem, device = self.run, self.problem, self.devices[0]
        run.enter("numbering")
        layout = geometry.build(device, problem.search_points(), run.token, self.devices[1:])
        if layout is None:
            fall_back(problem, run, None)
            return None
        run.expect(layout.city[: 4 * SAMPLE].download(), tuning.GPU_PLANE_HAND_OVER * problem.n)
        run.enter("candidate lists")
        layouts = [layout, *(layout.copy_to(other) for other in self.devices[1:])]
        found = plane_candidates.shared_candidate_lists(
            self.devices,
            layouts,
            cuda_tuning.CANDIDATES,
            cuda_tuning.PER_QUADRANT,
            problem.metric.norm,
            run.token,
        )
        tour = None
        if found is not None:
            cities = PlaneCities(device, layout, problem, found[0])
            run.enter("start tour")
            tour = self._start_tour(cities, layouts)
        if found is None or tour is None:
            if len(problem.fixed_edges):
                fall_back(problem, run, None)
            else:
                run.offer(layout.city.download())
            return None
        others = zip(self.devices[1:], layouts[1:], found[1:], strict=True)
        return [
            cities,
            *(cities.copy_to(other, points=own.points, candidates=rows) for other, own, rows in others),
        ], tour

    def _start_tour(self, cities: PlaneCities, layouts: Sequence[geometry.Layout]) -> DeviceArray | None:
        """A start tour on the first GPU; meanwhile another one makes the orders that blobs are cut from."""

        def make_orders() -> None:
            for number, turned in enumerate(TURNED, start=1):
                order = geometry.second_order(self.devices[1], layouts[1], *turned, self.run.token)
                if order is not None:
                    cities.made_orders[number] = order

        if len(self.devices) == 1 or cities.n < WORTH_THREADS:
            return self._start_tour_alone(cities)
        orders = Beside(make_orders)
        try:
            tour = self._start_tour_alone(cities)
        finally:
            orders.wait()
        orders.result()
        return tour

    def _start_tour_alone(self, cities: PlaneCities) -> DeviceArray | None:
        run, problem, device = self.run, self.problem, self.devices[0]
        if not (isinstance(self.start, str) and self.start == "greedy"):
            made = start_tour(problem, run, self.start)
            return None if made is None else device.upload(cities.numbered(made))
        tour = greedy.greedy_tour(
            device, cities.layout, cities.candidates, cuda_tuning.PER_QUADRANT, problem.metric, run.token
        )
        return self._with_fixed_edges(cities, tour) if tour is not None and len(problem.fixed_edges) else tour

    def _with_fixed_edges(self, cities: PlaneCities, tour: DeviceArray) -> DeviceArray | None:
        """The tour, with each path of fixed edges as a whole where its first city comes."""
        order = cities.problems(tour.download())
        kept = _native.keep_fixed_edges(order, self.problem.fixed_edges, self.run.token)
        return None if kept is None else self.devices[0].upload(cities.numbered(kept))

    def _on_cpu(self) -> tuple[list[Cities], DeviceArray] | None:
        """The same, with numbering, candidate lists and start tour of the CPU's search."""
        run, problem, device = self.run, self.problem, self.devices[0]

        def lists(instance: SearchInstance) -> NDArray[np.int32] | None:
            return instance.candidates(
                cuda_tuning.CANDIDATES, cuda_tuning.PER_QUADRANT, run.threads, run.token
            )

        if (made := numbered(problem, run, lists, self.start)) is None:
            return None
        instance, rows, tour = made
        run.expect(instance.city, tuning.GPU_HAND_OVER * problem.n)
        cities = HostCities.build(device, instance, rows, run.token)
        if cities is None:
            run.offer(instance.open(tour))
            return None
        others = (cities.copy_to(other) for other in self.devices[1:])
        return [cities, *others], device.upload(cities.renumbered(tour))
