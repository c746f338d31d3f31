"""Message routing, the layer beside the engine: what happens to a message in a channel next."""
