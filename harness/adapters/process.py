"""A system under test in a process of its own, spoken to in JSON lines.

The subject may crash, hang, print, or eat memory: each is told as what it is, the process is ended, and the next question goes
to a new one. It gets an environment without the caller's variables: no keys, no proxies, a home of its own.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness.adapters.protocol import Described, Said

GRACE = 5.0
"""Seconds that a subject has beyond what its client may wait."""
START = 120.0
"""Seconds that a subject has to load its packages."""
MEMORY = 3 << 30
"""Bytes that a subject may hold."""
_LONGEST = 64 << 20  # of a line
_KEPT = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "TMPDIR")
_EVERY = 0.2  # seconds between looks at the memory

KEYS = {
    "OPENAI_API_KEY": "sk-none",
    "ANTHROPIC_API_KEY": "none",
    "GEMINI_API_KEY": "none",
    "GOOGLE_API_KEY": "none",
    "AWS_ACCESS_KEY_ID": "none",
    "AWS_SECRET_ACCESS_KEY": "none",
    "AWS_REGION": "us-east-1",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_MAX_ATTEMPTS": "1",
    "NO_PROXY": "*",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONUNBUFFERED": "1",
}
"""What clients insist on having; none of it opens anything."""


class Ending(StrEnum):
    """How a question ended."""

    REPLY = "reply"
    EXIT = "exit"
    HANG = "hang"
    GARBAGE = "garbage"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came of a question: the reply, or what became of the subject, with the end of what it wrote to standard error."""

    ending: Ending
    reply: Mapping[str, Any] | None = None
    evidence: str = ""
    seconds: float = 0.0


class Process:
    """Asks a subject. One question at a time; `close` ends it."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        about: Mapping[str, Any],
        environ: Mapping[str, str] | None = None,
        memory: int = MEMORY,
        grace: float = GRACE,
    ) -> None:
        self._command = list(command)
        self._home = tempfile.TemporaryDirectory(prefix="streamproof-subject-", ignore_cleanup_errors=True)
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        self._environ = {**kept, **KEYS, "HOME": self._home.name, "STREAMPROOF_SUBJECT": json.dumps(about), **(environ or {})}
        self._memory = memory
        self._grace = grace
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._stderr: deque[bytes] = deque(maxlen=40)
        self._keeper: threading.Thread | None = None

    def describe(self) -> Described | Answer:
        """Who it says it is; an `Answer` if it does not say."""
        answer = self._ask({"op": "describe"}, START)
        if answer.reply is None:
            return answer
        try:
            return Described.model_validate(answer.reply)
        except ValidationError as error:
            return self._spoilt(f"no description: {error.errors()[0]['msg']}")

    def run(self, asked: Mapping[str, Any]) -> tuple[Said | None, Answer]:
        """Have it do one turn. No `Said` without a proper reply."""
        if self._process is None:
            self.describe()  # the loading of packages is not held against the turn
        answer = self._ask({"op": "run", **asked}, asked["timeout_s"] + self._grace)
        if answer.reply is None:
            return None, answer
        try:
            said = Said.model_validate(answer.reply)
        except ValidationError as error:
            first = error.errors()[0]
            return None, self._spoilt(f"no reply: {'.'.join(map(str, first['loc']))}: {first['msg']}")
        if said.id != asked["id"]:
            return None, self._spoilt(f"a reply to {said.id!r}, where {asked['id']!r} was asked")
        return said, answer

    def close(self) -> None:
        """Tell it to stop, and end it if it does not."""
        process = self._process
        if process is not None:
            with suppress(OSError, ValueError):
                _write(process, {"op": "stop"})
                if process.stdin is not None:
                    process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                process.wait(1)
        self._end()
        self._home.cleanup()

    def _ask(self, message: Mapping[str, Any], patience: float) -> Answer:
        began = time.monotonic()
        try:
            process = self._process or self._start()
            _write(process, message)
        except BrokenPipeError:
            return self._exited(began)
        except OSError as error:
            return self._ended(Ending.EXIT, str(error), began)
        return self._heard(process, began, patience)

    def _heard(self, process: subprocess.Popen[bytes], began: float, patience: float) -> Answer:
        while time.monotonic() - began < patience:
            try:
                line = self._lines.get(timeout=_EVERY)
            except queue.Empty:
                if _resident(process.pid) > self._memory:
                    return self._ended(Ending.MEMORY, f"it held more than {self._memory >> 20} MiB", began)
                continue
            if line is None:
                return self._exited(began)
            try:
                reply = json.loads(line)
            except ValueError:
                reply = None
            if not isinstance(reply, dict):
                shown = line[:200].decode(errors="replace").rstrip()
                return self._ended(Ending.GARBAGE, f"it printed what is no JSON object: {shown!r}", began)
            return Answer(ending=Ending.REPLY, reply=reply, seconds=time.monotonic() - began)
        return self._ended(Ending.HANG, f"no reply within {patience:g} s", began)

    def _exited(self, began: float) -> Answer:
        status: int | None = None
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                status = self._process.wait(2)
        return self._ended(Ending.EXIT, f"it ended with status {status}", began)

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(  # noqa: S603 - the subject's own command
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self._environ,
            cwd=self._home.name,
            start_new_session=True,
        )
        self._process, self._lines = process, queue.SimpleQueue()
        self._stderr.clear()
        threading.Thread(target=_pump, args=(process.stdout, self._lines), daemon=True).start()
        self._keeper = threading.Thread(target=_keep, args=(process.stderr, self._stderr), daemon=True)
        self._keeper.start()
        return process

    def _spoilt(self, why: str) -> Answer:
        return self._ended(Ending.GARBAGE, why, time.monotonic())

    def _ended(self, ending: Ending, why: str, began: float) -> Answer:
        self._end()
        if self._keeper is not None:
            self._keeper.join(1)  # its last words may still be on their way
        last = b"".join(self._stderr).decode(errors="replace").strip()[-1500:]
        return Answer(ending=ending, evidence=f"{why}\n{last}".strip(), seconds=time.monotonic() - began)

    def _end(self) -> None:
        """End it, and whatever it started."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            process.wait(5)
        with suppress(OSError, ValueError):
            if process.stdin is not None:
                process.stdin.close()


def _write(process: subprocess.Popen[bytes], message: Mapping[str, Any]) -> None:
    if process.stdin is not None:
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()


def _pump(pipe: Any, lines: queue.SimpleQueue[bytes | None]) -> None:
    with suppress(OSError, ValueError), pipe:
        while line := pipe.readline(_LONGEST):
            lines.put(line)
    lines.put(None)


def _keep(pipe: Any, kept: deque[bytes]) -> None:
    with suppress(OSError, ValueError), pipe:
        while line := pipe.readline(4096):
            kept.append(line)


def _resident(pid: int) -> int:
    """The memory that a process holds in bytes, 0 where nobody says."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
