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
from botocore.config import Config
from streamproof_subject import call, counts, reply, serve

OPENAI, AWS = {"id": "a-model", "max_retries": 0}, "bedrock-runtime"
COUNTS = ("input_tokens", "output_tokens", "total_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
MODELS = {
    "openai-chat": lambda at, s: openai.OpenAIChat(base_url=f"{at}/v1", timeout=s, **OPENAI),
    "openai-responses": lambda at, s: openai.OpenAIResponses(base_url=f"{at}/v1", timeout=s, **OPENAI),
    "gemini": lambda at, s: google.Gemini(client_params={"http_options": {"base_url": at, "timeout": int(s * 1000)}}),
    "bedrock-converse": lambda at, s: aws.AwsBedrock(client=boto3.client(AWS, endpoint_url=at, config=Config(read_timeout=s))),
    "ollama-chat": lambda at, s: ollama.Ollama(host=at, timeout=s),
    "anthropic-messages": lambda at, s: anthropic.Claude(timeout=s, client_params={"base_url": at, "max_retries": 0}),
}


def turn(task):
    model, body, data = MODELS[task.dialect](task.url(), task.timeout), Message(role="assistant"), MessageData()
    told = list(model.process_response_stream([Message(role="user", content=task.prompt)], body, data))
    model._populate_assistant_message_from_stream_data(body, data)
    listed = body.tool_calls or model.parse_tool_calls(data.response_tool_calls or [])
    calls = [call(c.get("call_id") or c["id"], c["function"]["name"], c["function"]["arguments"]) for c in listed]
    usage = {name: count or None for name, count in counts(body.metrics, *COUNTS).items()}  # there a 0 is what nobody told
    return reply(body.content, body.reasoning_content, calls, None, usage, [told, body, data])


serve(dict.fromkeys(MODELS, turn))
