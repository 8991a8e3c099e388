"""What a Responses stream says again with another value by its nature: each place with the recording that shows it.

The evidence names a recording of the corpus.
"""

from harness.dialects.protocol import PathSet

VOLATILE = PathSet(
    {
        "output/*/encrypted_content": "encrypted anew for the terminal response: "
        "ai__openai-responses-programmatic-tool-calling-1-0-aeaa",
        "output/*/fingerprint": "encrypted anew for the terminal response: "
        "ai__openai-responses-programmatic-tool-calling-1-0-aeaa",
        "output/*/content/*/logprobs/*/logprob": "full precision in deltas, six digits in the finished item: "
        "chatlas__test-provider-openai-test-openai-logprobs-0-0e11",
    }
)
