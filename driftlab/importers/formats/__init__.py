"""One file a foreign format."""

__all__ = [
    "agents_sdk",
    "atif",
    "claude_code",
    "codex",
    "hf_datasets",
    "inspect_eval",
    "intercode",
    "langfuse",
    "langgraph",
    "langsmith",
    "mini_swe_agent",
    "mlflow",
    "native",
    "openai",
    "openhands",
    "otel",
    "plain",
    "swe_agent",
    "tau_bench",
]
