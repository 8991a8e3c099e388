"""langchain-google-genai: ChatGoogleGenerativeAI."""

# /// script
# dependencies = ["langchain-google-genai==4.4.3"]
# [tool.streamproof]
# packages = {"*" = "langchain-google-genai"}
# dialects = ["gemini"]
# ///
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_turn import run
from streamproof_subject import serve


def turn(task):
    model = ChatGoogleGenerativeAI(model="gemini-2.5-flash", base_url=task.url(), timeout=task.timeout, max_retries=0)
    return run(model, task)


serve({"gemini": turn})
