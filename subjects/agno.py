"""agno: what its models make of a streamed turn, which is the message that its agents keep."""

# /// script
# dependencies = ["agno==3.1.10", "openai==3.57.0", "google-genai==3.6.1", "boto3==1.44.8", "ollama==0.6.3", "anthropic==2.14.0"]
# [tool.streamproof]
# packages = {"*" = "agno"}
# dialects = ["openai-chat", "openai-responses", "gemini", "bedrock-converse", "ollama-chat", "anthropic-messages"]
# environ = {AGNO_TELEMETRY = "false"}
# omits = {"*" = ["finish"], ollama-chat = ["id"]}
# ///
import boto3
from agno.models import anthropic, aws, google, ollama, openai
from agno.models.base import MessageData
from agno.models.message import Message
from streamproof_subject import call, counts, reply, serve

OPENAI = {"id": "a-model", "api_key": "none", "max_retries": 0}
COUNTS = ("input_tokens", "output_tokens", "total_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
MODELS = {
    "openai-chat": lambda at: openai.OpenAIChat(base_url=f"{at}/v1", **OPENAI),
    "openai-responses": lambda at: openai.OpenAIResponses(base_url=f"{at}/v1", **OPENAI),
    "gemini": lambda at: google.Gemini(id="a-model", api_key="none", client_params={"http_options": {"base_url": at}}),
    "bedrock-converse": lambda at: aws.AwsBedrock(id="a-model", client=boto3.client("bedrock-runtime", endpoint_url=at)),
    "ollama-chat": lambda at: ollama.Ollama(id="a-model", host=at),
    "anthropic-messages": lambda at: anthropic.Claude(id="claude-sonnet-4-5", client_params={"base_url": at, "max_retries": 0}),
}


def turn(task):
    model, body, data = MODELS[task.dialect](task.url()), Message(role="assistant"), MessageData()
    told = list(model.process_response_stream([Message(role="user", content=task.prompt)], body, data))
    model._populate_assistant_message_from_stream_data(body, data)
    listed = body.tool_calls or model.parse_tool_calls(data.response_tool_calls or [])
    calls = [call(c.get("call_id") or c["id"], c["function"]["name"], c["function"]["arguments"]) for c in listed]
    usage = {name: count or None for name, count in counts(body.metrics, *COUNTS).items()}  # there a 0 is what nobody told
    return reply(body.content, body.reasoning_content, calls, None, usage, [told, body, data])


serve(dict.fromkeys(MODELS, turn))
