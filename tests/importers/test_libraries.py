"""Logs made by each format's own library, then imported."""

import asyncio
import contextlib
import json
import operator
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

from driftlab._util.errors import DriftlabWarning, InputError
from driftlab.importers.formats.langgraph import from_state_history
from driftlab.importers.formats.otel import from_spans
from driftlab.importers.load import load
from driftlab.importers.parts.health import HealthReport
from driftlab.trace.schema import Trace

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning")


def calls(trace: Trace) -> list[tuple[Any, ...]]:
    return [(step.tool, step.args, step.output) for step in trace.steps if step.has_call]


def written(path: Path, values: Any) -> Path:
    path.write_text("\n".join(map(json.dumps, values)) if isinstance(values, list) else json.dumps(values))
    return path


# LangGraph


def graph(saver: Any) -> Any:
    """An agent that weighs two parcels at once, then answers."""
    messages = pytest.importorskip("langchain_core.messages", reason="langchain-core is not installed")
    pytest.importorskip("langgraph.graph", reason="langgraph is not installed")
    from langgraph.graph import END, START, MessagesState, StateGraph

    def agent(state: Any) -> dict[str, Any]:
        if len(state["messages"]) > 1:
            return {"messages": [messages.AIMessage("3 kg and 4 kg")]}
        asked = [{"name": "weigh", "args": {"parcel": n}, "id": f"c{n}"} for n in (1, 2)]
        return {"messages": [messages.AIMessage("on the scale", tool_calls=asked)]}

    def scale(state: Any) -> dict[str, Any]:
        return {"messages": [messages.ToolMessage(f"{n + 2} kg", tool_call_id=f"c{n}") for n in (2, 1)]}

    builder = StateGraph(MessagesState)
    builder.add_node("agent", agent)
    builder.add_node("scale", scale)
    builder.add_edge(START, "agent")
    builder.add_conditional_edges("agent", lambda state: "scale" if state["messages"][-1].tool_calls else END)
    builder.add_edge("scale", "agent")
    return builder.compile(checkpointer=saver)


WEIGHED = [("weigh", {"parcel": 1}, "3 kg"), ("weigh", {"parcel": 2}, "4 kg")]


def test_langgraph_live_history_and_sqlite_file_agree(tmp_path: Path) -> None:
    sqlite = pytest.importorskip("langgraph.checkpoint.sqlite", reason="langgraph-checkpoint-sqlite is not installed")
    path = tmp_path / "threads.sqlite"
    with sqlite.SqliteSaver.from_conn_string(str(path)) as saver:
        app = graph(saver)
        for thread in ("one", "two"):
            app.invoke({"messages": [("user", "weigh them")]}, {"configurable": {"thread_id": thread}})
        live = from_state_history(app.get_state_history({"configurable": {"thread_id": "one"}}), "one")
    before = path.read_bytes()
    corpus, report = load(path, on_error="raise")
    assert path.read_bytes() == before  # reading writes nothing
    assert [trace.id for trace in corpus] == ["one", "two"]
    for trace in (live, *corpus):
        assert calls(trace) == WEIGHED
        assert [(step.node, step.state, step.event) for step in trace.steps] == [
            ("agent", "on the scale", "user"),
            ("agent", None, None),
            ("agent", "3 kg and 4 kg", None),
        ]
    assert report.counts["replayed"] > 0
    assert not report.unknown


def test_langgraph_file_of_a_graph_that_still_runs(tmp_path: Path) -> None:
    """What the saver wrote last is in the write-ahead log, not in the file."""
    sqlite = pytest.importorskip("langgraph.checkpoint.sqlite", reason="langgraph-checkpoint-sqlite is not installed")
    path = tmp_path / "threads.sqlite"
    with sqlite.SqliteSaver.from_conn_string(str(path)) as saver:
        app = graph(saver)
        app.invoke({"messages": [("user", "weigh them")]}, {"configurable": {"thread_id": "one"}})
        assert path.with_name("threads.sqlite-wal").stat().st_size > 0
        assert calls(load(path)[0][0]) == WEIGHED


def test_langgraph_checkpoint_that_is_broken_does_not_take_the_others(tmp_path: Path) -> None:
    sqlite = pytest.importorskip("langgraph.checkpoint.sqlite", reason="langgraph-checkpoint-sqlite is not installed")
    path = tmp_path / "threads.sqlite"
    with sqlite.SqliteSaver.from_conn_string(str(path)) as saver:
        app = graph(saver)
        app.invoke({"messages": [("user", "weigh them")]}, {"configurable": {"thread_id": "one"}})
        last = "SELECT max(checkpoint_id) FROM checkpoints"
        saver.conn.execute(f"UPDATE checkpoints SET checkpoint = x'c1' WHERE checkpoint_id = ({last})")
        saver.conn.commit()
    with pytest.warns(DriftlabWarning, match="of thread 'one' cannot be read"):
        corpus, _ = load(path)
    assert calls(corpus[0]) == WEIGHED


def test_langgraph_state_without_messages(tmp_path: Path) -> None:
    pytest.importorskip("langgraph.graph", reason="langgraph is not installed")
    from langgraph.checkpoint.memory import MemorySaver
    from langgraph.graph import END, START, StateGraph

    class State(TypedDict):
        left: int
        seen: Annotated[list[int], operator.add]

    builder = StateGraph(State)
    builder.add_node("work", lambda state: {"left": state["left"] - 1, "seen": [state["left"]]})
    builder.add_edge(START, "work")
    builder.add_conditional_edges("work", lambda state: "work" if state["left"] else END)
    app = builder.compile(checkpointer=MemorySaver())
    thread = {"configurable": {"thread_id": "t"}}
    app.invoke({"left": 3, "seen": []}, thread)
    trace = from_state_history(app.get_state_history(thread), "t")
    assert [json.loads(step.state or "")["left"] for step in trace.steps][-3:] == [2, 1, 0]
    assert [step.node for step in trace.steps][-3:] == ["work"] * 3


def test_langgraph_needs_values() -> None:
    with pytest.raises(InputError, match="needs values, got dict"):
        from_state_history([{"metadata": {}}], "t")


# LangChain messages


def test_langchain_messages(tmp_path: Path) -> None:
    messages = pytest.importorskip("langchain_core.messages", reason="langchain-core is not installed")
    from langchain_core.load import dumpd

    talk = [
        messages.SystemMessage("be brief"),
        messages.HumanMessage("weigh them"),
        messages.AIMessage("", tool_calls=[{"name": "weigh", "args": {"parcel": n}, "id": f"c{n}"} for n in (1, 2)]),
        messages.ToolMessage("4 kg", tool_call_id="c2"),
        messages.ToolMessage("3 kg", tool_call_id="c1", status="error"),
        messages.AIMessage([{"type": "text", "text": "done"}]),
    ]
    forms = {
        "dicts": messages.messages_to_dict(talk),
        "dumpd": [dumpd(message) for message in talk],
        "dump": [message.model_dump(mode="json") for message in talk],
        "openai": messages.convert_to_openai_messages(talk),
    }
    for name, form in forms.items():
        trace = load(written(tmp_path / f"{name}.json", {"messages": form}), on_error="raise")[0][0]
        assert calls(trace) == WEIGHED, name
        assert trace.steps[-1].state == "done"
        assert name == "openai" or trace.steps[0].error is True


# OpenTelemetry


def spans() -> list[Any]:
    """A model that asks for a call, the tool's span, a call that fails."""
    pytest.importorskip("opentelemetry.sdk", reason="opentelemetry-sdk is not installed")
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    memory = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    tracer = provider.get_tracer("test")
    asked = [
        {
            "role": "assistant",
            "parts": [
                {"type": "text", "content": "on the scale"},
                {"type": "tool_call", "id": "c1", "name": "weigh", "arguments": {"parcel": 1}},
            ],
        }
    ]
    with tracer.start_as_current_span("invoke_agent clerk") as agent:
        agent.set_attributes({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "clerk"})
        with tracer.start_as_current_span("chat m-small") as chat:
            chat.set_attributes(
                {
                    "gen_ai.operation.name": "chat",
                    "gen_ai.request.model": "m-small",
                    "gen_ai.output.messages": json.dumps(asked),
                }
            )
        with tracer.start_as_current_span("execute_tool weigh") as tool:
            tool.set_attributes(
                {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "weigh", "gen_ai.tool.call.id": "c1"}
            )
            tool.set_attributes({"gen_ai.tool.call.arguments": '{"parcel": 1}', "gen_ai.tool.call.result": "3 kg"})
        with contextlib.suppress(RuntimeError), tracer.start_as_current_span("execute_tool label") as tool:
            tool.set_attributes({"gen_ai.tool.name": "label", "gen_ai.tool.call.arguments": "{}"})
            raise RuntimeError("out of paper")
    return list(memory.get_finished_spans())


def test_opentelemetry_in_memory() -> None:
    health = HealthReport()
    (trace,) = from_spans(spans(), health=health)
    first, second = trace.steps
    assert (first.state, first.tool, first.args, first.output) == ("on the scale", "weigh", {"parcel": 1}, "3 kg")
    assert (second.tool, second.output, second.error, second.node) == (
        "label",
        "RuntimeError: out of paper",
        True,
        "clerk",
    )
    assert (trace.agent, first.node) == ("m-small", "clerk")
    assert not health.counts["capture_off"]


def test_opentelemetry_console_exporter_prints_values_on_end(tmp_path: Path) -> None:
    made = spans()
    from opentelemetry.sdk.trace.export import ConsoleSpanExporter

    with (tmp_path / "console.txt").open("w") as out:
        ConsoleSpanExporter(out=out).export(made)
    trace = load(tmp_path / "console.txt", on_error="raise")[0][0]
    assert trace.steps == from_spans(made)[0].steps


def test_openinference_names() -> None:
    conventions = pytest.importorskip("openinference.semconv.trace", reason="openinference is not installed")
    names, kinds = conventions.SpanAttributes, conventions.OpenInferenceSpanKindValues
    message, call = conventions.MessageAttributes, conventions.ToolCallAttributes
    out = f"{names.LLM_OUTPUT_MESSAGES}.0."
    asked = f"{out}{message.MESSAGE_TOOL_CALLS}.0."
    flat = {
        names.OPENINFERENCE_SPAN_KIND: kinds.LLM.value,
        f"{out}{message.MESSAGE_ROLE}": "assistant",
        f"{out}{message.MESSAGE_CONTENT}": "on the scale",
        f"{asked}{call.TOOL_CALL_ID}": "c1",
        f"{asked}{call.TOOL_CALL_FUNCTION_NAME}": "weigh",
        f"{asked}{call.TOOL_CALL_FUNCTION_ARGUMENTS_JSON}": '{"parcel": 1}',
        names.LLM_TOKEN_COUNT_COMPLETION: 7,
    }
    tool = {
        names.OPENINFERENCE_SPAN_KIND: kinds.TOOL.value,
        names.TOOL_NAME: "weigh",
        names.INPUT_VALUE: '{"parcel": 1}',
        names.OUTPUT_VALUE: "3 kg",
    }
    made = [{"name": "llm", "span_id": "1", "start_time": 1, "attributes": flat}]
    made.append({"name": "weigh", "span_id": "2", "start_time": 2, "attributes": tool})
    (trace,) = from_spans(made)
    assert [(s.state, s.tool, s.args, s.output, s.tokens) for s in trace.steps] == [
        ("on the scale", "weigh", {"parcel": 1}, "3 kg", 7)
    ]


# ATIF


def test_atif_models(tmp_path: Path) -> None:
    atif = pytest.importorskip("atif", reason="the ATIF models are not installed")
    say = [
        atif.Step(step_id=1, source="user", message="weigh them"),
        atif.Step(
            step_id=2,
            source="agent",
            message="on the scale",
            reasoning_content="two at once",
            tool_calls=[
                atif.ToolCall(tool_call_id=f"c{n}", function_name="weigh", arguments={"parcel": n}) for n in (1, 2)
            ],
            observation=atif.Observation(
                results=[atif.ObservationResult(source_call_id=f"c{n}", content=f"{n + 2} kg") for n in (2, 1)]
            ),
        ),
    ]
    helper = [atif.Step(step_id=1, source="agent", message="I checked.")]
    asks = atif.Step(
        step_id=3,
        source="agent",
        message="check it",
        tool_calls=[atif.ToolCall(tool_call_id="c3", function_name="ask", arguments={})],
        observation=atif.Observation(
            results=[
                atif.ObservationResult(
                    source_call_id="c3", subagent_trajectory_ref=[atif.SubagentTrajectoryRef(trajectory_id="helper")]
                )
            ]
        ),
    )
    for version in ("1.4", "1.5", "1.6", "1.7", "1.8"):
        new = version >= "1.7"
        document = atif.Trajectory(
            schema_version=f"ATIF-v{version}",
            session_id=version,
            agent=atif.Agent(name="clerk", version="1", model_name="m-small"),
            steps=[*say, asks] if new else say,
            subagent_trajectories=[
                atif.Trajectory(
                    schema_version=f"ATIF-v{version}",
                    trajectory_id="helper",
                    agent=atif.Agent(name="helper", version="1"),
                    steps=helper,
                )
            ]
            if new
            else None,
        )
        written(tmp_path / f"{version}.json", document.to_json_dict())
    for trace in load(tmp_path, on_error="raise")[0]:
        assert calls(trace)[:2] == WEIGHED
        assert trace.steps[0].thought == "two at once"
        expected = [None, None] if trace.id < "1.7" else ["main", "main", "main", "helper"]
        assert [step.node for step in trace.steps] == expected


# OpenAI Agents SDK


def test_openai_agents(tmp_path: Path) -> None:
    agents = pytest.importorskip("agents", reason="openai-agents is not installed")
    from agents.items import ModelResponse
    from agents.models.interface import Model
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    class Clerk(Model):
        """Answers from a list instead of a network."""

        turns = 0

        async def get_response(self, *_: Any, **__: Any) -> ModelResponse:
            self.turns += 1
            if self.turns == 1:
                asked = [
                    ResponseFunctionToolCall(
                        call_id=f"c{n}", name="weigh", arguments=json.dumps({"parcel": n}), type="function_call"
                    )
                    for n in (1, 2)
                ]
                return ModelResponse(output=asked, usage=agents.Usage(), response_id=None)
            said = ResponseOutputText(text="done", type="output_text", annotations=[])
            message = ResponseOutputMessage(
                id="m", content=[said], role="assistant", status="completed", type="message"
            )
            return ModelResponse(output=[message], usage=agents.Usage(), response_id=None)

        def stream_response(self, *_: Any, **__: Any) -> Any:
            raise NotImplementedError

    exported: list[dict[str, Any]] = []

    class Keep(agents.TracingProcessor):
        """Keeps what an exporter would send."""

        def on_trace_start(self, trace: Any) -> None:
            exported.append(trace.export())

        def on_trace_end(self, trace: Any) -> None:
            pass

        def on_span_start(self, span: Any) -> None:
            pass

        def on_span_end(self, span: Any) -> None:
            exported.append(span.export())

        def shutdown(self) -> None:
            pass

        def force_flush(self) -> None:
            pass

    @agents.function_tool
    def weigh(parcel: int) -> str:
        """Weigh a parcel."""
        return f"{parcel + 2} kg"

    agents.set_trace_processors([Keep()])
    clerk = agents.Agent(name="clerk", model=Clerk(), tools=[weigh])
    result = asyncio.run(agents.Runner.run(clerk, "weigh them"))

    items = load(written(tmp_path / "items.json", result.to_input_list()), on_error="raise")[0][0]
    assert calls(items) == WEIGHED
    assert items.steps[-1].state == "done"

    traced = load(written(tmp_path / "spans.jsonl", exported), on_error="raise")[0][0]
    assert sorted(calls(traced), key=str) == WEIGHED
    assert {step.node for step in traced.steps} == {"clerk"}


# Inspect


def test_inspect_log_made_by_inspect(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai", reason="inspect-ai is in an extra of its own")
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import includes
    from inspect_ai.solver import generate, use_tools
    from inspect_ai.tool import ToolCall, tool

    @tool
    def weigh() -> Any:
        async def execute(parcel: int) -> str:
            """Weigh a parcel.

            Args:
                parcel: Which one.
            """
            return f"{parcel + 2} kg"

        return execute

    asked = [ToolCall(id=f"c{n}", function="weigh", arguments={"parcel": n}) for n in (1, 2)]
    usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # else tokens are counted through the network
    said = [ChatMessageAssistant(content="on", tool_calls=asked), ChatMessageAssistant(content="3 kg")]
    outputs = [ModelOutput(choices=[ChatCompletionChoice(message=message)], usage=usage) for message in said]
    model = get_model("mockllm/model", custom_outputs=outputs)
    solver = [use_tools(weigh()), generate()]
    task = Task(dataset=[Sample(input="weigh", target="3 kg")], solver=solver, scorer=includes())
    eval(task, model=model, log_dir=str(tmp_path), log_format="eval", display="none")
    corpus, report = load(tmp_path, on_error="raise")
    assert calls(corpus[0]) == WEIGHED
    assert (corpus[0].steps[0].state, corpus[0].outcome) == ("on", True)
    assert report.files == {"inspect": 1}


def test_a_zip_bomb_is_not_opened(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai", reason="inspect-ai is in an extra of its own")
    import zipfile

    with zipfile.ZipFile(tmp_path / "bomb.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        archive.writestr("samples/1_epoch_1.json", b"0" * (300 << 20))
    with pytest.raises(InputError, match=r"unpacks from \d+ to 314572800 bytes; it was not opened"):
        load(tmp_path / "bomb.eval", on_error="raise")
