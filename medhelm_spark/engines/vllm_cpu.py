"""What makes vLLM fast on a machine's CPUs and cannot be said by an argument or a variable."""

import ctypes

# glibc's malloc.h.
M_TRIM_THRESHOLD = -1
M_MMAP_THRESHOLD = -3

LARGEST = 1 << 30


def use_threads(count: int) -> None:
    """Computes in so many threads, even where the OpenMP library was loaded before.

    LD_PRELOAD does that, and Spark's variable of one thread is read then.
    """
    import torch

    torch.set_num_threads(count)


def keep_memory() -> bool:
    """Tells glibc to use freed memory again instead of giving it back; False where it is not glibc.

    An activation of some ten MB would otherwise be mapped anew, page by page, in every layer of
    every step: an eighth of the time (docs/decisions/0007).
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(M_MMAP_THRESHOLD, LARGEST) and mallopt(M_TRIM_THRESHOLD, LARGEST))
