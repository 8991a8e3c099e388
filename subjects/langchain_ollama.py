"""langchain-ollama: ChatOllama."""

# /// script
# dependencies = ["langchain-ollama==1.1.0"]
# [tool.streamproof]
# packages = {"*" = "langchain-ollama"}
# dialects = ["ollama-chat"]
# omits = {ollama-chat = ["id"]}
# ///
from langchain_ollama import ChatOllama
from langchain_turn import run
from streamproof_subject import serve


def turn(task):
    return run(ChatOllama(model="a-model", base_url=task.url(), client_kwargs={"timeout": task.timeout}, reasoning=True), task)


serve({"ollama-chat": turn})
