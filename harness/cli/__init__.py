"""The command line: arguments in, an exit status out (product contract, section 5).

Exit status: 0 conforms, 1 violations or failures found, 2 bad usage or unreadable input, 3 the harness itself failed.
"""

from __future__ import annotations

import io
import sys
import traceback

import typer

from harness.cli import anonymize, check, formats, lists, record, report, run, serve
from harness.cli.base import State, app
from harness.cli.settings import defaults
from harness.errors import HarnessError, InputError
from harness.reporting.excerpt import harmless

__all__ = ["anonymize", "app", "check", "formats", "lists", "main", "record", "report", "run", "serve"]


def main() -> None:
    """Run the program; whatever goes wrong ends in one line that says where and what to do."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        app(standalone_mode=True, default_map=defaults(typer.main.get_group(app)))
    except HarnessError as error:
        _fail(error, 2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:  # the system has no name, no room or no leave for a file
        refused = InputError(error.strerror or str(error), where=error.filename)
        refused.__cause__ = error
        _fail(refused, 2)
    except Exception as error:
        _fail(error, 3)


def _fail(error: Exception, status: int) -> None:
    if State.debug:
        traceback.print_exception(error)
        sys.exit(status)
    said = str(error) if isinstance(error, HarnessError) else f"streamproof itself failed: {type(error).__name__}: {error}"
    hint = "" if isinstance(error, HarnessError) else " (run again with --debug before the command, and report it)"
    sys.stderr.write(f"streamproof: {harmless(said)}{hint}\n")
    sys.exit(status)
