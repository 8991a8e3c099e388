"""Rendering: results as JSON lines, and what people read of them."""
