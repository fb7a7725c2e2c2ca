"""The sql task: tools on a database with a report to fill in and the calls an agent may make with them."""

from __future__ import annotations

import sqlite3

from .dice import Dice
from .run import Call, Result, Temper
from .sql_library import COLUMNS
from .sql_report import GROUPS, SqlReport

PIECES = [
    "pend",
    "test",
    "old",
    "void2",
    "cancel",
    "east",
    "vip",
    "tmp",
    "draft",
    "dup",
    "closed",
    "refuse",
    "archive",
    "x9",
]
REMARKS = (
    "as asked",
    "as the question asks",
    "like asked",
    "per group",
    "for each group",
    "one row a group",
    "joined properly",
    "joined by key",
    "with the join",
    "checked",
    "checked again",
    "double checked",
)
CHUNK = 17


# A report is checked far less often than tests are run.
TEMPER = Temper(
    eager=0.25,
    lost=0.15,
    detours={"wait": 2.0, "batch": 1.5, "explore": 4.0, "search": 0.8, "repeat": 0.8, "ponder": 1.0, "regress": 1.0},
)


class SqlWorld:
    """A report of six columns, a slow import and the share of right cells as the signal."""

    signal = "score"
    goal = 1.0
    temper = TEMPER

    def __init__(self, seed: int, problem: int) -> None:
        self.data = SqlReport(seed, problem)
        self.draft = dict(self.data.draft)
        self.facets = list(self.data.broken)
        self.edited = self.facets[0]
        self.report = "not checked"
        self.importing = False
        self.last = ""

    # What the policies see

    def measure(self) -> float:
        """Share of right cells right now, from really running the report."""
        matches = self.data.matches(self.draft)
        return round(sum(matches.values()) / (len(matches) * len(GROUPS)), 4)

    def state(self) -> str:
        """What the agent goes by: the column under work, the last check and the last result."""
        return f"draft of {self.edited}; {self.report}\nlast result: {self.last}"

    def waiting(self) -> bool:
        return self.importing and bool(self.data.pending)

    def blocked(self, facet: str) -> bool:
        return facet in ("", "net") and "net" in self.draft and bool(self.data.pending)

    def idle(self) -> bool:
        return not self.data.pending

    def close(self) -> None:
        self.data.close()

    # Calls

    def orient(self, dice: Dice) -> list[Call]:
        return [
            Call("question", {}),
            Call("describe", {"table": self.data.names["e"]}),
            self.wander(dice),
            self.verify(),
        ]

    def read(self, facet: str) -> Call:
        return Call("show_column", {"column": facet})

    def wander(self, dice: Dice) -> Call:
        table = dice.pick(self.data.tables())
        if dice.chance(0.3):
            return Call("describe", {"table": table})
        return Call(
            "query", {"sql": f"select * from {table} where id > {dice.between(0, 30)} limit {dice.between(2, 4)}"}
        )

    def hunt(self, facet: str, dice: Dice) -> Call:
        """A query that may well find nothing."""
        names, piece = self.data.names, dice.pick(PIECES)
        table, column = dice.pick(
            ((names["m"], "name"), (names["e"], "status"), (names["g"], "name"), (names["m"], "state"))
        )
        test = dice.pick(
            (
                f"{column} like '%{piece}%'",
                f"lower({column}) = '{piece}'",
                f"{column} in ('{piece}', '{piece}s')",
                f"instr({column}, '{piece}') > 0",
            )
        )
        return Call("query", {"sql": f"select id, {column} from {table} where {test}"})

    def edit(self, facet: str, text: str) -> Call:
        return Call("set_column", {"column": facet, "sql": text})

    def right(self, facet: str) -> str:
        return self.data.sql(self.data.columns[facet].right)

    def wrongs(self, facet: str) -> list[str]:
        return self.data.wrongs[facet][1:]

    def current(self, facet: str) -> str:
        return self.draft[facet]

    def spoil(self, facet: str) -> str:
        """An edit that makes things worse: the draft this column began with."""
        return self.data.draft[facet]

    def note(self, text: str) -> Call:
        return Call("note", {"text": text})

    def reword(self, text: str, dice: Dice) -> str:
        return f"{text} /* {dice.pick(REMARKS)} */"

    def verify(self) -> Call:
        return Call("check", {})

    def start_job(self) -> Call:
        return Call("start_import", {"table": self.data.names["c"]})

    def poll(self) -> Call:
        return Call("import_status", {"table": self.data.names["c"]})

    def batch(self, dice: Dice) -> list[Call]:
        table = dice.pick(self.data.tables()[1:3])
        columns = [row[1] for row in self.data.rows(f"pragma table_info({table})")][:5]
        if dice.chance(0.5):
            return [Call("count_nulls", {"table": table, "column": column}) for column in columns]
        return [Call("duplicates", {"table": name}) for name in self.data.tables()]

    def submit(self) -> Call:
        return Call("submit", {})

    # Tools

    def execute(self, call: Call) -> Result:
        """Run the tool of that name."""
        result: Result = getattr(self, f"_tool_{call.tool}")(**call.args)
        self.last = result.output.replace("\n", " / ")
        return result

    def _tool_question(self) -> Result:
        asked = {column.name: column.asked for column in COLUMNS}
        wanted = "; ".join(f"{name}: {self.data.sql(asked[name])}" for name in self.data.columns)
        return Result(
            f"For each {self.data.names['g']}: {wanted}. Year {self.data.names['y']}, limit {self.data.names['x']}."
        )

    def _tool_describe(self, table: str) -> Result:
        columns = self.data.rows(f"pragma table_info({table})")
        count = self.data.rows(f"select count(*) from {table}")[0][0]
        return Result(f"{table}({', '.join(f'{row[1]} {str(row[2]).lower()}' for row in columns)}), {count} rows")

    def _tool_query(self, sql: str) -> Result:
        try:
            rows = self.data.rows(sql)
        except sqlite3.OperationalError as error:
            return Result(f"error: {error}", error=True)
        return Result("\n".join(" | ".join(map(str, row)) for row in rows[:5]) or "0 rows")

    def _tool_show_column(self, column: str) -> Result:
        return Result(self.draft[column])

    def _tool_set_column(self, column: str, sql: str) -> Result:
        try:
            values = self.data.values(sql)
        except sqlite3.OperationalError as error:
            return Result(f"error: {error}", error=True)
        self.draft[column], self.edited = sql, column
        return Result(f"{column}: {', '.join(map(str, values))}")

    def _tool_count_nulls(self, table: str, column: str) -> Result:
        return Result(f"{self.data.rows(f'select count(*) from {table} where {column} is null')[0][0]} nulls")

    def _tool_duplicates(self, table: str) -> Result:
        return Result(f"{self.data.rows(f'select count(*) - count(distinct id) from {table}')[0][0]} duplicates")

    def _tool_note(self, text: str) -> Result:
        path = self.data.folder / "notes.md"
        notes = [*(path.read_text("utf-8").splitlines() if path.exists() else []), text]
        path.write_text("\n".join(notes), "utf-8")
        return Result(f"notes.md has {len(notes)} lines")

    def _tool_check(self) -> Result:
        matches = self.data.matches(self.draft)
        score = self.measure()
        self.report = f"{sum(matches.values())} of {len(matches) * len(GROUPS)} cells are right"
        wrong = ", ".join(f"{name} {count}/{len(GROUPS)}" for name, count in matches.items() if count < len(GROUPS))
        return Result(f"{self.report}; to do: {wrong}" if wrong else self.report, {self.signal: score})

    def _tool_submit(self) -> Result:
        return self._tool_check()

    # The import moves on by one portion a look, so no clock is involved

    def _tool_start_import(self, table: str) -> Result:
        self.importing = True
        return Result(f"import of {table} started, {len(self.data.pending)} rows to go")

    def _tool_import_status(self, table: str) -> Result:
        self.data.load(CHUNK)
        left = len(self.data.pending)
        return Result(f"import of {table}: {left} rows to go" if left else f"import of {table} finished")
