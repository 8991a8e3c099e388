"""openai-agents: its two models, and the response that they give to the run."""

# /// script
# dependencies = ["openai-agents==0.24.0"]
# [tool.streamproof]
# packages = {"*" = "openai-agents"}
# dialects = ["openai-chat", "openai-responses"]
# environ = {OPENAI_AGENTS_DISABLE_TRACING = "1"}
# omits = {openai-chat = ["finish"]}
# ///
from agents import ModelSettings, ModelTracing, OpenAIChatCompletionsModel, OpenAIResponsesModel
from openai import AsyncOpenAI
from openai_counts import respond
from streamproof_subject import serve

NOTHING = {"tools": [], "output_schema": None, "handoffs": [], "previous_response_id": None, "conversation_id": None}
SETTINGS = {"model_settings": ModelSettings(include_usage=True), "tracing": ModelTracing.DISABLED, "prompt": None}


async def turn(task):
    kind = OpenAIChatCompletionsModel if task.dialect == "openai-chat" else OpenAIResponsesModel
    model = kind("a-model", AsyncOpenAI(base_url=task.url("/v1"), timeout=task.timeout, max_retries=0))
    return respond([event async for event in model.stream_response(None, task.prompt, **NOTHING, **SETTINGS)])


serve({"openai-chat": turn, "openai-responses": turn})
