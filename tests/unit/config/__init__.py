"""Tests of configuration: every mistake a user can make is one sentence."""
