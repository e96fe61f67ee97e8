"""These tests are collected only where the extra `summarization` is installed."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("bert_score") else ["test_*.py"]
