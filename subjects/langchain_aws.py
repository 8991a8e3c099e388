"""langchain-aws: ChatBedrockConverse, and ChatBedrock over the vendors' own bodies."""

# /// script
# dependencies = ["langchain-aws==1.9.1"]
# [tool.streamproof]
# packages = {"*" = "langchain-aws"}
# dialects = ["bedrock-converse", "bedrock-invoke"]
# ///
from langchain_aws import ChatBedrock, ChatBedrockConverse
from langchain_turn import run
from streamproof_subject import serve


def turn(task):
    kind = ChatBedrockConverse if task.dialect == "bedrock-converse" else ChatBedrock
    return run(kind(model=task.model, endpoint_url=task.url(), timeout=task.timeout), task)


serve({"bedrock-converse": turn, "bedrock-invoke": turn})
