"""The lint looks at all of a file: what is beside the two exchanges of a cassette is in the hands of whoever gets it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness import cassette
from tests import chat
from tests.exchanges import cassette as case_of
from tests.exchanges import exchange, sse
from tests.redacting.secrets import SECRETS
from tests.test_cli import Command, streamproof  # noqa: F401  # a fixture

KEY = SECRETS["OpenAI key"]
TURN = sse(chat.text("Ebb"), chat.stops())
TOKENS = {
    "request": {"method": "POST", "uri": "https://auth.tide.example/token", "body": "a=1", "headers": {}},
    "response": {"status": {"code": 200}, "headers": {}, "body": {"string": '{"access_token": "low-water-mark"}'}},
}


def put(document: dict[str, Any], place: str) -> None:
    first, metadata = document["interactions"][0], document["metadata"]
    match place:
        case "another exchange":
            document["interactions"].append(TOKENS)
        case "a field":
            document["note"] = KEY
        case "a field of an interaction":
            first["note"] = KEY
        case "the name of a header field":
            first["response"]["headers"][KEY] = ["1"]
        case "the reason phrase":
            first["response"]["status"]["message"] = KEY
        case "features":
            metadata["streamproof"]["features"] = [KEY]
        case "other metadata":
            metadata["tide"] = {"inside": [{"key": KEY}]}
        case "a name":
            document[KEY] = {"a": 1}


PLACES = (
    *("another exchange", "a field", "a field of an interaction", "the name of a header field", "the reason phrase"),
    *("features", "other metadata", "a name"),
)


@pytest.mark.parametrize("ending", ["yaml", "json"])
@pytest.mark.parametrize("place", PLACES)
def test_what_is_beside_the_exchanges(place: str, ending: str, streamproof: Command, tmp_path: Path) -> None:  # noqa: F811
    file = tmp_path / f"case.{ending}"
    cassette.save(case_of(exchange(TURN)), tmp_path / "whole.yaml")
    document = yaml.safe_load((tmp_path / "whole.yaml").read_text())
    (tmp_path / "whole.yaml").unlink()
    for planted in (False, True):
        if planted:
            put(document, place)
        file.write_text(json.dumps(document, default=str) if ending == "json" else yaml.safe_dump(document))
        for path in (file, tmp_path):
            done = streamproof("cassettes", "--lint", str(path))
            assert done.status == (1 if planted else 0), done.out
            assert KEY not in done.out
            assert "low-water" not in done.out


def test_a_comment(streamproof: Command, tmp_path: Path) -> None:  # noqa: F811
    file = tmp_path / "case.yaml"
    cassette.save(case_of(exchange(TURN)), file)
    file.write_text(f"# recorded with {KEY}\n{file.read_text()}")
    assert streamproof("cassettes", "--lint", str(file)).out.splitlines()[1:] == ["1 cassettes, 1 place looks like secrets"]


def test_a_file_without_a_turn_is_looked_at_in_a_folder(streamproof: Command, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "login.yaml").write_text(yaml.safe_dump({"version": 1, "interactions": [TOKENS]}))
    done = streamproof("cassettes", "--lint", str(tmp_path), "--json")
    assert (done.status, [(row["side"], row["part"]) for row in done.lines]) == (1, [("interaction 0", "response body")])
