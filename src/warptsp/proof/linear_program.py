"""A linear programme in HiGHS that grows by rows and columns.

HiGHS (Huangfu and Hall, "Parallelizing the dual revised simplex method", 2018) comes with ``warptsp[prove]``.
"""

import itertools
import math
from collections.abc import Callable
from enum import Enum
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

import warptsp._native as _native
from warptsp.errors import BackendUnavailable, WarpTSPError

SparseLines = tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]
"""Costs of columns or lower limits of rows; where each begins; indices and values of all."""
ToCuts = Callable[[NDArray[np.float64], NDArray[np.float64]], None]

_COST_BITS = 24
"""Of the costs that the solver is given at most, whose tolerances are absolute: with longer ones it loses its
way now and then."""
_NO_LIMIT = 2_147_483_647
_PERTURBATION = "dual_simplex_cost_perturbation_multiplier"
PATIENCE = 5
"""Times as many steps as there are rows after which a solution goes on in another way: one of u2319 went
astray among ties for 200 000 steps."""
_WAYS = (0.0, False), (1.0, False), (0.0, True), (1.0, True)
"""How much HiGHS perturbs costs, too, and whether it begins with no basis, one way after the other. Of a
raster of 1000 cities one solution ended in neither of the first two, and in 2400 steps in the third."""
_NEARLY = 5e-7
"""Of the objective, by which a feasible solution may miss the least at most once it took as many steps as
there are rows. Of u2319 the dual method ended with reduced costs of -3e-5, and the primal one, to which HiGHS
turns then, went astray for 700 000 steps in all ways (EXP-543)."""
_DEVEX, _STEEPEST = 1, 2


class Outcome(Enum):
    """How a solution ended."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    LIMIT = "limit"  # of iterations or time


def has_solver() -> bool:
    """Return whether `require_solver` will most likely find it, without importing it."""
    return find_spec("highspy") is not None


def require_solver() -> Any:
    """Return the module ``highspy``.

    Raises
    ------
    BackendUnavailable
        It is not installed.
    """
    try:
        return _native.import_whole("highspy")
    except ImportError as error:
        raise BackendUnavailable(
            f"a proof needs HiGHS, which cannot be imported ({error}): pip install 'warptsp[prove]'"
        ) from error


class LinearProgram:
    """Minimize the cost of edges, none of them above `longest`, of which two meet in each of n cities.

    `to_cuts` turns prices and values of its rows, in place, into those of the cuts that the rows stand for.

    Attributes
    ----------
    values : ndarray of float64
        Of the columns in the last solution.
    prices : ndarray of float64
        Of all rows, first those of the cities; or a ray that proves that there is no solution.
    activity : ndarray of float64
        Values of the rows after those of the cities.
    iterations, solutions : int
        Steps of the simplex method, and how often it was used.
    most_steps : int
        Of one solution.
    """

    def __init__(
        self,
        n: int,
        token: _native.StopToken,
        longest: float = 1.0,
        to_cuts: ToCuts = lambda prices, activity: None,
    ) -> None:
        self._highspy = require_solver()
        self._solver: Any = self._highspy._Highs()
        self._token = token
        self._cities, self._longest, self._to_cuts = n, longest, to_cuts
        self._unit = 2.0 ** max(0, math.frexp(longest)[1] - _COST_BITS)
        self._most_iterations = _NO_LIMIT
        status = self._highspy.HighsModelStatus
        self._outcomes = {
            status.kOptimal: Outcome.OPTIMAL,
            status.kInfeasible: Outcome.INFEASIBLE,
            status.kIterationLimit: Outcome.LIMIT,
            status.kTimeLimit: Outcome.LIMIT,
            status.kInterrupt: Outcome.LIMIT,
        }
        for name, value in {
            "output_flag": False,
            "presolve": "off",
            "solver": "simplex",
            "parallel": "off",
            "threads": 1,
            "simplex_strategy": 1,  # dual
            "simplex_dual_edge_weight_strategy": _STEEPEST,
            # Costs come perturbed: HiGHS would take that back at the end of each solution, and the next one
            # would begin among ties again.
            _PERTURBATION: 0.0,
        }.items():
            self._set(name, value)
        # Asked after each step; signals are handled there, too.
        self._raised: list[BaseException] = []
        self._check(self._solver.setCallback(_native.ending(token, self._raised), None))
        self._check(self._solver.startCallback(self._highspy.cb.HighsCallbackType.kCallbackSimplexInterrupt))
        two = np.full(n, 2.0)
        no_indices = np.zeros(0, dtype=np.int32)
        self._check(
            self._solver.addRows(n, two, two, 0, np.zeros(n, dtype=np.int32), no_indices, np.zeros(0))
        )
        self.values = np.zeros(0)
        self.prices = np.zeros(n)
        self.activity = np.zeros(0)
        self.objective = -math.inf
        self.outcome = Outcome.LIMIT
        self.iterations = 0
        self.solutions = 0
        self.most_steps = _NO_LIMIT

    def copy(self, to_cuts: ToCuts) -> "LinearProgram":
        """Return the same programme, in a solver of its own, for solutions of few steps."""
        other = LinearProgram(self._cities, self._token, self._longest, to_cuts)
        other._check(other._solver.passModel(self._solver.getLp()))
        other.restore(self._solver.getBasis())
        other.expect_few_steps()
        other.values, other.prices, other.activity = self.values, self.prices, self.activity
        other.objective, other.outcome = self.objective, self.outcome
        return other

    def add_columns(self, lines: SparseLines) -> None:
        """Add edges, used from 0 to 1 times."""
        costs, begin, index, value = lines
        count = len(costs)
        if count:
            limits = np.zeros(count), np.ones(count)
            self._check(
                self._solver.addCols(count, costs / self._unit, *limits, len(index), begin, index, value)
            )

    def add_rows(self, lines: SparseLines) -> None:
        """Add rows with a lower limit."""
        lower, begin, index, value = lines
        count = len(lower)
        if count:
            upper = np.full(count, self._highspy.kHighsInf)
            self._check(self._solver.addRows(count, lower, upper, len(index), begin, index, value))

    def drop_rows(self, rows: NDArray[np.int32]) -> None:
        """Take rows away, and their prices; they are numbered after those of the cities."""
        if len(rows):
            gone = np.ascontiguousarray(rows + self._cities)
            self._check(self._solver.deleteRows(len(gone), gone))
            self.activity, self.prices = np.delete(self.activity, rows), np.delete(self.prices, gone)

    def drop_columns(self, columns: NDArray[np.int32]) -> None:
        """Take columns away; those after them move up."""
        if len(columns):
            self._check(self._solver.deleteCols(len(columns), columns))

    def bound_column(self, column: int, lower: int, upper: int) -> None:
        """Change how often an edge is used."""
        self._check(self._solver.changeColBounds(column, lower, upper))

    def bound_row(self, row: int, lower: float, upper: float) -> None:
        """Change the limits of a row after those of the cities."""
        self._check(self._solver.changeRowBounds(row + self._cities, lower, self._limit(upper)))

    def expect_few_steps(self) -> None:
        """Choose rows by Devex weights from now on.

        Steepest edges take half as many steps, but their weights are computed anew after new rows, in the
        time of a hundred steps.
        """
        self._set("simplex_dual_edge_weight_strategy", _DEVEX)
        self.restore(self.basis())  # without the other weights

    def basis(self) -> Any:
        """Return what `restore` takes."""
        return self._solver.getBasis()  # a copy

    def restore(self, basis: Any = None) -> None:
        """Begin the next solution from this basis, or from nothing if it is of no use."""
        if (
            basis is None
            or not basis.valid
            or self._solver.setBasis(basis) == self._highspy.HighsStatus.kError
        ):
            self._solver.clearSolver()

    def solve(self) -> Outcome:
        """Solve it, in `most_steps`, and keep solution and prices."""
        outcome = self.outcome = self._run(self.most_steps)
        if outcome is Outcome.INFEASIBLE:
            _, found, ray = self._solver.getDualRay()
            self.prices = np.array(ray) if found else np.zeros(0)
            if found:
                self._to_cuts(self.prices, np.zeros(len(self.prices) - self._cities))
        else:
            solution = self._solver.getSolution()
            self.values = np.array(solution.col_value)
            self.prices = self._unit * np.array(solution.row_dual)
            self.activity = np.array(solution.row_value)[self._cities :]
            self._to_cuts(self.prices, self.activity)
        return outcome

    def probe_column(self, column: int, value: int, iterations: int, basis: Any) -> float:
        """Return the objective after so many steps with an edge that is used or not; keep nothing.

        Infinite if there is no solution. The next one begins from `basis`.
        """
        self.bound_column(column, value, value)
        objective = self._probed(iterations)
        self.bound_column(column, 0, 1)
        self.restore(basis)
        return objective

    def probe_row(
        self, coefficients: NDArray[np.float64], lower: float, upper: float, iterations: int, basis: Any
    ) -> float:
        """Return the same with one row more, with these limits."""
        index = np.flatnonzero(coefficients).astype(np.int32)
        limits = np.array([lower]), np.array([self._limit(upper)])
        begin = np.zeros(1, dtype=np.int32)
        self._check(self._solver.addRows(1, *limits, len(index), begin, index, coefficients[index]))
        objective = self._probed(iterations)
        last = np.array([self._solver.getNumRow() - 1], dtype=np.int32)
        self._check(self._solver.deleteRows(1, last))
        self.restore(basis)
        return objective

    def _probed(self, iterations: int) -> float:
        kept = self.objective
        objective = math.inf if self._run(iterations) is Outcome.INFEASIBLE else self.objective
        self.objective = kept
        return objective

    def _limit(self, upper: float) -> float:
        return float(self._highspy.kHighsInf) if math.isinf(upper) else upper

    def _run(self, iterations: int) -> Outcome:
        rows = self._cities + len(self.activity)
        outcome = Outcome.LIMIT
        for perturbation, is_fresh in _WAYS:
            if is_fresh:
                self.restore()
            self._set(_PERTURBATION, perturbation)
            is_last = (perturbation, is_fresh) == _WAYS[-1]
            for _ in itertools.count() if is_last else range(PATIENCE):
                outcome = self._run_within(min(rows, iterations))
                iterations -= rows
                if outcome is Outcome.LIMIT and self._is_nearly_optimal():
                    outcome = Outcome.OPTIMAL
                if outcome is not Outcome.LIMIT or iterations <= 0 or self._token.stopped():
                    return outcome
        return outcome

    def _is_nearly_optimal(self) -> bool:
        """Whether reduced costs below 0, of edges that are used once at most, come to next to nothing."""
        info = self._solver.getInfo()
        feasible = info.primal_solution_status == int(self._highspy.SolutionStatus.kSolutionStatusFeasible)
        return bool(
            feasible and info.sum_dual_infeasibilities <= _NEARLY * abs(info.objective_function_value)
        )

    def _run_within(self, iterations: int) -> Outcome:
        if iterations != self._most_iterations:
            self._set("simplex_iteration_limit", iterations)
            self._most_iterations = iterations
        for attempt in range(2):
            self._solver.run()
            if self._raised:
                raise self._raised.pop()
            outcome = self._outcomes.get(self._solver.getModelStatus())
            self.iterations += max(0, self._solver.getInfo().simplex_iteration_count)
            self.solutions += 1
            self.objective = self._unit * self._solver.getObjectiveValue()
            if outcome is not None:
                return outcome
            if attempt == 0:
                self._solver.clearSolver()  # a basis that led nowhere
        status = self._solver.modelStatusToString(self._solver.getModelStatus())
        raise WarpTSPError(f"HiGHS ended a linear programme with the status {status!r}")

    def _set(self, name: str, value: Any) -> None:
        self._check(self._solver.setOptionValue(name, value))

    def _check(self, status: Any) -> None:
        if status == self._highspy.HighsStatus.kError:
            raise WarpTSPError(
                "HiGHS refused a change of the linear programme, which is a bug; please report it"
            )
