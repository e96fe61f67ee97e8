"""Instance and AdapterSpec in, Prompt, Decoding and the ids of a Request out: pure functions."""
