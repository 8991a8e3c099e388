"""langchain-anthropic: ChatAnthropic."""

# /// script
# dependencies = ["langchain-anthropic==1.7.10"]
# [tool.streamproof]
# packages = {"*" = "langchain-anthropic"}
# dialects = ["anthropic-messages"]
# ///
from langchain_anthropic import ChatAnthropic
from langchain_turn import run
from streamproof_subject import serve


def turn(task):
    model = ChatAnthropic(
        model="claude-sonnet-4-5", base_url=task.url(), timeout=task.timeout, max_retries=0, stream_usage=True
    )
    return run(model, task)


serve({"anthropic-messages": turn})
