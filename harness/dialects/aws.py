"""What AWS puts around any model's payload, in both of its APIs for models: failures in frames and over HTTP, guardrails.

Facts from wire/bedrock-converse.md section 7 and botocore's service model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.api_error import ApiError, api_error
from harness.dialects.translating import BaseTranslator
from harness.edits import Edit, Path
from harness.framing import Frame
from harness.vocabulary import Many, Shape

EXCEPTION = Shape("message Message originalStatusCode originalMessage p")

_AMOUNTS = Shape("guarded total")
_MATCHES = Many(Shape("name match type regex action detected"))
_FILTERS = Many(Shape("type confidence filterStrength threshold score action detected"))
_FORMULAS = Many(Shape("logic naturalLanguage"))
_TRANSLATION = Shape(
    "confidence",
    premises=_FORMULAS,
    claims=_FORMULAS,
    untranslatedPremises=Many(Shape("text")),
    untranslatedClaims=Many(Shape("text")),
)
_SCENARIO = Shape(statements=_FORMULAS)
_RULES = Many(Shape("identifier policyVersionArn"))
_PROOF = Shape(
    translation=_TRANSLATION,
    claimsTrueScenario=_SCENARIO,
    claimsFalseScenario=_SCENARIO,
    supportingRules=_RULES,
    contradictingRules=_RULES,
    logicWarning=Shape("type", premises=_FORMULAS, claims=_FORMULAS),
    options=Many(Shape(translations=Many(_TRANSLATION))),
    differenceScenarios=Many(_SCENARIO),
)
_FINDING = Shape(
    valid=_PROOF,
    invalid=_PROOF,
    satisfiable=_PROOF,
    impossible=_PROOF,
    translationAmbiguous=_PROOF,
    tooComplex=Shape(),
    noTranslations=Shape(),
)
ASSESSMENT = Shape(
    topicPolicy=Shape(topics=_MATCHES),
    contentPolicy=Shape(filters=_FILTERS),
    wordPolicy=Shape(customWords=_MATCHES, managedWordLists=_MATCHES),
    sensitiveInformationPolicy=Shape(piiEntities=_MATCHES, regexes=_MATCHES),
    contextualGroundingPolicy=Shape(filters=_FILTERS),
    automatedReasoningPolicy=Shape(findings=Many(_FINDING)),
    invocationMetrics=Shape(
        "guardrailProcessingLatency",
        usage=Shape(
            "topicPolicyUnits contentPolicyUnits contentPolicyImageUnits wordPolicyUnits sensitiveInformationPolicyUnits "
            "sensitiveInformationPolicyFreeUnits contextualGroundingPolicyUnits automatedReasoningPolicyUnits "
            "automatedReasoningPolicies"
        ),
        guardrailCoverage=Shape(textCharacters=_AMOUNTS, images=_AMOUNTS),
    ),
    appliedGuardrailDetails=Shape("guardrailId guardrailVersion guardrailArn guardrailOrigin guardrailOwnership"),
)
"""What one guardrail said of one text; traces have them by the guardrail's id."""


def failed(frame: Frame) -> bool:
    """Whether the frame says that the turn failed: an exception of the API's model, or an error outside it."""
    kind = (frame.headers or {}).get(":message-type")
    return kind in ("exception", "error") or (frame.name or "").endswith("Exception")


def failure(frame: Frame, body: dict[str, Any]) -> ApiError:
    """The failure that a frame carries; `body` is its payload. Its type is the name on the wire, in lower camel case."""
    told = body.get("message") or body.get("Message") or body.get("originalMessage")
    return api_error(
        told or (frame.headers or {}).get(":error-message"),
        type=frame.name,
        code=body.get("originalStatusCode"),
        raw=body or dict(frame.headers or {}),
    )


def read_http_error(status: int, headers: Mapping[str, str], body: Any) -> ApiError:
    """The failure that a response with an error status carries: its type stands in a header, followed by a URL."""
    fields = body if isinstance(body, dict) else {}
    named = next((value for name, value in headers.items() if name.lower() == "x-amzn-errortype"), fields.get("__type"))
    kind = named.split(":", maxsplit=1)[0].rsplit("#", 1)[-1] if isinstance(named, str) else None
    message = fields.get("message") or fields.get("Message") or (body if isinstance(body, str) else None)
    return api_error(message, status=status, type=kind, raw=body)


class FramesTranslator(BaseTranslator):
    """A failure needs no payload that can be read: errors outside the service model have everything in their headers. So those
    who watch are told that such a one is an empty object."""

    def _odd(self, frame: Frame) -> list[Edit]:
        if not failed(frame):
            return super()._odd(frame)
        if self.watch is not None:
            self.watch(frame, {}, True)
        return [self.fail(failure(frame, {}), frame)]

    def _strange(self, value: Any, frame: Frame) -> list[Edit]:
        if failed(frame) and not isinstance(value, dict):
            return [self.fail(failure(frame, {}), frame)]
        return super()._strange(value, frame)


_UNIONS = {
    "content": {"text", "toolUse", "toolResult", "reasoningContent", "citationsContent", "image", "document", "video", "audio"},
    "reasoningContent": {"reasoningText", "redactedContent"},
    "location": {"web", "documentChar", "documentPage", "documentChunk", "searchResultLocation"},
}


def union_member(path: Path, element: dict[str, Any]) -> str | None:
    """Which member of one of Converse's unions an object is, at `path` or in the list there."""
    members = _UNIONS.get(str(path[-1]), set()) if path else set()
    return next((name for name in element if name in members), None)
