"""Addresses: what a path says to the server, and what it leaves to the client."""

from __future__ import annotations

import pytest

from harness.serving.address import Address, parse, path_of

IDS = {"chat/here/ebb", "chat/here/ebb/more", "chat/here/ebb#2", "f"}
TURN = "/v1/chat/completions?a=1&b=%2F"


def parsed(target: str) -> Address:
    return parse(target, IDS.__contains__, 4)


def test_what_the_client_appends_is_left_as_it_is() -> None:
    assert parsed(f"/c/chat/here/ebb{TURN}") == Address(cassette="chat/here/ebb", rest=TURN)
    assert parsed("/c/chat/here/ebb/model/a%3A0%2Fb/converse-stream").rest == "/model/a%3A0%2Fb/converse-stream"
    assert parsed(TURN) == Address(rest=TURN)
    assert parsed("/c/chat/here/ebb").rest == "/"


def test_steps_come_in_any_order() -> None:
    wanted = Address(session="7", cassette="chat/here/ebb", faults=("crlf", "pieces:3"), rest="/api/chat")
    assert parsed("/s/7/c/chat/here/ebb/f/crlf/f/pieces:3/api/chat") == wanted
    assert parsed("/f/crlf/c/chat/here/ebb/f/pieces%3A3/s/7/api/chat") == wanted


def test_the_longest_id_wins() -> None:
    assert parsed("/c/chat/here/ebb/more/v1").cassette == "chat/here/ebb/more"
    assert parsed("/c/chat/here/ebb/other/v1") == Address(cassette="chat/here/ebb", rest="/other/v1")


def test_an_unknown_id_is_told() -> None:
    assert parsed("/c/chat/there/ebb/v1").lost == "chat/there/ebb"
    assert parsed("/c/../../etc/passwd").lost == "../../etc"


def test_a_cassette_is_named_once() -> None:
    assert parsed("/c/chat/here/ebb/c/f/v1").rest == "/c/f/v1"


def test_a_target_with_a_host_is_that_of_a_proxys_client() -> None:
    assert parsed("http://127.0.0.1:80/c/chat/here/ebb/v1") == Address(cassette="chat/here/ebb", rest="/v1")


@pytest.mark.parametrize("name", sorted(IDS))
@pytest.mark.parametrize("faults", [(), ("crlf",), ("crlf", "pieces:3")])
@pytest.mark.parametrize("session", [None, "a b/c?d#e", "é"])
def test_paths_lead_back(name: str, faults: tuple[str, ...], session: str | None) -> None:
    path = path_of(name, *faults, session=session)
    assert parsed(path + TURN) == Address(session=session, cassette=name, faults=faults, rest=TURN)
