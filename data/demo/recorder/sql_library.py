"""Columns a report may ask for: right SQL and wrong SQL, written for any of four themes."""

from __future__ import annotations

from dataclasses import dataclass

# group, member, event, line of an event, credit that is imported later; tables and keys are named after them
THEMES = (
    {"g": "region", "m": "customer", "e": "purchase", "l": "item", "c": "refund"},
    {"g": "branch", "m": "reader", "e": "loan", "l": "charge", "c": "waiver"},
    {"g": "ward", "m": "patient", "e": "visit", "l": "service", "c": "rebate"},
    {"g": "depot", "m": "driver", "e": "trip", "l": "stop", "c": "claim"},
)

SCHEMA = (
    "create table {g} (id integer primary key, name text)",
    "create table {m} (id integer primary key, {g}_id integer, name text, active integer, since integer)",
    "create table {e} (id integer primary key, {m}_id integer, day text, amount integer, status text, late integer)",
    "create table {l} (id integer primary key, {e}_id integer, qty integer, price integer)",
    "create table {c} (id integer primary key, {e}_id integer, amount integer)",
)

_E = "from {e} e join {m} m on m.id = e.{m}_id where m.{g}_id = g.id"
_L = "from {l} l join {e} e on e.id = l.{e}_id join {m} m on m.id = e.{m}_id where m.{g}_id = g.id"
_M = "from {m} m where m.{g}_id = g.id"
_DONE = " and e.status = 'done'"


@dataclass(frozen=True)
class Column:
    """A column of the report: what is asked, the right expression and wrong ones."""

    name: str
    asked: str
    right: str
    wrongs: tuple[str, ...]


COLUMNS = (
    Column(
        "members",
        "active members",
        f"select count(*) {_M} and m.active = 1",
        (
            f"select count(*) {_M}",
            f"select count(*) {_M} and m.active = 0",
            f"select sum(m.since > {{y}}) {_M}",
            f"select count(distinct m.since) {_M}",
            f"select max(m.id) {_M} and m.active = 1",
        ),
    ),
    Column(
        "events",
        "finished events of the year",
        f"select count(*) {_E}{_DONE} and e.day like '{{y}}-%'",
        (
            f"select count(*) {_E} and e.day like '{{y}}-%'",
            f"select count(*) {_E}{_DONE} and e.day > '{{y}}'",
            f"select count(*) {_E}{_DONE}",
            f"select count(distinct m.id) {_E} and e.day like '{{y}}-%'",
            f"select count(*) {_E}{_DONE} and e.day like '%-{{y}}'",
        ),
    ),
    Column(
        "amount",
        "sum of finished amounts",
        f"select sum(e.amount) {_E}{_DONE}",
        (
            f"select sum(e.amount) {_E}",
            f"select total(e.amount) / 100 {_E}{_DONE}",
            f"select sum(distinct e.amount) {_E} and e.status = 'open'",
            f"select max(e.amount) {_E}{_DONE}",
            f"select sum(e.amount) {_E} and e.status <> 'open'",
        ),
    ),
    Column(
        "lines",
        "quantity times price over all lines",
        f"select sum(l.qty * l.price) {_L}",
        (
            f"select sum(l.price) {_L}",
            f"select sum(l.qty) * sum(l.price) {_L}",
            f"select sum(l.qty + l.price) {_L}",
            f"select sum(distinct l.qty * l.price) {_L} and l.qty > 1",
            f"select sum(l.qty * e.amount) {_L}",
        ),
    ),
    Column(
        "mean",
        "mean finished amount, whole cents",
        f"select sum(e.amount) / count(*) {_E}{_DONE}",
        (
            f"select sum(e.amount) / count(*) {_E}",
            f"select sum(e.amount) / count(distinct m.id) {_E}{_DONE}",
            f"select min(e.amount) + max(e.amount) / 2 {_E}{_DONE}",
            f"select sum(e.amount) / 100 {_E}{_DONE}",
            f"select sum(e.amount) / (count(*) + 1) {_E}{_DONE}",
        ),
    ),
    Column(
        "idle",
        "members without any event",
        f"select count(*) {_M} and not exists (select 1 from {{e}} e where e.{{m}}_id = m.id)",
        (
            f"select count(*) {_M} and exists (select 1 from {{e}} e where e.{{m}}_id = m.id)",
            f"select count(*) {_M} and m.active = 0",
            f"select count(*) {_E} and e.id is null",
            f"select count(*) {_M} and m.id not in (select id from {{e}})",
            f"select count(*) {_M} and not exists (select 1 from {{e}} e where e.id = m.{{g}}_id)",
        ),
    ),
    Column(
        "latest",
        "day of the latest finished event",
        f"select max(e.day) {_E}{_DONE}",
        (
            f"select min(e.day) {_E}{_DONE}",
            f"select max(e.day) {_E} and e.status = 'open'",
            f"select max(e.id) {_E}{_DONE}",
            f"select max(substr(e.day, 6)) {_E}{_DONE}",
            f"select max(e.day) {_E} and e.day < '{{y}}'",
        ),
    ),
    Column(
        "callers",
        "different members with a finished event",
        f"select count(distinct m.id) {_E}{_DONE}",
        (
            f"select count(m.id) {_E}{_DONE}",
            f"select count(distinct e.day) {_E}{_DONE}",
            f"select count(distinct m.since) {_E}{_DONE}",
            f"select count(distinct m.id) {_E} and e.late = 1 and e.amount > 900",
            f"select count(distinct e.id) {_E}",
        ),
    ),
    Column(
        "biggest",
        "largest line of a finished event",
        f"select max(l.qty * l.price) {_L}{_DONE}",
        (
            f"select max(l.price) {_L}{_DONE}",
            f"select max(l.qty) * max(l.price) {_L}{_DONE} and l.qty < 9",
            f"select max(e.amount) {_L}{_DONE}",
            f"select min(l.qty * l.price) {_L}{_DONE}",
            f"select max(l.qty + l.price) {_L}{_DONE}",
        ),
    ),
    Column(
        "late",
        "late events in per cent, whole numbers",
        f"select 100 * sum(e.late) / count(*) {_E}",
        (
            f"select sum(e.late) / count(*) * 100 {_E}",
            f"select sum(e.late) {_E}",
            f"select 100 * sum(e.late) / count(*) {_E}{_DONE}",
            f"select 100 - 100 * sum(e.late) / count(*) {_E}",
            f"select count(*) / sum(e.late) {_E}",
        ),
    ),
    Column(
        "large",
        "events above the limit",
        f"select count(*) {_E} and e.amount > {{x}}",
        (
            f"select count(*) {_E} and e.amount < {{x}}",
            f"select count(*) {_E} and e.amount > {{x}}00",
            f"select sum(e.amount > {{x}}) {_L}",
            f"select count(distinct e.amount) {_E}",
            f"select count(*) {_E}{_DONE} and e.amount > {{x}} / 2",
        ),
    ),
    Column(
        "net",
        "amounts less credits, over all events",
        f"select (select sum(e.amount) {_E}) - (select sum(c.amount) from {{c}} c join {{e}} e on e.id = c.{{e}}_id "
        "join {m} m on m.id = e.{m}_id where m.{g}_id = g.id)",
        (
            f"select sum(e.amount) {_E}",
            "select sum(e.amount - c.amount) from {c} c join {e} e on e.id = c.{e}_id "
            "join {m} m on m.id = e.{m}_id where m.{g}_id = g.id",
            f"select sum(e.amount) - (select sum(amount) from {{c}}) {_E}",
            f"select sum(e.amount) - count(*) {_E}",
            f"select sum(-e.amount) {_E}",
        ),
    ),
)
