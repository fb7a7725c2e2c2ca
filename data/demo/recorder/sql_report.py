"""An sqlite file made from the seed, a report over it and the cells of the right answer."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .dice import Dice
from .sql_library import COLUMNS, SCHEMA, THEMES, Column

GROUPS = ("East", "North", "South", "West", "Harbour", "Hill")
REPORT = 6  # columns asked for
STATUSES = ("done", "done", "done", "open", "void")


class SqlReport:
    """Five tables, six columns to fill in for six groups, three to five of them drafted wrongly."""

    def __init__(self, seed: int, problem: int) -> None:
        dice = Dice(seed, "sql", problem)
        self.names = {**dice.pick(THEMES), "y": str(dice.between(2021, 2024)), "x": str(dice.between(30, 80) * 10)}
        self.folder = Path(tempfile.mkdtemp(prefix="driftlab-demo-"))
        self.db = sqlite3.connect(self.folder / "data.sqlite", isolation_level=None)
        self.db.execute("pragma synchronous = off")
        self.db.execute("pragma journal_mode = off")
        self.pending = self._fill(dice)
        self.columns = {column.name: column for column in dice.sample(COLUMNS, REPORT)}
        self._load(self.pending)
        self.gold = {name: self.values(self.sql(column.right)) for name, column in self.columns.items()}
        self.wrongs = {name: self._wrongs(column, dice) for name, column in self.columns.items()}
        # The agent meets the last table empty: it has to be imported first.
        self.db.execute(self.sql("delete from {c}"))
        broken = dice.sample(list(self.columns), dice.between(3, 5))
        self.draft = {
            name: self.wrongs[name][0] if name in broken else self.sql(column.right)
            for name, column in self.columns.items()
        }
        self.broken = broken

    def sql(self, template: str) -> str:
        """The template in the words of this problem's theme."""
        return template.format(**self.names)

    def tables(self) -> list[str]:
        """Names of the tables, groups first."""
        return [self.names[key] for key in "gmelc"]

    def _wrongs(self, column: Column, dice: Dice) -> list[str]:
        """The wrong expressions that really differ from the right one in at least two groups."""
        texts = [self.sql(wrong) for wrong in column.wrongs]
        found = [text for text in texts if sum(map(_differ, self.values(text), self.gold[column.name])) > 1]
        return dice.sample(found, len(found))

    def _fill(self, dice: Dice) -> list[tuple[int, int, int]]:
        for statement in SCHEMA:
            self.db.execute(self.sql(statement))
        self._insert("g", [(number, name) for number, name in enumerate(GROUPS, 1)])
        members = [
            (number, dice.between(1, 6), f"M{number:02d}", int(dice.chance(0.6)), dice.between(2015, 2024))
            for number in range(1, 49)
        ]
        events = [
            (
                number,
                dice.between(1, 40),
                f"{dice.between(2020, 2025)}-{dice.between(1, 12):02d}-{dice.between(1, 28):02d}",
                dice.between(50, 999),
                dice.pick(STATUSES),
                int(dice.chance(0.3)),
            )
            for number in range(1, 161)
        ]
        lines = [(number, dice.between(1, 160), dice.between(1, 9), dice.between(5, 99)) for number in range(1, 261)]
        for key, rows in (("m", members), ("e", events), ("l", lines)):
            self._insert(key, rows)
        return [(number, dice.between(1, 160), dice.between(5, 60)) for number in range(1, dice.between(60, 110))]

    def _insert(self, key: str, rows: Sequence[tuple[object, ...]]) -> None:
        marks = ", ".join("?" * len(rows[0]))
        self.db.executemany(f"insert into {self.names[key]} values ({marks})", rows)

    def _load(self, rows: list[tuple[int, int, int]]) -> None:
        self._insert("c", rows)

    def load(self, count: int) -> None:
        """Import the next rows of the last table."""
        batch, self.pending = self.pending[:count], self.pending[count:]
        if batch:
            self._load(batch)

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        """Result of a query."""
        return self.db.execute(sql).fetchall()

    def values(self, expression: str) -> list[object]:
        """One value a group of the report, in the order of the groups."""
        return [row[0] for row in self.rows(f"select ({expression}) from {self.names['g']} g order by g.id")]

    def matches(self, draft: dict[str, str]) -> dict[str, int]:
        """How many cells of each column are right."""
        return {
            name: sum(not _differ(*pair) for pair in zip(self.values(draft[name]), gold, strict=True))
            for name, gold in self.gold.items()
        }

    def close(self) -> None:
        """Remove the database."""
        self.db.close()
        shutil.rmtree(self.folder)


def _differ(value: object, gold: object) -> bool:
    return type(value) is not type(gold) or value != gold
