"""Whose fault a breach is, as far as it depends on who answered. The bytes of a stream show that something is wrong; who stands
between the model and the client says who can have done it."""

from __future__ import annotations

from types import MappingProxyType

from harness.conformance.rules.rule import Blame
from harness.conformance.rules.sights import Case

GATEWAYS = MappingProxyType(
    {
        "cloudflare-gateway": "passes requests on to the provider that their path names",
        "copilot": "answers with models of other vendors",
        "databricks": "serves external models beside its own",
        "heroku": "answers with models that run on Bedrock",
        "huggingface": "its router hands requests to inference providers",
        "litellm": "translates requests and streams between APIs",
        "ollama-openai-proxy": "translates the Ollama API into Chat Completions",
        "openrouter": "hands requests to other providers",
        "portkey": "translates requests and streams between APIs",
        "pydantic-gateway": "passes requests on to vendors",
        "snowflake": "answers with models of other vendors",
        "vercel-gateway": "hands requests to other providers",
    }
)
"""Providers that stand in front of others, with the reason. What they send, they vouch for, whoever wrote it first."""

SERVERS = frozenset({
    "alibaba", "avian", "azure", "bedrock", "cerebras", "cloudflare", "crusoe", "cyllama", "deepseek", "doubleword",
    "gpustack", "groq", "llamacpp", "lmstudio", "mistral", "mistralrs", "moonshot", "ollama", "ollama-cloud", "perplexity",
    "sglang", "together", "venice", "vertex", "vllm", "xai", "zai",
})  # fmt: skip
"""Providers that run the models they answer with, and speak an API of another vendor."""

_PROXY_HEADERS = ("x-litellm-", "x-portkey-", "helicone-", "cf-aig-", "x-kong-")


def whose(said: Blame, case: Case) -> Blame:
    """Of a server and a gateway, the one that it was, where the provider or the headers tell."""
    if said is not Blame.SERVER_OR_GATEWAY:
        return said
    if case.provider in GATEWAYS:
        return Blame.GATEWAY
    if any(name.startswith(_PROXY_HEADERS) for name in case.exchange.headers):
        return said  # somebody stood in between
    return Blame.SERVER if case.first_party or case.provider in SERVERS else said
