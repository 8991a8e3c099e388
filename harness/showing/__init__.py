"""What a stream looks like while it passes: the command `replay`. The verb is `watch`."""
