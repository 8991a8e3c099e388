"""boto3: the events of a Converse stream as botocore gives them, put together as AWS's own examples do."""

# /// script
# dependencies = ["boto3==1.44.8"]
# [tool.streamproof]
# packages = {"*" = "boto3"}
# dialects = ["bedrock-converse"]
# ///
import boto3
from botocore.config import Config
from streamproof_subject import call, counts, reply, serve

COUNTS = ("inputTokens", "outputTokens", "totalTokens", "cacheReadInputTokens", "cacheWriteInputTokens")


def converse(task):
    config = Config(read_timeout=task.timeout, retries={"total_max_attempts": 1})
    client = boto3.client("bedrock-runtime", endpoint_url=task.url(), config=config)
    asked = {"messages": [{"role": "user", "content": [{"text": task.prompt}]}]}
    texts, thoughts, calls, stop, usage, events = [], [], {}, None, None, []
    for event in client.converse_stream(modelId="a-model", **asked)["stream"]:
        events.append(event)
        for value in event.values():
            at, delta = value.get("contentBlockIndex"), value.get("delta", {})
            tool = value.get("start", {}).get("toolUse")
            if tool and tool.get("type") != "server_tool_use":
                calls[at] = call(tool["toolUseId"], tool["name"], "")
            texts.append(delta.get("text", ""))
            thoughts.append(delta.get("reasoningContent", {}).get("text", ""))
            if "toolUse" in delta and at in calls:
                calls[at]["arguments"] += delta["toolUse"]["input"]
            stop, usage = value.get("stopReason", stop), value.get("usage", usage)
    return reply("".join(texts), "".join(thoughts), calls.values(), stop, counts(usage, *COUNTS), events)


serve({"bedrock-converse": converse})
