"""What secrets look like in a text: the table, and `find`, which gives their places.

Each look has words of which a text must hold one, which makes most texts cheap, and an expression whose group `s`, or all of
it, is the secret. Texts are looked at through a *view* of the same length in which escapes of JSON and of addresses are blank:
a letter that belongs to an escape is no part of a word. So it does not matter how deeply a text is quoted.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from harness.redacting.placeholders import is_placeholder

_ESCAPED = re.compile(r"(?<!\\)\\+(?:u[0-9a-fA-F]{4}|[nrtbf])|%(?!40)[0-9A-Fa-f]{2}")
_LONGEST = 8192
NUMBER = "account or user number"
"""The kind of those that stand as a number of JSON."""
NUMBERS = "secret as a list of bytes"
"""The kind of those that stand as a list of such numbers."""
_SHORTEST_WORD = 6


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a secret stands, and what it is."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Look:
    """How one kind of secret is told. `sure` says of a match whether it is one."""

    kind: str
    words: tuple[str, ...]
    expression: re.Pattern[str]
    sure: Callable[[str], bool] = lambda _: True
    fold: bool = False


def _looks(kind: str, words: str, expression: str, sure: Callable[[str], bool] = lambda _: True, flags: int = 0) -> Look:
    flags |= re.ASCII | re.DOTALL
    return Look(kind, tuple(words.split()), re.compile(expression, flags), sure, bool(flags & re.IGNORECASE))


def is_random(text: str) -> bool:
    """Whether a text is hardly a word of a language: it has digits, or capitals inside, or was cut short by stars."""
    return any(letter.isdigit() or letter == "*" for letter in text) or any(
        before.islower() and letter.isupper() for before, letter in pairwise(text)
    )


def _is_key(text: str) -> bool:
    return len(text) >= 12 and any(c.isdigit() for c in text) and any(c.isalpha() for c in text)


def _is_ipv4(text: str) -> bool:
    numbers = [int(number) for number in text.split(".")]
    return all(number < 256 for number in numbers) and text not in ("127.0.0.1", "0.0.0.0")  # noqa: S104  # names no place


def _is_ipv6(text: str) -> bool:
    if text.count(":") < 2 or (text.count(":") < 7 and "::" not in text):
        return False
    groups = [group for group in text.split(":") if group]
    if len(groups) < 3 and not any(len(group) == 4 and group[0] in "23fF" for group in groups):
        return False
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def _is_id(text: str) -> bool:
    return any(letter.isdigit() or letter in "-_@|:" for letter in text)


_PREFIXES = (
    "gsk_ xai- hf_ r8_ pplx- nvapi- csk- fw_ tgp_v1_ ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- xoxa- xoxb- xoxp- xoxr- xoxs- "
    "AIza ya29. AQ. sk_live_ sk_test_ rk_live_ whsec_ npm_ dop_v1_ SG. pypi- lsv2_ jina_ ABSK bedrock-api-key- pa- esecret_ "
    "vck_ nvapi_ dckr_pat_ key-"
)
_CREDENTIAL_NAMES = (
    r"(?:x[_-])?(?:goog[_-])?api[_-]?keys?|api[_-]?(?:token|secret)|(?:access|refresh|id|auth|session|security|bearer)[_-]?token"
    r"|(?:proxy-)?authorization|passw(?:or)?d|passphrase|(?:client[_-]?|api[_-]?|app[_-]?)?secret|(?:aws[_-]?)?secret[_-]?access[_-]?key"
    r"|secret[_-]?key|(?:account|shared[_-]?access)[_-]?key|private[_-]?key(?:_id)?|(?:aws[_-]?)?access[_-]?key(?:[_-]?id)?|(?:aws[_-]?)?session[_-]?token"
    r"|x-amz-security-token|credentials?|(?:set-)?cookies?|connection[_-]?string"
)
_ID_NAMES = (
    r"(?:end[_-]?|external[_-]?)?user[_-]?(?:id|uuid|name|email|identifier)|end[_-]?user|account[_-]?(?:id|uuid|number|name)"
    r"|org(?:ani[sz]ation)?[_-]?(?:id|uuid|name)|organi[sz]ation|(?:project|tenant|workspace|customer|subscription|team)[_-]?id"
    r"|safety_identifier|client[_-]?ip|ip[_-]?address|remote[_-]?addr(?:ess)?|e[_-]?mail(?:[_-]?address)?|login"
)
_BEGUN = r"""(?<!\\)(?P<q>(?P<b>\\*)["'])(?:{names})(?P=q)\s*"""
_VALUE = r"""(?P=q)(?P<s>(?:(?P=b){{2}}\\(?:\\|["'])|(?!(?P=q)).){{1,{most}}}?)(?:(?P=q)|\Z)"""
"""A text, or what there is of one that was cut off. A quote that is quoted once more than those around it is part of it."""
_FIELD = rf"{_BEGUN}:\s*(?:\[\s*)?{_VALUE}"
_NAMED_FIELD = (
    r"""(?<!\\)(?P<q>(?P<b>\\*)["'])(?:name|key|header)(?P=q)\s*:\s*(?P=q)(?:{names})(?P=q)\s*,\s*(?P=q)value(?P=q)\s*:\s*"""
    + _VALUE
)
"""A field whose name is a value itself, as header fields are listed in a HAR."""
_NAMED = "key token secret passw passphrase authorization credential cookie connection"
_FORMS = (
    "key= keys= token= secret= id= authorization= passwd= password= passphrase= credential= credentials= cookie= cookies= "
    "string= verifier="
)
_OWNED = "user account org project tenant workspace customer subscription team safety ip addr mail login"

LOOKS = (
    _looks("API key", "sk-", r"(?<![A-Za-z0-9_-])sk-(?P<s>[A-Za-z0-9_*-]{12,})", is_random),
    _looks(
        "API key",
        _PREFIXES,
        rf"(?<![A-Za-z0-9_-])(?:{'|'.join(map(re.escape, _PREFIXES.split()))})(?P<s>[A-Za-z0-9_.*-]{{16,}})",
        is_random,
    ),
    _looks(
        "AWS access key id",
        "AKIA ASIA AROA AIDA ABIA ACCA",
        r"(?<![A-Za-z0-9])A(?:KIA|SIA|ROA|IDA|BIA|CCA)(?P<s>[A-Z0-9]{16,20})(?![A-Za-z0-9])",
    ),
    _looks("JSON web token", "eyJ", r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*"),
    _looks(
        "credential",
        "bearer basic",
        r"(?<![a-z])(?:bearer|basic)\s+(?P<s>[a-z0-9._~+/-]{8,}={0,2})",
        is_random,
        re.IGNORECASE,
    ),
    _looks(
        "private key",
        "PRIVATE",
        r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----(?P<s>.{1,20000}?)(?:-----END|\Z|[\"'])",
    ),
    _looks(
        "signature",
        "credential= signature= security-token= sig=",
        r"(?<![a-z])(?:x-(?:amz|goog)-(?:signature|credential|security-token)|credential|signature|sig)"
        r"=(?P<s>[^,\s&\"'\\<>;\x00]{16,})",
        flags=re.IGNORECASE,
    ),
    _looks(
        "key in an address",
        "key= token= secret= password= auth=",
        r"[?&;](?:[a-z_-]*[_-])?(?:key|apikey|token|secret|password|auth)=(?P<s>[^&\s\"'\\<>#;\x00]{8,})",
        is_random,
        re.IGNORECASE,
    ),
    _looks("password in an address", "://", r"://(?P<s>[^/?#@\s\"'\\<>\x00]{1,256})@(?=[A-Za-z0-9\[])"),
    _looks("credential", _NAMED, _FIELD.format(names=_CREDENTIAL_NAMES, most=_LONGEST), flags=re.IGNORECASE),
    _looks(
        "credential",
        "key secret token passw credential",
        r"(?:(?:api|account)[_-]?key|access[_-]?key(?:[_-]?id)?|secret|token|passw(?:or)?d|credential)\w{0,20}\s{0,3}[=:]\s{0,3}[\"']?"
        r"(?P<s>[a-z0-9._~+/-]{8,}={0,2})",
        _is_key,
        re.IGNORECASE,
    ),
    _looks("cookie", "cookie:", r"cookie:[ ]?(?P<s>[^\r\n\"'\\\x00]{3,4096})", flags=re.IGNORECASE),
    _looks("credential", "value", _NAMED_FIELD.format(names=_CREDENTIAL_NAMES, most=_LONGEST), flags=re.IGNORECASE),
    _looks(
        "credential",
        "name=",
        rf"\bname=\"?(?:{_CREDENTIAL_NAMES})\"?(?:;[^\r\n]*)?\r?\n(?:[^\r\n]{{1,200}}\r?\n){{0,4}}\r?\n(?P<s>[^\r\n]{{1,{_LONGEST}}})",
        flags=re.IGNORECASE,
    ),
    _looks(
        "credential",
        _FORMS,
        rf"(?:\A|&)(?:{_CREDENTIAL_NAMES}|token|code_verifier)=(?P<s>[^&#\s\"'\\<>;\x00]+)(?=[&#]|\s*\Z)",
        flags=re.IGNORECASE,
    ),
    _looks("credential", "-u --user", r"(?<!\S)(?:-u|--user)[ =][\"']?[\w.@-]+:(?P<s>[^\s\"'\\\x00]{6,})"),
    _looks("credential", "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<s>[A-Za-z0-9/]{20,})"),
    _looks("credential", "/api/webhooks/", r"/api/webhooks/[0-9]{5,}/(?P<s>[A-Za-z0-9_-]{20,})"),
    _looks("account or user id", _OWNED, _FIELD.format(names=_ID_NAMES, most=256), flags=re.IGNORECASE),
    _looks("account or user id", "user", _FIELD.format(names="user", most=64), _is_id),
    _looks(
        NUMBER,
        _OWNED,
        rf"""(?<!\\)(?P<q>\\*["'])(?:{_ID_NAMES})(?P=q)\s*:\s*(?P<s>[0-9]{{5,}})(?=\s*[,}}\]])""",
        flags=re.IGNORECASE,
    ),
    _looks(
        NUMBER,
        "passw passphrase secret",
        r"""(?<!\\)(?P<q>\\*["'])(?:passw(?:or)?d|passphrase|(?:client[_-]?)?secret)(?P=q)\s*:\s*(?P<s>[0-9]{4,})(?=\s*[,}\]])""",
        flags=re.IGNORECASE,
    ),
    _looks(
        "account or user id",
        "org- proj_ acct_ user- cus_ user_",
        r"(?<![A-Za-z0-9_-])(?:org-|proj_|acct_|user-|user_|cus_)(?P<s>[A-Za-z0-9]{8,})",
        is_random,
    ),
    _looks(
        "account or user id",
        "arn",
        r"arn(?::|\x01{3})aws[a-z-]*(?::|\x01{3})[a-z0-9-]*(?::|\x01{3})[a-z0-9-]*(?::|\x01{3})(?P<s>[0-9]{12})(?![0-9])",
    ),
    _looks("account or user id", ":iam: :sts:", r":(?:iam|sts):[a-z0-9-]*:[0-9]{12}:[a-z-]+/(?P<s>[A-Za-z0-9+=,.@_/-]+)"),
    _looks(
        "account or user id",
        "account organization",
        r"(?:account|organi[sz]ation)(?:[ _-]?(?:id|number))?[\s:=#]{1,3}(?P<s>[0-9]{8,})(?![0-9])",
        flags=re.IGNORECASE,
    ),
    _looks(
        "account or user id", "projects", r"projects(?:/|\x01{3})(?P<s>[a-z0-9:.-]{4,64})(?:/|\x01{3})locations(?:/|\x01{3})"
    ),
    _looks("account or user id", "accounts/", r"accounts/(?P<s>[0-9a-f]{32})(?![0-9a-f])"),
    _looks(
        "IP address",
        ".",
        r"(?<![0-9A-Za-z.])(?<![A-Za-z]/)(?P<s>[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3})(?![0-9A-Za-z]|\.[0-9])",
        _is_ipv4,
    ),
    _looks("IP address", "::", r"(?<![0-9A-Za-z:.])(?P<s>[0-9A-Fa-f:]{3,39})(?![0-9A-Za-z:])", _is_ipv6),
    _looks(
        "IP address",
        ":",
        r"(?<![0-9A-Za-z:.])(?P<s>[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4}){7})(?![0-9A-Za-z:])",
        _is_ipv6,
    ),
)
"""Every look. What is left of a match beside `s` stays, so that one sees what it was."""

_DOMAIN = re.compile(r"(?:@|%40)(?=([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,24}))(?![A-Za-z0-9-]*\.?/)", re.ASCII)
_USER = re.compile(r"://[^/?#@\s\"']*\Z")
"""Before the @ of an address that names its user: what follows is a host."""
_LOCAL = re.compile(r"[A-Za-z0-9][A-Za-z0-9.!#$&'*+=?^_{|}~-]*\Z", re.ASCII)


def find(text: str, secrets: Iterable[str] = ()) -> list[Spot]:
    """Every secret in a text, and those of `secrets`, which are known beforehand. Placeholders are none."""
    view = _ESCAPED.sub(_blank, text) if "\\" in text or "%" in text else text
    folded = view.casefold() if view.isascii() else view.lower()
    found = [*_of_looks(view, folded), *_emails(view)]
    for secret in secrets:
        found += _literally(text, secret)
    return [spot for spot in found if not is_placeholder(text[spot.start : spot.end])]


def _blank(escape: re.Match[str]) -> str:
    whole = escape[0]
    return ("\x01" if whole[0] == "%" else "\x00") * len(whole)


def _of_looks(view: str, folded: str) -> Iterator[Spot]:
    for look in LOOKS:
        hay = folded if look.fold else view
        if not any(word in hay for word in look.words):
            continue
        group = "s" if "s" in look.expression.groupindex else 0
        for match in look.expression.finditer(view):
            if look.sure(match[group]):
                yield Spot(*match.span(group), look.kind)


def _emails(view: str) -> Iterator[Spot]:
    """E-mail addresses, from their @ outward: a search from their start would take forever in a long word."""
    for at in _DOMAIN.finditer(view):
        local = _LOCAL.search(view, max(0, at.start() - 64), at.start())
        if local is not None and not _USER.search(view, max(0, at.start() - 256), at.start()):
            yield Spot(local.start(), at.end(1), "e-mail address")


def _literally(text: str, secret: str) -> Iterator[Spot]:
    start = text.find(secret) if len(secret) >= _SHORTEST_WORD else -1
    while start >= 0:
        yield Spot(start, start + len(secret), "known secret")
        start = text.find(secret, start + len(secret))
