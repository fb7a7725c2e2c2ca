"""Builds steps from what an agent said, called, got back."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from driftlab.importers.parts.health import HealthReport
from driftlab.trace.schema import Step
from driftlab.trace.views import canonical

__all__ = ["Call", "Turns"]


@dataclass(frozen=True)
class Call:
    """A tool call: the id that its result names, the tool, its arguments."""

    id: str | None
    tool: str | None
    args: Any = None


class Turns:
    """Collects one run: text, calls, results, user turns in the order of the log.

    One step a call; the text of a message goes to the first of its calls, or is a step of its own when it
    called nothing. Results find their call by id, however late they come.

    Parameters
    ----------
    health : HealthReport
        Where results without a call are counted.

    Examples
    --------
    >>> turns = Turns(HealthReport())
    >>> turns.user()
    >>> turns.speak("both at once")
    >>> turns.call(Call("c1", "get", {"k": 1}))
    >>> turns.call(Call("c2", "get", {"k": 2}))
    >>> turns.result("c2", "two")
    >>> turns.result("c1", "one")
    >>> [(step.state, step.output, step.event) for step in turns.steps()]
    [('both at once', 'one', 'user'), (None, 'two', None)]
    """

    def __init__(self, health: HealthReport) -> None:
        self.health = health
        self._steps: list[dict[str, Any]] = []
        self._open: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        self._answered: dict[str, dict[str, Any]] = {}
        self._waiting: dict[int, dict[str, Any]] = {}
        self._turn = 0
        self._turns: dict[int, int] = {}
        self._resulted = False
        self._said: dict[str, Any] | None = None
        self._key: str | None = None
        self._rest: str | None = None
        self._event: str | None = None

    def __len__(self) -> int:
        return len(self._steps) + (self._said is not None)

    def user(self) -> None:
        """Note a user turn: it marks the next step."""
        self.flush()
        self._event = self._event or "user"

    def compaction(self) -> None:
        """Note that a summary replaced the history: it marks the next step, whatever the user says besides."""
        self.flush()
        self._event = "compaction"

    def speak(self, text: str | None, thought: str | None = None, *, key: str | None = None, **fields: Any) -> None:
        """Take text or reasoning of the agent.

        Parameters
        ----------
        text, thought : str or None
            What it said, what it thought; None is absent.
        key : str, optional
            Names the message: parts of one message are joined.
        **fields
            Other fields of the step: node, tokens, extra, error.
        """
        said = self._said
        # Reasoning comes before the text it belongs to, in logs that name no message.
        goes_on = (
            said is not None and key == self._key and (key is not None or (said["state"] is None and text is not None))
        )
        if said is not None and goes_on:
            said["state"] = _joined(said["state"], text)
            said["thought"] = _joined(said["thought"], thought)
            said.update({name: value for name, value in fields.items() if value is not None})
            return
        self.flush()
        self._said = {"state": text, "thought": thought, **fields}
        self._key = key

    def call(self, call: Call, **fields: Any) -> None:
        """Take a tool call: a step, with the text said just before."""
        step = self._called(call, fields)
        # By identity: equal steps are different calls.
        self._waiting[id(step)] = step
        if call.id:
            self._turns[id(step)] = self._turn
            self._open[call.id].append(step)

    def finished(self, call: Call, output: str | None, **fields: Any) -> None:
        """Take a call whose result is known, or known to be missing."""
        self._called(call, {"output": output, **fields})

    def _called(self, call: Call, fields: dict[str, Any]) -> dict[str, Any]:
        said, self._said = self._said, None
        if said is not None or self._resulted:
            # Empty text is empty for every call of its message; other text is said once.
            self._rest = "" if said is not None and said["state"] == "" else None
        step = {"state": self._rest, "thought": None, **(said or {}), "tool": call.tool, "args": call.args}
        step.update({name: value for name, value in fields.items() if value is not None})
        self._turn += self._resulted
        self._resulted = False
        self._add(step)
        return step

    def result(self, call_id: str | None, text: str | None, *, tool: str | None = None, **fields: Any) -> None:
        """Take a result; one that answers no call is counted and dropped.

        A result for a call that has one already replaces it, as streams write again what they wrote.
        """
        self._resulted = True
        step = self._find(call_id, tool)
        if step is None:
            self.health.count("results_without_call")
            return
        step["output"] = text if text is not None else ""
        step.update({name: value for name, value in fields.items() if value is not None})

    def _find(self, call_id: str | None, tool: str | None) -> dict[str, Any] | None:
        if call_id and self._open.get(call_id):
            step = self._answered[call_id] = self._take(self._open[call_id])
        elif call_id and call_id in self._answered:
            self.health.count("rewritten")
            return self._answered[call_id]
        elif call_id:
            return None
        else:
            fitting = (step for step in self._waiting.values() if tool is None or step["tool"] in (tool, None))
            found = next(fitting, None)
            if found is None:
                return None
            step = found
        self._waiting.pop(id(step), None)
        return step

    def _take(self, waiting: list[dict[str, Any]]) -> dict[str, Any]:
        if len(waiting) == 1:
            return waiting.pop()
        # An id used again in a later message is another call; within one message results come in order.
        latest = self._turns[id(waiting[-1])]
        place = next(n for n, step in enumerate(waiting) if self._turns[id(step)] == latest)
        return waiting.pop(place)

    def answer(self, tool: str | None, args: Any, text: str | None, **fields: Any) -> bool:
        """Take a result that names tool and arguments instead of an id; return whether such a call was waiting.

        Without arguments (capture was off) the tool alone decides.
        """
        wanted = None if args is None else canonical(args)
        for step in self._waiting.values():
            if step["tool"] == tool and (wanted is None or canonical(step["args"]) == wanted):
                break
        else:
            return False
        self._waiting.pop(id(step))
        for waiting in self._open.values():
            waiting[:] = [other for other in waiting if other is not step]
        step["output"] = text
        step.update({name: value for name, value in fields.items() if value is not None})
        return True

    def drop_waiting(self) -> None:
        """Forget calls that only a result without an id could still answer."""
        self._waiting.clear()

    @property
    def waiting(self) -> bool:
        """Whether some call has no result yet."""
        return bool(self._waiting)

    def waits_for(self, call_id: str | None) -> bool:
        """Whether a call of that id has no result yet."""
        return bool(call_id and self._open.get(call_id))

    def flush(self) -> None:
        """End the message: text that called nothing becomes a step."""
        self._turn += 1
        said, self._said = self._said, None
        self._rest = None
        self._key = None
        if said is not None:
            self._add(said)

    def _add(self, step: dict[str, Any]) -> None:
        if self._event:
            step["event"], self._event = self._event, None
        self._steps.append(step)

    def steps(self) -> tuple[Step, ...]:
        """Return the steps so far."""
        self.flush()
        return tuple(Step(**step) for step in self._steps)


def _joined(earlier: str | None, later: str | None) -> str | None:
    if not earlier or later is None:
        return later if later is not None else earlier
    return f"{earlier}\n{later}" if later else earlier
