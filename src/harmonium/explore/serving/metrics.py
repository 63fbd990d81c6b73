"""Metrics of requests, their numbers and times, in the text form of Prometheus over all processes of a service.

Every process counts in a file of its own, which the others read; so any of them answers for all, and what a process has
counted stays when it ends.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from pathlib import Path

import numpy as np

# upper ends of the buckets of times, in seconds: a convention
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_STATUSES = ("1xx", "2xx", "3xx", "4xx", "5xx")
# counts by status, then by bucket with those above all, then seconds
_WIDTH = len(_STATUSES) + len(_BUCKETS) + 1 + 1


class RequestMetrics:
    """Counts and times of requests by endpoint.

    Parameters
    ----------
    endpoints : sequence of str
        Names of the endpoints, the same in all processes.
    folder : Path, optional
        Where processes keep their counts. Without it this process counts for itself.

    Examples
    --------
    >>> metrics = RequestMetrics(["/predict.json"])
    >>> metrics.count("/predict.json", 200, 0.02)
    >>> "harmonium_requests_total{endpoint=\\"/predict.json\\",status=\\"2xx\\"} 1" in metrics.text()
    True
    """

    def __init__(self, endpoints: Sequence[str], folder: Path | None = None) -> None:
        self.endpoints = {name: number for number, name in enumerate([*endpoints, "other"])}
        self.folder = folder
        shape = (len(self.endpoints), _WIDTH)
        if folder is None:
            self.table = np.zeros(shape)
        else:
            self.table = np.memmap(folder / f"{secrets.token_hex(8)}.counts", np.float64, "w+", shape=shape)

    def count(self, endpoint: str, status: int, seconds: float) -> None:
        """Count a request.

        Parameters
        ----------
        endpoint : str
            Its endpoint; unknown ones are counted together.
        status : int
            Status of the answer.
        seconds : float
            How long it took.
        """
        row = self.table[self.endpoints.get(endpoint, self.endpoints["other"])]
        row[min(max(status // 100, 1), 5) - 1] += 1
        row[len(_STATUSES) + int(np.searchsorted(_BUCKETS, seconds))] += 1
        row[-1] += seconds

    def _total(self) -> np.ndarray:
        if self.folder is None:
            return self.table
        size = self.table.nbytes
        files = [file.read_bytes() for file in sorted(self.folder.glob("*.counts"))]
        tables = [np.frombuffer(content).reshape(self.table.shape) for content in files if len(content) == size]
        return np.sum(tables, axis=0)

    def text(self) -> str:
        """Return all counts in the text form of Prometheus.

        Returns
        -------
        str
            Counters of requests by endpoint and status, and histograms of their seconds.
        """
        total = self._total()
        counts = [
            "# HELP harmonium_requests_total Requests by endpoint and status.",
            "# TYPE harmonium_requests_total counter",
        ]
        times = [
            "# HELP harmonium_request_seconds Time from request to answer.",
            "# TYPE harmonium_request_seconds histogram",
        ]
        for name, number in self.endpoints.items():
            row = total[number]
            for status, value in zip(_STATUSES, row, strict=False):
                if value:
                    counts.append(f'harmonium_requests_total{{endpoint="{name}",status="{status}"}} {value:.0f}')
            below = np.cumsum(row[len(_STATUSES) : -1])
            if not below[-1]:
                continue
            for end, value in zip([*map(str, _BUCKETS), "+Inf"], below, strict=True):
                times.append(f'harmonium_request_seconds_bucket{{endpoint="{name}",le="{end}"}} {value:.0f}')
            times.append(f'harmonium_request_seconds_sum{{endpoint="{name}"}} {row[-1]:.6f}')
            times.append(f'harmonium_request_seconds_count{{endpoint="{name}"}} {below[-1]:.0f}')
        return "\n".join([*counts, *times]) + "\n"
