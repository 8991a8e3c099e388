"""Types of fields: what a client with types, as most vendors' own are, cannot read, and what it cannot do without.

The catalogue of rules has rows for single fields; here all that clients read are looked at, by the vocabulary of the dialect
(which field is a list, which an object) and a table of what its scalars are (`tables.py`). Where a rule has something to say of
the same place, only the rule speaks.
"""

from __future__ import annotations

from harness.conformance.rules.forms.tables import TABLES as _SCALARS
from harness.conformance.rules.forms.walk import FormsWalk
from harness.conformance.rules.rule import Rules

GROUPS: tuple[Rules, ...] = ()
WALKS = dict.fromkeys(_SCALARS, FormsWalk)
