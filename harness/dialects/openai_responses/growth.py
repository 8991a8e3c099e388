"""Which events make a text of an item grow, and which repeat it (wire/openai-responses.md sections 3 and 7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.edits import PartKind, Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """A text that grows: in an element of the list at `list` in an item, or in the item itself.

    `item` is the type of the item that has such a text, `index` the field of the events that tells the element, `field`
    where the text stands in the element (or item), `done` the field of the last event that repeats it whole. `element` is
    what the element holds when it was never announced; None where elements need no announcement.
    """

    item: str
    kind: PartKind
    field: Path
    done: str
    list: Path = ()
    index: str = ""
    element: dict[str, Any] | None = None


_TEXT = Growth(
    item="message",
    kind=PartKind.TEXT,
    list=("content",),
    index="content_index",
    field=("text",),
    done="text",
    element={"type": "output_text", "annotations": [], "text": ""},
)
_REASONING = Growth(
    item="reasoning",
    kind=PartKind.REASONING,
    list=("content",),
    index="content_index",
    field=("text",),
    done="text",
    element={"type": "reasoning_text", "text": ""},
)

_GROWTHS = {
    "response.output_text": _TEXT,
    "response.refusal": Growth(
        item="message",
        kind=PartKind.REFUSAL,
        list=("content",),
        index="content_index",
        field=("refusal",),
        done="refusal",
        element={"type": "refusal", "refusal": ""},
    ),
    "response.reasoning_text": _REASONING,
    "response.reasoning": _REASONING,
    "response.reasoning_summary_text": Growth(
        item="reasoning",
        kind=PartKind.REASONING,
        list=("summary",),
        index="summary_index",
        field=("text",),
        done="text",
        element={"type": "summary_text", "text": ""},
    ),
    "response.function_call_arguments": Growth(
        item="function_call", kind=PartKind.TOOL_CALL, field=("arguments",), done="arguments"
    ),
    "response.custom_tool_call_input": Growth(item="custom_tool_call", kind=PartKind.TOOL_CALL, field=("input",), done="input"),
    "response.mcp_call_arguments": Growth(item="mcp_call", kind=PartKind.OTHER, field=("arguments",), done="arguments"),
    "response.code_interpreter_call_code": Growth(
        item="code_interpreter_call", kind=PartKind.OTHER, field=("code",), done="code"
    ),
    "response.apply_patch_call_operation_diff": Growth(
        item="apply_patch_call", kind=PartKind.OTHER, field=("operation", "diff"), done="diff"
    ),
    "response.shell_call_command": Growth(
        item="shell_call",
        kind=PartKind.OTHER,
        list=("action", "commands"),
        index="command_index",
        field=(),
        done="command",
    ),
}
SHELL_OUTPUT = {  # the texts of a `shell_call_output_content` delta
    name: Growth(
        item="shell_call_output",
        kind=PartKind.OTHER,
        list=("output",),
        index="command_index",
        field=(name,),
        done="output",
    )
    for name in ("stdout", "stderr")
}
DELTAS = {f"{name}.delta": growth for name, growth in _GROWTHS.items()}
DONES = {f"{name}.done": growth for name, growth in _GROWTHS.items()}

PARTS = {  # events that announce an element of a list and repeat it whole: the list, and the field that tells the element
    "response.content_part": (("content",), "content_index"),
    "response.reasoning_part": (("content",), "content_index"),
    "response.reasoning_summary_part": (("summary",), "summary_index"),
}

CALLS = frozenset({"function_call", "custom_tool_call"})


def carried_out(item: dict[str, Any], tools: Any) -> bool:
    """Whether a custom call is of a tool that the provider carries out by itself, as the response's `tools` tell: xAI tells its
    own searches so (recorded: openai-responses/xai/tool-call). A response without a list of tools tells nothing."""
    listed = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    if item.get("type") != "custom_tool_call" or not listed:
        return False
    return item.get("name") not in {tool.get("name") for tool in listed if tool.get("type") in ("custom", "function")}


"""Items that the client is to carry out."""

SKELETONS: dict[str, dict[str, Any]] = {  # what an item of a type holds that was never announced
    "message": {"role": "assistant", "content": []},
    "reasoning": {"summary": []},
    "function_call": {"call_id": "", "name": "", "arguments": ""},
    "custom_tool_call": {"call_id": "", "name": "", "input": ""},
    "mcp_call": {"name": "", "arguments": ""},
    "code_interpreter_call": {"code": ""},
    "apply_patch_call": {"operation": {"diff": ""}},
    "shell_call": {"action": {"commands": []}},
    "shell_call_output": {"output": []},
}
