"""Redacting exchanges and cassettes: heads, addresses, compressed bodies; and the lint, which finds what it takes out."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness import cassette
from harness.cassette import saving
from harness.cassette.model import Cassette, Chunk, Exchange, Headers, Provenance, Request
from harness.redacting import leaks, redacted, redacted_cassette, redacted_request
from tests.exchanges import CHAT, document, exchange
from tests.exchanges import cassette as case_of
from tests.redacting.secrets import ALL, BODIES, SECRETS, core, said
from tests.test_cli import Command, streamproof  # noqa: F401  # a fixture


def everywhere(kind: str) -> dict[str, Exchange]:
    """Exchanges that hold a secret in each place that an exchange has."""
    secret, plain = ALL[kind], exchange(said("high"))
    request = plain.request
    places = {
        "response header": replace(plain, headers=Headers([*plain.headers.fields, ("x-note", f"it is {secret} .")])),
        "request header": replace(plain, request=replace(request, headers=Headers({"user-agent": f"tide {secret} ."}))),
        "request body": replace(plain, request=replace(request, body=json.dumps({"note": f"a {secret} ."}).encode())),
        "target": replace(plain, request=replace(request, target=f"{CHAT}?note=/{secret}")),
    }
    return places | {way: exchange(make(secret)) for way, make in BODIES.items()}


@pytest.mark.parametrize("kind", ALL)
def test_planted_secrets_do_not_reach_the_disk(kind: str, tmp_path: Path) -> None:
    for place, holder in everywhere(kind).items():
        clean = redacted_cassette(case_of(holder))
        cassette.save(clean, tmp_path / "clean.yaml")
        assert core(kind) not in (tmp_path / "clean.yaml").read_text().replace("\\", ""), place
        assert list(leaks(clean)) == [], place
        assert list(leaks(case_of(holder))), place


def test_the_key_is_found_wherever_the_server_repeats_it() -> None:
    key = "breakwater-of-the-old-harbour"
    body = json.dumps({"error": {"message": f"no such key: {key}"}}).encode()
    request = Request(target=CHAT, headers=Headers({"x-api-key": key}), body=b'{"stream":true}')
    clean = redacted(Exchange(request=request, status=401, chunks=(Chunk(data=body),)))
    assert key.encode() not in clean.body
    assert clean.request.headers["x-api-key"] == "xxxxxxxxxx-xx-xxx-xxx-xxxxxxx"
    assert clean.json == {"error": {"message": "no such key: xxxxxxxxxx-xx-xxx-xxx-xxxxxxx"}}


def test_the_key_of_one_side_is_found_in_the_other() -> None:
    key = "breakwater-of-the-old-harbour"
    first = exchange(said("high"))
    stream = replace(first, request=replace(first.request, headers=Headers({"authorization": f"Bearer {key}"})))
    clean = redacted_cassette(case_of(stream, document({"note": key})))
    assert clean.reference is not None
    assert key not in repr(clean)


def test_a_signed_request() -> None:
    value = (
        "AWS4-HMAC-SHA256 Credential=AKIAT1DEWATERLEV3L77/20261201/eu-west-1/bedrock/aws4_request, "
        "SignedHeaders=host;x-amz-date, Signature=7b3f0c9d5a1e8842b6d4f0a9c7e51322"
    )
    clean = redacted_request(Request(headers=Headers({"authorization": value})))
    assert clean.headers["authorization"] == (
        "AWS4-HMAC-SHA256 Credential=XXXXX0XXXXXXXXXX0X00/00000000/xx-xxxx-0/xxxxxxx/xxx0_xxxxxxx, "
        "SignedHeaders=host;x-amz-date, Signature=0x0x0x0x0x0x0000x0x0x0x0x0x00000"
    )


@pytest.mark.parametrize(
    ("host", "clean"),
    [
        ("keeper:l1ght@api.tide.invalid:8080", "api.tide.invalid:8080"),
        ("tide-table.openai.azure.com", "xxxx-xxxxx.openai.azure.com"),
        ("10.20.30.40:8000", "00.00.00.00:8000"),
        ("127.0.0.1:8000", "127.0.0.1:8000"),
        ("api.openai.com", "api.openai.com"),
    ],
)
def test_hosts(host: str, clean: str) -> None:
    assert redacted_request(Request(host=host)).host == clean


@pytest.mark.parametrize(
    ("target", "clean"),
    [
        ("/v1/projects/tide-4711/locations/eu/models/m:streamGenerateContent", None),
        ("/v1/0123456789abcdef0123456789abcdef/tide/openai", "/v1/0000000000xxxxxx0000000000xxxxxx/tide/openai"),
        ("/x?key=a%2Fb&maxTokens=3&X-Amz-Signature=0af3", "/x?key=x%2Fx&maxTokens=3&X-Amz-Signature=0xx0"),
    ],
)
def test_targets(target: str, clean: str | None) -> None:
    clean = clean or target.replace("tide-4711", "xxxx-0000")
    assert redacted_request(Request(target=target)).target == clean


def test_for_whom_a_request_is_made() -> None:
    body = b'{"model":"m","user":"keeper","safety_identifier":"jo","metadata":{"user_id":"jo","trip":"7"}}'
    clean = redacted_request(Request(body=body)).body
    assert clean == b'{"model":"m","user":"xxxxxx","safety_identifier":"xx","metadata":{"user_id":"xx","trip":"7"}}'


def test_a_compressed_body_is_searched() -> None:
    plain = said(SECRETS["OpenAI key"])
    packed = gzip.compress(plain, mtime=0)
    chunks = (Chunk(data=packed[:30], at=0.5), Chunk(data=packed[30:], at=0.75))
    headers = Headers({"content-type": "text/event-stream", "content-encoding": "gzip", "content-length": str(len(packed))})
    clean = redacted(Exchange(headers=headers, chunks=chunks))
    assert SECRETS["OpenAI key"].encode() not in clean.body
    assert [chunk.at for chunk in clean.chunks] == [0.5, 0.75]
    assert list(clean.headers) == ["content-type"]
    assert b"sk-xxxx-X0xxXxx0xXxx0xX0xx00" in clean.body
    harmless = gzip.compress(said("high"), mtime=0)
    kept = Exchange(headers=headers, chunks=(Chunk(data=harmless),))
    assert redacted(kept).chunks == kept.chunks
    assert redacted(kept).headers.fields == kept.headers.fields


def test_what_a_cassette_says_of_itself() -> None:
    case = case_of(exchange(said("high")), provenance=Provenance(note="from keeper@tide.example"))
    assert [leak.part for leak in leaks(case)] == ["note"]
    assert redacted_cassette(case).provenance.note == "from xxxxxx@xxxx.xxxxxxx"


def test_a_cassette_without_secrets_is_the_same() -> None:
    case = case_of(exchange(said("high"), pieces=9), document({"a": 1}))
    clean = redacted_cassette(case)
    assert clean.stream is not None
    assert (clean.stream.chunks, clean.stream.headers.fields) == (case.stream.chunks, case.stream.headers.fields)  # type: ignore[union-attr]


# the lint


def written(folder: Path, case: Cassette, name: str = "case") -> Path:
    cassette.save(case, folder / f"{name}.yaml")
    return folder / f"{name}.yaml"


def test_the_lint_finds_all_and_shows_none(streamproof: Command, tmp_path: Path) -> None:  # noqa: F811
    for number, kind in enumerate(ALL):
        written(tmp_path, case_of(exchange(said(ALL[kind])), id=f"kind-{number}"), f"kind-{number:02}")
    done = streamproof("cassettes", "--lint", str(tmp_path), "--json")
    assert done.status == 1
    assert {row["id"] for row in done.lines} == {f"kind-{number}" for number in range(len(ALL))}
    assert not [kind for kind in ALL if core(kind) in done.out]


def test_the_lint_passes_what_is_clean(streamproof: Command, tmp_path: Path) -> None:  # noqa: F811
    written(tmp_path, case_of(exchange(said("high"))))
    done = streamproof("cassettes", "--lint", str(tmp_path))
    assert (done.status, done.out) == (0, "1 cassettes, 0 places look like secrets\n")


def test_the_shipped_cassettes_are_clean() -> None:
    assert [f"{case.id}: {leak}" for case in cassette.load(cassette.shipped()) for leak in leaks(case)] == []


# imports


def as_har(side: Exchange) -> bytes:
    request = side.request
    content = {"mimeType": "text/event-stream", "encoding": "base64", "text": base64.b64encode(side.body).decode()}
    headers = [{"name": name, "value": value} for name, value in request.headers.fields]
    asked = {
        "method": "POST",
        "url": f"https://10.20.30.40{request.target}",
        "headers": headers,
        "postData": {"mimeType": "application/json", "text": (request.body or b"").decode()},
    }
    entry = {
        "request": asked,
        "response": {"status": 200, "headers": list(map(field, side.headers.fields)), "content": content},
    }
    return json.dumps({"log": {"version": "1.2", "creator": {"name": "t", "version": "1"}, "entries": [entry]}}).encode()


def field(pair: tuple[str, str]) -> dict[str, str]:
    return {"name": pair[0], "value": pair[1]}


def as_vcrpy(side: Exchange) -> bytes:
    return saving.rendered(case_of(side), metadata=False)


@pytest.mark.parametrize("form", [as_har, as_vcrpy])
@pytest.mark.parametrize("kind", ALL)
def test_planted_secrets_do_not_pass_an_import(
    kind: str,
    form: Callable[[Exchange], bytes],
    streamproof: Command,  # noqa: F811
    tmp_path: Path,
) -> None:
    for number, holder in enumerate(everywhere(kind).values()):
        file = tmp_path / f"capture-{number}.{'har' if form is as_har else 'yaml'}"
        file.write_bytes(form(holder))
        done = streamproof("import", file, "--to", f"kept-{number}", "--dialect", "openai-chat")
        assert done.status == 0, done.err
        (made,) = (tmp_path / f"kept-{number}").rglob("*.yaml")
        assert core(kind) not in made.read_text().replace("\\", "")
        assert list(leaks(cassette.load_one(made))) == []
        assert "20.30" not in str(made.relative_to(tmp_path))
