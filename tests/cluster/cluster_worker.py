"""What a process of a cluster does: a worker, with a fault if one is asked for, or a command of Dask."""

import asyncio
import os
import platform
import time
from importlib import import_module

import warptsp.cluster.dask as on_dask
from warptsp.cluster import tasks


def command(name, *words):
    """What ``dask NAME`` does."""
    import_module(f"distributed.cli.dask_{name}").main(words)


def work(address, fault):
    """Work, with the fault old, aging, raises, slow, other-platform, or none."""
    asyncio.run(_work(address, fault))


async def _work(address, fault):
    from distributed import Worker

    improve = on_dask.improve_packed
    if fault == "old":
        tasks.__version__ = "0.0.9"
    elif fault == "aging":
        describe = on_dask._describe_here

        def describe_and_age():
            said = describe()
            tasks.__version__ = "0.0.9"
            return said

        on_dask._describe_here = describe_and_age
    elif fault == "raises":

        def raising(packed, is_dropped):
            raise ZeroDivisionError("a worker that cannot divide")

        on_dask.improve_packed = raising
    elif fault == "slow":

        def slow(packed, is_dropped):
            time.sleep(0.4)
            return improve(packed, is_dropped)

        on_dask.improve_packed = slow
    elif fault == "other-platform":
        platform.machine = lambda: "vax"
    async with Worker(address, nthreads=1, host="127.0.0.1", name=f"{fault}-{os.getpid()}") as worker:
        await worker.finished()
