"""Laws of reassembly: what holds for whoever reads a stream, whatever its API (REASM-), and laws of decoders (SSE-, NDJ-, …).

They judge a reader and not bytes: `reading` says what they look at, `accounts` what a stream says by a plain walk over it,
`changes` which other streams must come to the same turn. `conformance.readings` is the door to them.
"""

from __future__ import annotations

from harness.conformance.rules.reassembly.blobs import BLOBS
from harness.conformance.rules.reassembly.calls import CALLS
from harness.conformance.rules.reassembly.ends import ENDS
from harness.conformance.rules.reassembly.forms import FORMS
from harness.conformance.rules.reassembly.framing import BDR, EVS, JSA, NDJ, SSE
from harness.conformance.rules.reassembly.lone_surrogates import BYTES
from harness.conformance.rules.reassembly.texts import TEXTS
from harness.conformance.rules.reassembly.twins import TWINS

GROUPS = (SSE, NDJ, JSA, EVS, BDR, FORMS, TWINS, TEXTS, BLOBS, CALLS, ENDS, BYTES)
