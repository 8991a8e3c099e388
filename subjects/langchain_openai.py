"""langchain-openai: ChatOpenAI over both of OpenAI's APIs."""

# /// script
# dependencies = ["langchain-openai==1.7.4"]
# [tool.streamproof]
# packages = {"*" = "langchain-openai"}
# dialects = ["openai-chat", "openai-responses"]
# omits = {openai-chat = ["reasoning"]}
# ///
from langchain_openai import ChatOpenAI
from langchain_turn import run
from streamproof_subject import serve


def turn(task):
    more = {"timeout": task.timeout, "max_retries": 0, "use_responses_api": task.dialect == "openai-responses"}
    return run(ChatOpenAI(model="a-model", base_url=task.url("/v1"), stream_usage=True, **more), task)


serve({"openai-chat": turn, "openai-responses": turn})
