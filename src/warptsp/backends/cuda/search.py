"""Rounds of iterated Lin-Kernighan on the parts of a tour, all of it on a GPU (``native/lk/warp_lk.h``).

In a round the tour is cut into parts of some hundred cities, stretches of it or blobs in the plane, and a
warp improves each of them in shared memory. What blobs hand over is put together on the host: only the ends
of their paths are sent there, some per cent of the cities.

Several GPUs divide the parts of a round among them, and tell each other what they have made of these.
"""

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp._native import Kicks
from warptsp.backends.cuda import tuning
from warptsp.backends.cuda.cities import ORDERS, Cities
from warptsp.backends.cuda.context import meet
from warptsp.backends.cuda.device import DeviceArray
from warptsp.backends.cuda.launch_plan import plan_launch
from warptsp.backends.cuda.part_share import COUNTERS, PartShare


class PartRounds:
    """Tours of the same cities in the memory of GPUs, and the rounds that shorten all of them at once.

    Several GPUs all have the same one, and each improves its share of the parts; or each has tours of its
    own. What comes of it does not depend on their number.

    The cities are the same on each GPU, with candidate lists, `tuning.CANDIDATES` long. The tours of a GPU
    are int32 of shape (tours, n), in the search's numbers; the rounds change them. `threads` of the CPU put
    parts together. `mean_link` tells what is rounding noise in metrics without rounding.
    """

    def __init__(
        self,
        cities: Sequence[Cities],
        tours: Sequence[DeviceArray],
        *,
        one_tour: bool,
        threads: int,
        mean_link: float,
        depth: int = tuning.DEPTH,
        kicks: Kicks,
    ) -> None:
        lead = cities[0]
        self.cities = lead
        self.mean_link = mean_link
        count = 1 if one_tour else sum(map(len, tours))
        self.plan = plan_launch(lead.device, lead.metric, lead.n, count, dummy=lead.dummy, depth=depth)
        self.rounds = 0
        self._threads = threads
        self._one_tour = one_tour
        self._counts = np.zeros(len(COUNTERS), np.uint64)
        self.kernel_seconds = 0.0  # that the search's kernel has taken
        self._work = 0.0  # of a kick in the round before, as WarpLkCounters::work counts it
        self._kicks = kicks.as_dict()
        self._shares = []
        parts, gpus, first = self.plan.parts, min(len(cities), self.plan.parts), 0
        for k, (own, some) in enumerate(zip(cities, tours, strict=True)):
            if one_tour:
                if k >= gpus:
                    break
                pieces, copies = range(parts * k // gpus, parts * (k + 1) // gpus), range(self.plan.copies)
            else:
                pieces, copies = range(parts), range(first, first + len(some))
                first = copies.stop
            self._shares.append(PartShare(own, some, self.plan, pieces, copies))
        self._graph: _native.PathGraph | None = None

    @property
    def gpus(self) -> int:
        return len(self._shares)

    @property
    def kicks(self) -> int:
        """Kicks so far, the refused ones included."""
        return int(self._counts[0] + self._counts[1])

    def counters(self) -> dict[str, int | float]:
        """What was done, by name; and the seconds that the search's kernel took."""
        counts: dict[str, int | float] = {
            name: int(count) for name, count in zip(COUNTERS, self._counts, strict=True)
        }
        return {**counts, "kernel_seconds": self.kernel_seconds}

    def tours(self) -> NDArray[np.int32]:
        """The tours as they are, in the search's numbers, shape (tours, n)."""
        shares = self._shares[:1] if self._one_tour else self._shares
        return np.concatenate([share.tours.download() for share in shares])

    def round(
        self,
        *,
        optimize: bool,
        kicks_per_city: float,
        temperature: float,
        seed: int,
        token: _native.StopToken,
    ) -> bool:
        """Improve all parts of one cut; cuts into stretches and blobs take turns.

        `optimize` is for a local search from every city first. A loss of a kick is accepted with the
        probability exp(-loss / temperature). The seed and the number of the round name the random numbers.
        False if the token, which is polled between launches, stopped it: the tours are those before then.
        """
        cities, plan = self.cities, self.plan
        number, self.rounds = self.rounds, self.rounds + 1
        blobs = plan.parts > 1 and number % 2 == 1
        order = number // 2 % ORDERS if blobs else 0
        if not self._have_order(order, token):
            return False
        for share in self._shares:
            share.begin(
                share.cities.orders.get(order, (None, None)),
                all_copies=plan.copies,
                tours=len(share.tours),
                rotation=np.random.default_rng((seed, number)).integers(cities.n),
                blobs=blobs,
                optimize=optimize,
                every=tuning.SHORTER if plan.waves >= tuning.MIN_WAVES else 0,
                kicks_per_city=kicks_per_city,
                temperature=temperature,
                max_work=tuning.MAX_WORK * self._work if self._work > 0 else math.inf,
                seed=seed,
                round=number,
                tolerance=max(0.5 * cities.integral, 2e-6 * self.mean_link),
                **self._kicks,
            )
        complete = self._improve(kicks_per_city + 0.3 * optimize, token)
        if complete:
            self._put_back(blobs)
        counts = np.sum([share.sums.download() for share in self._shares], axis=0)
        self._counts += counts
        done = dict(zip(COUNTERS, counts, strict=True))
        if not optimize and (kicks := int(done["kicks_made"] + done["kicks_refused"])) > 0:
            self._work = int(2 * done["passes"] + done["steps"]) / kicks
        return complete

    def changed(self) -> None:
        """Take note that somebody else has written the tours; if there is one, that of the first GPU."""
        lead, *others = self._shares
        if self._one_tour and others:
            devices = [share.device for share in self._shares]
            meet(devices)
            for share in others:
                share.tours.copy_from(lead.tours)
            meet(devices)
        for share in self._shares:
            share.invert()

    def _improve(self, work: float, token: _native.StopToken) -> bool:
        """Search all parts in launches of no more than `ROUND_SLICE` seconds, if it can be foreseen."""
        stopped = token.stopped()
        while not stopped and (left := [share for share in self._shares if share.first < share.parts.stop]):
            for share in left:
                share.improve(work)
            while not (stopped := token.stopped()) and not all(share.is_done() for share in left):
                time.sleep(tuning.PAUSE)
            if stopped:
                for share in left:
                    share.give_up()
            self.kernel_seconds += max([share.seconds() for share in left])
        return not stopped

    def _put_back(self, blobs: bool) -> None:
        shares = self._shares
        if self._one_tour:
            self._exchange(blobs)
            for share in shares:
                share.choose_copies()
        if not blobs:
            for share in shares:
                share.put_back_stretches()
        elif self._one_tour:
            arranged = shares[0].arrange(self._path_graph, self._threads)
            if arranged is not None:
                others = [tuple(array.copy_to(share.device) for array in arranged) for share in shares[1:]]
                for share, own in zip(shares, [arranged, *others], strict=True):
                    share.put_back_blobs(own)
        else:
            for share in shares:
                if (arranged := share.arrange(self._path_graph, self._threads)) is not None:
                    share.put_back_blobs(arranged)

    def _path_graph(self) -> _native.PathGraph:
        if self._graph is None:
            self._graph = self.cities.path_graph()
        return self._graph

    def _exchange(self, blobs: bool) -> None:
        """Let every GPU know what the others have made of their parts."""
        devices = [share.device for share in self._shares]
        meet(devices)
        for share in self._shares:
            for other in self._shares:
                if other is not share:
                    share.take_from(other, blobs=blobs, paths=share is self._shares[0])
        meet(devices)

    def _have_order(self, number: int, token: _native.StopToken) -> bool:
        """Make an order from which blobs are cut, and its inverse, when it is its turn for the first time.

        None for each is the numbering. False if the token stopped it.
        """
        lead = self._shares[0]
        if number == 0:
            return True
        if number not in lead.cities.orders:
            made = lead.cities.second_order(number, token)
            if made is None:
                return False
            inverse = lead.device.empty(lead.cities.n, np.int32)
            lead.invert_order(made, inverse)
            lead.cities.orders[number] = made, inverse
        order, rank = lead.cities.orders[number]
        for share in self._shares[1:]:
            if number not in share.cities.orders:
                share.cities.orders[number] = order.copy_to(share.device), rank.copy_to(share.device)
        return True


class TourSearch:
    """One tour, and the best there was: closed tours, whose lengths are exact for metrics of integers.

    The cities are the same on each GPU, the tour on the first of them; the options are those of `PartRounds`.
    """

    def __init__(
        self,
        cities: Sequence[Cities],
        tour: DeviceArray,
        **options: Any,
    ) -> None:
        lead = cities[0]
        self.cities = lead
        self.tour = tour
        self._best = lead.device.empty(lead.n, np.int32)
        self._best.copy_from(tour)
        self.length = self.best_length = lead.length(tour)
        tours = [tour, *(tour.copy_to(other.device) for other in cities[1:])]
        self.rounds = PartRounds(
            cities,
            [one.reshape(1, lead.n) for one in tours],
            one_tour=True,
            mean_link=abs(self.length) / lead.n,
            **options,
        )

    def best(self) -> NDArray[np.int32]:
        """The best tour, in the search's numbers."""
        return self._best.download()

    def problems_best(self, room: NDArray[np.int32] | None = None) -> NDArray[np.int32]:
        """The best tour, or path, in the problem's numbers; `room` as for `Cities.problems_own`."""
        return self.cities.problems_own(self._best, room)

    def go_on_from(self, tour: NDArray[np.int32]) -> None:
        """Work on another tour, in the search's numbers."""
        self.tour.upload(tour)
        self._changed()

    def return_to_best(self) -> None:
        """Go on from the best tour."""
        self.tour.copy_from(self._best)
        self._changed()

    def round(self, **options: Any) -> bool:
        """`PartRounds.round`, and a look whether the tour is the best one now."""
        complete = self.rounds.round(**options)
        self._measure()
        return complete

    def _changed(self) -> None:
        self.rounds.changed()
        self._measure()

    def _measure(self) -> None:
        rounds = self.rounds
        self.length = self.cities.length(self.tour)
        rounds.mean_link = abs(self.length) / self.cities.n
        if self.length < self.best_length:
            self.best_length = self.length
            self._best.copy_from(self.tour)
