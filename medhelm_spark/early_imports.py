"""Imports that take long, begun in a thread while the work waits for something else."""

import threading
from contextlib import suppress
from importlib import import_module


def import_early(*names: str) -> None:
    """Import these modules in a thread; of one that is missing, the first use raises."""

    def load() -> None:
        for name in names:
            with suppress(ImportError):
                import_module(name)

    threading.Thread(target=load, daemon=True, name="medhelm-spark-imports").start()
