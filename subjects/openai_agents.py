"""openai-agents: a streamed run of an agent until its model has answered, and the response that ends the run's raw events."""

# /// script
# dependencies = ["openai-agents==0.24.0"]
# [tool.streamproof]
# packages = {"*" = "openai-agents"}
# dialects = ["openai-chat", "openai-responses"]
# environ = {OPENAI_AGENTS_DISABLE_TRACING = "1"}
# omits = {openai-chat = ["finish"]}
# ///
from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner
from openai import AsyncOpenAI
from openai_counts import ENDS, respond
from streamproof_subject import serve


async def turn(task):
    kind = OpenAIChatCompletionsModel if task.dialect == "openai-chat" else OpenAIResponsesModel
    model = kind("a-model", AsyncOpenAI(base_url=task.url("/v1"), timeout=task.timeout, max_retries=0))
    agent = Agent("subject", model=model, model_settings=ModelSettings(include_usage=True))
    run, told = Runner.run_streamed(agent, task.prompt, max_turns=1), []
    async for event in run.stream_events():
        told += [event.data] if event.type == "raw_response_event" else []
        if told and told[-1].type in ENDS:
            run.cancel()  # what follows is the running of tools
    return respond(told)


serve({"openai-chat": turn, "openai-responses": turn})
