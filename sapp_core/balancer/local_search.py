"""Local search on the simulated step time: the part that finds good plans fast.

A move takes one layer from one cell and mode to another. Every path found so far bounds the step time of every plan
from below, so most moves are dismissed without simulating them, and the rest are simulated in one array call. Plans
that break memory rows may be passed through, at a price; pairs of moves help where one breaks what the other mends.
Pins and the order of kinds are never broken.
"""

from collections.abc import Generator, Iterable, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sapp_core.balancer.path_rows import PathRows
from sapp_core.balancer.plan_space import PlanSpace

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

LOOK = 30_000
"""Single moves looked at in one step; more are drawn at random from all."""
PAIRED = 300
"""Moves of each ranking that are tried in pairs."""
PAIRS = 60_000
"""Pairs looked at in one step, drawn at random."""
ELEMENTS = 4_000_000
"""Largest array of one look; with many memory rows, fewer moves are looked at."""
JUDGES = (1, 40, 400)
"""How many of the longest paths judge moves: first few, then more on what is left."""
SHORT_LIST = 5_000
"""Moves that the next judges look at."""
SIMULATED, BLOCK = 768, 96
"""Moves simulated in one step, and how many at a time."""
KICK = (2, 7)
"""A restart makes 2 to 6 random moves."""
EXCHANGED = 0.3
"""Share of those that exchange layers of a pinned cell where several kinds are placed."""
FROM_BEST, FROM_LAST = 0.7, 0.2
"""Shares of restarts from the best plan, and from where the last descent ended; the others begin anew."""
MOST_ROWS = 2_500
"""Paths remembered; beyond, the half that is shortest under the best plan is forgotten."""
GAIN = 1e-9
"""Smallest relative gain that counts."""


class LocalSearch:
    """One search, with the best plan it knows.

    Args:
        space: of plans.
        rows: paths known; the search adds its own.
        seed: of its random choices. Its steps depend on the seed alone, never on the clock.
    """

    def __init__(self, space: PlanSpace, rows: PathRows, seed: int) -> None:
        self._space = space
        self._rows = rows
        self._random = np.random.default_rng(seed)
        self._cells = np.eye(len(space.least))[space.cell]
        self._pinned = np.flatnonzero(space.least == space.most) if len(space.per_kind) > 1 else np.zeros(0, np.intp)
        touched = (space.memory != 0) @ self._cells > 0
        self._share_rows = (touched[:, :, np.newaxis] & touched[:, np.newaxis]).any(axis=0)
        self._memory = np.ascontiguousarray(space.memory.T)
        self._price = 0.0
        self.best: Floats | None = None
        self.best_time = np.inf

    def steps(self, starts: Iterable[Floats]) -> Generator[bool, None, None]:
        """Search for ever, first from each of some plans; yields after each step whether a descent has just ended."""
        largest_room = max(1.0, float(self._space.room.max(initial=1.0)))
        known: list[Floats] = []
        for start in starts:
            if not known:
                self._price = 2 * float(self._space.step_times(start[np.newaxis])[0]) / largest_room
            known.append(start)
            last = yield from self._descend(start)
            yield True
        while True:
            last = yield from self._descend(self._kicked(self._restart(known, last)))
            self._forget()
            yield True

    def _restart(self, starts: Sequence[Floats], last: Floats) -> Floats:
        """Where the next descent begins, before the kick."""
        chance = self._random.random()
        if chance >= FROM_BEST + FROM_LAST:
            return starts[int(self._random.integers(len(starts)))]
        if self.best is not None and (chance < FROM_BEST or self._space.excess(last) > 0):
            return self.best
        return last

    def offer(self, vector: Floats) -> None:
        """A plan found elsewhere: restarts begin from it when it is the best and fits."""
        self._visit(vector)

    def _descend(self, vector: Floats) -> Generator[bool, None, Floats]:
        """Take the first good move, or pair of moves, until there is none; returns where it ended."""
        cost = self._visit(vector)
        while True:
            moves = self._legal_moves(vector)
            better = self._first_better(vector, cost, moves, np.arange(len(moves))[:, np.newaxis])
            yield False
            if better is None:
                better = self._first_better(vector, cost, moves, self._pairs(vector, moves))
                yield False
            if better is None and len(self._pinned):
                better = self._first_better(vector, cost, *self._exchanges(vector))
                yield False
            if better is None:
                return vector
            vector = better
            cost = self._visit(vector)

    def _visit(self, vector: Floats) -> float:
        """Learn the paths of a plan and remember it when it is the best; its step time and the price of its excess."""
        step_time, _ = self._rows.add_from(vector)
        if step_time < self.best_time * (1 - GAIN) and self._space.allows(vector):
            self.best, self.best_time = vector.copy(), step_time
        return step_time + self._price * self._space.excess(vector)

    def _legal_moves(self, vector: Floats) -> Ints:
        """`[move]` of (from, to): those that keep cells filled, pins and the order of kinds; at most `LOOK`."""
        space = self._space
        source = np.flatnonzero(vector > 0)
        held = vector @ self._cells
        found = []
        for kind in range(len(space.per_kind)):
            a, b = self._ordered_moves(vector, source, kind)
            from_cell, to_cell = space.cell[a], space.cell[b]
            spare = (held[from_cell] > space.least[from_cell]) & (held[to_cell] < space.most[to_cell])
            found.append(np.stack([a, b], axis=1)[(a != b) & (spare | (from_cell == to_cell))])
        moves: Ints = np.concatenate(found).astype(np.intp)
        most = self._most(LOOK)
        if len(moves) > most:
            drawn = np.sort(self._random.choice(len(moves), most, replace=False))
            moves = moves[drawn]
        return moves

    def _ordered_moves(self, vector: Floats, source: Ints, kind: int) -> tuple[Ints, Ints]:
        """From and to, `[move]` each: where layers of a kind among some components may go while other kinds stay."""
        space = self._space
        low, high = self._range(vector, kind)
        own = source[space.kind[source] == kind]
        goal = np.flatnonzero((space.kind == kind) & (space.cell >= low) & (space.cell <= high))
        a, b = (grid.ravel() for grid in np.meshgrid(own, goal, indexing="ij"))
        return a, b

    def _exchanges(self, vector: Floats) -> tuple[Ints, Ints]:
        """`[move]` of (from, to), and `[exchange]` of two of them that a pinned cell allows only together.

        Where two kinds meet in a pinned cell, a layer of one leaves as a layer of the other comes: without that, the
        place where they meet could never move along.
        """
        space = self._space
        source = np.flatnonzero(vector > 0)
        held = vector @ self._cells
        grids = [self._ordered_moves(vector, source, kind) for kind in range(len(space.per_kind))]
        moves = np.stack([np.concatenate(ends) for ends in zip(*grids, strict=True)], axis=1)
        kind, (start, goal) = space.kind[moves[:, 0]], space.cell[moves].T
        leaving, coming = (held < space.most)[goal], (held > space.least)[start]
        found = [np.zeros((0, 2), np.intp)]
        for cell in self._pinned:
            out, into = np.flatnonzero((start == cell) & leaving), np.flatnonzero((goal == cell) & coming)
            a, b = (grid.ravel() for grid in np.meshgrid(out, into, indexing="ij"))
            found.append(np.stack([a, b], axis=1)[kind[a] != kind[b]])
        exchanges: Ints = np.concatenate(found)
        if len(exchanges) > self._most(PAIRS):
            exchanges = exchanges[np.sort(self._random.choice(len(exchanges), self._most(PAIRS), replace=False))]
        return moves, exchanges

    def _most(self, wanted: int) -> int:
        pipeline = self._space.question.schedule.pipeline
        # Of S stages, about 6/S of all pairs of moves meet on one.
        return min(wanted, ELEMENTS // (6 * len(self._space.room) // pipeline.num_stages + 1))

    def _range(self, vector: Floats, kind: int) -> tuple[int, int]:
        """Virtual stages where a kind may sit while the other kinds stay."""
        held = np.flatnonzero(vector > 0)
        before = self._space.cell[held[self._space.kind[held] < kind]]
        after = self._space.cell[held[self._space.kind[held] > kind]]
        return int(before.max(initial=0)), int(after.min(initial=len(self._space.least) - 1))

    def _pairs(self, vector: Floats, moves: Ints) -> Ints:
        """`[pair]` of two moves that are good for time, for memory, or for both."""
        single = np.arange(len(moves))[:, np.newaxis]
        time = self._bound(vector, JUDGES[1], moves, single)
        price = self._price * self._excess(vector, moves, single)
        rankings = (time + price, time, time + 1e3 * price)
        chosen = np.unique(np.concatenate([np.argsort(ranking, kind="stable")[:PAIRED] for ranking in rankings]))
        first, second = np.triu_indices(len(chosen), 1)
        if len(first) > self._most(PAIRS):
            drawn = self._random.choice(len(first), self._most(PAIRS), replace=False)
            first, second = first[drawn], second[drawn]
        pairs: Ints = np.stack([chosen[first], chosen[second]], axis=1)
        source = moves[pairs, 0]
        possible: Ints = pairs[(source[:, 0] != source[:, 1]) | (vector[source[:, 0]] > 1)]
        return possible

    def _first_better(self, vector: Floats, cost: float, moves: Ints, candidates: Ints) -> Floats | None:
        """The best of the first block of candidates, most promising first, that has one below a cost.

        Args:
            vector: the plan they change.
            cost: to beat.
            moves: `[move]` of (from, to).
            candidates: `[candidate]` of the moves each makes.
        """
        chosen, price = self._promising(vector, cost, moves, candidates)
        for begin in range(0, len(chosen), BLOCK):
            vectors = self._moved(vector, moves[candidates[chosen[begin : begin + BLOCK]]])
            legal = np.flatnonzero(self._legal(vectors))
            if not len(legal):
                continue
            costs = self._space.step_times(vectors[legal]) + price[begin + legal]
            best = int(np.argmin(costs))
            better: Floats = vectors[legal[best]]
            if costs[best] < cost * (1 - GAIN):
                return better
            self._rows.add_from(better)
        return None

    def _promising(self, vector: Floats, cost: float, moves: Ints, candidates: Ints) -> tuple[Ints, Floats]:
        """Candidates whose bound is below a cost, the lowest first, and the price of the excess of each."""
        price = self._price * self._excess(vector, moves, candidates)
        left = np.flatnonzero(price < cost)
        for judges in JUDGES:
            bound = self._bound(vector, judges, moves, candidates[left]) + price[left]
            fine = np.flatnonzero(bound < cost * (1 - GAIN))
            left = left[fine[np.argsort(bound[fine], kind="stable")][:SHORT_LIST]]
        left = left[:SIMULATED]
        return left, price[left]

    def _bound(self, vector: Floats, judges: int, moves: Ints, candidates: Ints) -> Floats:
        """`[candidate]`: no shorter step time is possible after its moves, say the longest paths known."""
        lengths = self._rows.lengths(vector)
        longest = np.argsort(-lengths, kind="stable")[:judges]
        # Rows of the transpose lie together in memory: picking them is what takes the time.
        bound: Floats = self._change(self._rows.weights[longest].T, moves, candidates, lengths[longest]).max(axis=1)
        return bound

    def _excess(self, vector: Floats, moves: Ints, candidates: Ints) -> Floats:
        """`[candidate]`, MiB over the memory rows after its moves.

        Layers whose cells share no row change the excess independently, so one look at each layer does. Only the
        other candidates are looked at row by row.
        """
        over = self._space.memory @ vector - self._space.room
        before = np.maximum(over, 0.0).sum()
        taken, given = (np.maximum(over + sign * self._memory, 0.0).sum(axis=1) - before for sign in (-1, 1))
        layers = moves[candidates].reshape(len(candidates), 2 * candidates.shape[1])
        excess: Floats = before + taken[layers[:, ::2]].sum(axis=1) + given[layers[:, 1::2]].sum(axis=1)
        together = np.zeros(len(candidates), dtype=bool)
        for a, b in combinations(self._space.cell[layers].T, 2):
            together |= self._share_rows[a, b]
        joint = self._change(self._memory, moves, candidates[together], over)
        excess[together] = np.maximum(joint, 0.0).sum(axis=1)
        return excess

    @staticmethod
    def _change(per_layer: Floats, moves: Ints, candidates: Ints, start: Floats) -> Floats:
        """`[candidate][row]`: rows, linear in the plan, after the moves of each candidate."""
        used, which = np.unique(candidates, return_inverse=True)
        change = np.ascontiguousarray(per_layer)[moves[used, 1]] - per_layer[moves[used, 0]]
        rows: Floats = start + change[which.reshape(candidates.shape)].sum(axis=1)
        return rows

    def _legal(self, vectors: Floats) -> NDArray[np.bool_]:
        legal: NDArray[np.bool_] = (vectors >= 0).all(axis=1) & self._space.fills(vectors)
        return legal & self._space.in_order(vectors) if len(self._space.per_kind) > 1 else legal

    @staticmethod
    def _moved(vector: Floats, moves: Ints) -> Floats:
        """`[candidate][j]` from `[candidate][move]` of (from, to)."""
        vectors = np.repeat(vector[np.newaxis], len(moves), axis=0)
        rows = np.arange(len(moves))[:, np.newaxis]
        np.add.at(vectors, (rows, moves[:, :, 0]), -1.0)
        np.add.at(vectors, (rows, moves[:, :, 1]), 1.0)
        return vectors

    def _kicked(self, vector: Floats) -> Floats:
        """A plan some random legal moves away."""
        for _ in range(int(self._random.integers(*KICK))):
            moves = self._legal_moves(vector)
            candidates = np.arange(len(moves))[:, np.newaxis]
            if len(self._pinned) and self._random.random() < EXCHANGED:
                moves, candidates = self._exchanges(vector)
            if not len(candidates):
                break
            moved = self._moved(vector, moves[candidates[int(self._random.integers(len(candidates)))]][np.newaxis])
            if self._legal(moved)[0]:
                vector = moved[0]
        return vector

    def _forget(self) -> None:
        if len(self._rows.constants) > MOST_ROWS and self.best is not None:
            self._rows.keep_longest(self._rows.lengths(self.best), MOST_ROWS // 2)
