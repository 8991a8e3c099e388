"""For people who test their own client: `ProviderConformance`, a pytest class that asks it for every cassette and fault.

    from harness.testing import ProviderConformance


    class TestMyAdapter(ProviderConformance):
        dialects = ["openai-chat", "bedrock-converse"]

        async def observe(self, request, base_url):
            turn = await MyAdapter(base_url).ask(request.body)
            return {"text": turn.text, "tool_calls": turn.calls, "finish_reason": turn.finish, "usage": turn.usage}

docs/plugin.md tells the rest.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.testing.conformance import Known, ProviderConformance
    from harness.testing.request import Request

__all__ = ["Known", "ProviderConformance", "Request"]


def __getattr__(name: str) -> Any:
    """The plugin is a part of this package, and is loaded with every pytest: only who asks for the class loads the rest."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from harness.testing import conformance

    return getattr(conformance, name)
