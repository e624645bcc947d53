"""Solve an instance on workers that Slurm starts: python slurm.py INSTANCE OUTPUT JOBS TIME_LIMIT

Run it where it may run as long as the search, such as in a job of its own; it submits the workers'
jobs. Needs: pip install 'warptsp[dask]' dask-jobqueue, in an environment that all nodes see.
"""

import sys

from dask_jobqueue import SLURMCluster
from distributed import Client

import warptsp


def main(instance: str, output: str, jobs: int, seconds: float) -> None:
    """Start so many jobs, search for so many seconds, write the tour."""
    cluster = SLURMCluster(
        queue="compute",
        walltime="04:00:00",
        # One job: a process with 16 threads, each of which has a task of its own. For nodes with GPUs:
        # cores=1, and job_extra_directives=["--gpus=1"].
        cores=16,
        processes=1,
        memory="32GB",
        worker_extra_args=["--memory-limit", "0"],
    )
    with cluster, Client(cluster) as client:
        cluster.scale(jobs=jobs)
        result = warptsp.solve(
            instance,
            cluster=client,
            cluster_params={"wait": 3600.0},  # seconds that the jobs may be in the queue
            time_limit=seconds,
            checkpoint=output + ".checkpoint",
        )
    result.save(output)
    print(result.summary())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
