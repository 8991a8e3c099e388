"""The authored cassettes: one module an API, each a list of short descriptions that become the two bodies of a turn.

`wire` has the encoders, written from the formats and apart from the readers in `harness`; `case` puts bytes into a cassette.
What is said in the turns is our own. A description is a list of pieces: the stream sends them one by one, the twin joins them.
"""
