"""Checkpoints of posterior sampling: everything that the next move depends on, in one safetensors file."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from harmonium.exceptions import ModelFileError
from harmonium.params import Parameters
from harmonium.training.base import Driver, Training
from harmonium.training.posterior import MarkovChain, Posterior
from harmonium.training.priors import Moments, Normal

_SECONDS = 30.0  # between two checkpoints: a convention, without influence on results


@dataclass
class Checkpoint:
    """Where a run keeps its state, if anywhere, and which run it is."""

    path: Path | None
    run: str
    written: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, path: str | os.PathLike[str] | None, driver: Driver, target: str, n_iter: int) -> Checkpoint:
        """Return the checkpoint of a run, known by the driver's settings, what is sampled, and earlier epochs."""
        settings = {name: value for name, value in driver.get_params(deep=False).items() if name != "checkpoint"}
        return cls(None if path is None else Path(path), f"{sorted(settings.items())} {target} {n_iter}")

    def read(self, training: Training) -> Posterior | None:
        """Return the posterior as it was written, and restore the record; return None if there is no file."""
        if self.path is None or not self.path.exists():
            return None
        try:
            with safe_open(self.path, framework="numpy") as file:
                facts = json.loads(file.metadata()["harmonium"])
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
        except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
            raise ModelFileError(
                f"A checkpoint must be a file that an earlier fit has written; {self.path} is not; pass another path."
            ) from error
        if facts["run"] != self.run:
            raise ValueError(
                f"A checkpoint can only be resumed with the same settings and data; {self.path} is of another run; "
                "set them back, pass another path, or delete the file."
            )
        training.history, training.n_iter = facts["history"], facts["n_iter"]
        return _posterior(facts, arrays)

    def write(self, posterior: Posterior, training: Training) -> None:
        """Write the state if it is time to; the old file is replaced in one step."""
        if self.path is None or time.monotonic() - self.written < _SECONDS:
            return
        facts = {
            "run": self.run,
            "history": training.history,
            "n_iter": training.n_iter,
            "n_moves": posterior.n_moves,
            "n_warmup": posterior.n_warmup,
            "n_planned": posterior.n_planned,
            "n_draws": posterior.n_draws,
            "target": posterior.target,
            "streams": [_stream_state(chain.rng) for chain in posterior.chains],
            "views": list(posterior.prior),
            "counts": {view: moments.count for view, moments in posterior.moments.items()},
        }
        temporary = self.path.with_name(f"{self.path.name}.partial")
        try:
            save_file(_arrays(posterior), temporary, metadata={"harmonium": json.dumps(facts)})
            os.replace(temporary, self.path)
        except (SafetensorError, OSError) as error:
            raise OSError(f"A checkpoint must be a path that can be written; {self.path} cannot ({error}).") from error
        self.written = time.monotonic()

    def remove(self) -> None:
        """Remove the file: the run is complete, and nothing is left to resume."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def _stream_state(rng: np.random.Generator) -> dict[str, Any]:
    """Return the state of a random stream; refuse generators whose state JSON cannot hold."""
    state = dict(rng.bit_generator.state)
    if state["bit_generator"] != "PCG64":  # the only one that estimators make
        raise TypeError(f"A checkpoint needs the random numbers of PCG64; got {state['bit_generator']}; pass a seed.")
    return state


def _arrays(posterior: Posterior) -> dict[str, np.ndarray]:
    """Return all arrays of a posterior, by the names they have in the file."""
    arrays: dict[str, np.ndarray] = {}
    for view, prior in posterior.prior.items():
        arrays |= {f"prior/{view}/mean": prior.mean, f"prior/{view}/variance": prior.variance}
    for view, moments in posterior.moments.items():
        arrays |= {f"moments/{view}/total": moments.total, f"moments/{view}/squares": moments.squares}
    for number, chain in enumerate(posterior.chains):
        for group, values in (("parameters", chain.parameters), ("memory", chain.memory)):
            arrays |= {f"{number}/{group}/{name}": value for name, value in values.items()}
        if chain.draws:
            for name in chain.draws[0]:
                arrays[f"{number}/draws/{name}"] = np.stack([draw[name] for draw in chain.draws])
    return {name: np.ascontiguousarray(value) for name, value in arrays.items()}


def _posterior(facts: dict[str, Any], arrays: dict[str, np.ndarray]) -> Posterior:
    """Return the posterior from the facts and arrays of a file."""
    chains = []
    for number, state in enumerate(facts["streams"]):
        rng = np.random.default_rng(0)
        rng.bit_generator.state = state
        draws = _under(f"{number}/draws/", arrays)
        chain = MarkovChain(_under(f"{number}/parameters/", arrays), rng, _under(f"{number}/memory/", arrays))
        chain.draws = [{name: value[i] for name, value in draws.items()} for i in range(facts["n_draws"])]
        chains.append(chain)
    prior = {view: Normal(arrays[f"prior/{view}/mean"], arrays[f"prior/{view}/variance"]) for view in facts["views"]}
    moments = {
        view: Moments(arrays[f"moments/{view}/total"], arrays[f"moments/{view}/squares"], count)
        for view, count in facts["counts"].items()
    }
    return Posterior(chains, prior, moments, facts["n_moves"], facts["n_warmup"], facts["n_planned"], facts["target"])


def _under(prefix: str, arrays: dict[str, np.ndarray]) -> Parameters:
    """Return the arrays whose names start with a prefix, without it."""
    return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}
