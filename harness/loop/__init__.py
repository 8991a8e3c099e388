"""The loop: one turn, its events, retry, fan-out and the agent loop around it (semantics.md sections 2 to 4)."""
