"""Speaks streamproof's process protocol for a Python client. Standard library only: copy it, or put it on PYTHONPATH.

    from streamproof_subject import call, reply, serve

    def chat(task):
        answer = my_client(base_url=task.url("/v1"), timeout=task.timeout).ask(**task.request)
        return reply(text=answer.text, finish=answer.finish, raw=answer.dump())

    serve({"openai-chat": chat})

A function may be `async`. What it raises is told as the failure of the turn. What the client prints goes to standard error.
"""

import asyncio
import ipaddress
import json
import os
import re
import sys
import warnings
from importlib import metadata

OUTSIDE = []  # addresses off this machine that the client tried since the turn began


class Task:
    """One turn: `request` is the recorded request's body; `prompt` and `tools` are what it asks, in plain words."""

    def __init__(self, asked):
        self.dialect, self.request, self.stream = asked["dialect"], asked["request"], asked["stream"]
        self.base_url, self.timeout = asked["base_url"].rstrip("/"), asked["timeout_s"]
        self.model = self.request.get("model") or asked.get("model") or "a-model"

    def url(self, path=""):
        return self.base_url + path

    def asked(self, *but):
        """The recorded request without its streaming switch and without these fields."""
        return {name: value for name, value in self.request.items() if name not in ("stream", *but)}

    @property
    def functions(self):
        """The tools as OpenAI's Chat has them, which most frameworks take."""
        names = ("name", "description", "parameters")
        return [{"type": "function", "function": dict(zip(names, tool, strict=True))} for tool in self.tools]

    @property
    def prompt(self):
        said = self.request.get("input") or self.request.get("messages") or self.request.get("contents") or "Hello"
        texts = [said] if isinstance(said, str) else list(_texts(said[-1:]))
        return " ".join(texts)[:2000] or "Hello"

    @property
    def tools(self):
        """The tools as (name, description, parameters), whichever API they were told to."""
        config = self.request.get("toolConfig") or {}
        listed = self.request.get("tools") or (config.get("tools") if isinstance(config, dict) else None) or []
        return [tool for entry in listed if isinstance(entry, dict) for tool in _tools(entry)]


def _texts(node):
    if isinstance(node, dict):
        if isinstance(node.get("text"), str):
            yield node["text"]
        for key in ("content", "parts"):
            inner = node.get(key)
            yield from [inner] if isinstance(inner, str) else _texts(inner)
    elif isinstance(node, list):
        for item in node:
            yield from _texts(item)


def _tools(entry):
    for tool in entry.get("functionDeclarations") or [entry.get("function") or entry.get("toolSpec") or entry]:
        schema = (
            tool.get("parameters") or tool.get("parametersJsonSchema") or tool.get("input_schema") or tool.get("inputSchema")
        )
        schema = schema.get("json", schema) if isinstance(schema, dict) else {"type": "object", "properties": {}}
        if tool.get("name"):
            yield tool["name"], tool.get("description") or "A tool.", lowered(schema)


def lowered(schema):
    """A JSON schema whose types are in lower case, as JSON Schema has them and Gemini does not."""
    if isinstance(schema, dict):
        low = {key: lowered(value) for key, value in schema.items()}
        return {**low, "type": low["type"].lower()} if isinstance(low.get("type"), str) else low
    return [lowered(item) for item in schema] if isinstance(schema, list) else schema


def call(id, name, arguments):
    return {"id": id, "name": name, "arguments": arguments}


def counts(usage, *paths):
    """The counts of a usage by their paths: input, output, total, cached, cache written, reasoning."""
    names = ("input_tokens", "output_tokens", "total_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens")
    return {name: get(usage, path) for name, path in zip(names, paths, strict=False) if path} if usage else None


def reply(text=None, reasoning=None, calls=(), finish=None, usage=None, raw=None):
    finish = getattr(finish, "value", finish)
    told = {"text": text, "reasoning": reasoning or None, "tool_calls": list(calls), "finish_reason": finish, "usage": usage}
    return {"response": told, "raw": raw}


def get(value, path, default=None):
    """What stands at `a.b.0.c`, of attributes, keys and positions; the default where a step leads nowhere."""
    for step in path.split("."):
        if isinstance(value, dict):
            value = value.get(step)
        elif step.isdigit():
            value = value[int(step)] if isinstance(value, (list, tuple)) and int(step) < len(value) else None
        else:
            value = getattr(value, step, None)
        if value is None:
            return default
    return value


def plain(value, depth=0):
    """Any object as JSON can say it."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if depth > 12:
        return repr(value)[:500]
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, dict):
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain(item, depth + 1) for item in value]
    try:
        return value.model_dump(mode="json", warnings=False)
    except Exception:
        held = getattr(value, "__dict__", None) or {n: getattr(value, n, None) for n in getattr(value, "__slots__", ())}
        return plain(held, depth + 1) if held else repr(value)[:500]


def serve(speaks, packages=None):
    """Answer questions until told to stop. `speaks` has a function for each dialect."""
    said = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    sys.addaudithook(_watch)
    about = json.loads(os.environ.get("STREAMPROOF_SUBJECT", "{}"))
    packages = packages or about.get("packages") or {}
    with asyncio.Runner() as loop:
        for line in sys.stdin:
            asked = json.loads(line)
            if asked["op"] == "stop":
                break
            answer = _described(about, speaks, packages) if asked["op"] == "describe" else _answer(asked, speaks, loop)
            try:
                text = json.dumps(answer)
            except (TypeError, ValueError):
                text = json.dumps(plain(answer))
            said.write(text + "\n")
            said.flush()
    sys.stdout.flush()
    os._exit(0)  # clients leave threads behind that would keep the program alive


def _described(about, speaks, packages):
    versions = {}
    for dialect in speaks:
        package = packages.get(dialect) or packages.get("*")
        versions[dialect] = f"{package} {_version(package)}" if package else "unknown"
    main = packages.get("*") or next(iter(packages.values()), None)
    version = about.get("version") or _version(main)
    return {
        "name": about.get("name", "subject"),
        "version": version,
        "language": "python",
        "dialects": list(speaks),
        "packages": versions,
    }


def _version(package):
    try:
        return metadata.version(package)
    except (metadata.PackageNotFoundError, TypeError, ValueError):
        return "unknown"


def _answer(asked, speaks, loop):
    OUTSIDE.clear()
    answer = {"id": asked["id"], "response": None, "error": None}
    try:
        told = speaks[asked["dialect"]](Task(asked)) if asked["dialect"] in speaks else {"unsupported": "another dialect"}
        if asyncio.iscoroutine(told):
            told = loop.run(told)
        answer.update(told)
    except NotImplementedError as error:
        answer["unsupported"] = str(error)
    except BaseException as error:  # SystemExit too: some clients leave that way
        answer["error"] = {"type": _name(error), "message": _words(error)}
    answer["outside"] = sorted(set(OUTSIDE))
    return answer


def _name(error):
    return f"{type(error).__module__}.{type(error).__qualname__}"


def _words(error):
    words = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1", str(error))[:2000]
    cause = error.__cause__ or error.__context__
    return f"{words} (from {_name(cause)}: {str(cause)[:300]})" if cause else words


def _watch(event, args):
    """Refuse, and remember, every connection that leaves this machine."""
    if event == "socket.connect":
        host = args[1][0] if isinstance(args[1], tuple) else None
    elif event == "socket.getaddrinfo":
        host = args[0]
    else:
        return
    host = host.decode() if isinstance(host, bytes) else host
    if host in (None, "", "localhost") or _is_loopback(host):
        return
    OUTSIDE.append(str(host))
    raise OSError(101, f"streamproof: {host} is not on this machine")


def _is_loopback(host):
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
