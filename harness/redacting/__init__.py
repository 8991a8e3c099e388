"""Taking secrets out of recordings: keys, cookies, account, organisation and user ids, e-mail and IP addresses, signatures.

`redacted` gives an exchange, `redacted_cassette` a cassette, `redacted_chunks` a body that came in pieces, each as it was but
for the secrets, in whose place stand placeholders of the same length: letters become x and X, digits 0. So bytes, cuts and
offsets hold, what was equal stays equal, and redacting again changes nothing. `leaks` says what there is to take out, and
`leaks_beside` what else there is in the file of a cassette.

A secret may lie across two pieces, or two payloads that a client joins, or inside base64: a body is therefore looked at as a
whole (`bodies`), never as it comes. Nothing here waits for that: recorders keep what they got in memory, and it passes through
here on its way to a file.
"""

from harness.redacting.cassettes import Leak, leaks, redacted_cassette
from harness.redacting.exchanges import redacted, redacted_chunks, redacted_request
from harness.redacting.files import leaks_beside, print_of
from harness.redacting.looks import find
from harness.redacting.placeholders import is_placeholder, placeholder

__all__ = [
    "Leak",
    "find",
    "is_placeholder",
    "leaks",
    "leaks_beside",
    "placeholder",
    "print_of",
    "redacted",
    "redacted_cassette",
    "redacted_chunks",
    "redacted_request",
]
