"""What the classifier and the regressor share: a head, the choice of C and epochs, scores."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, Literal

import numpy as np
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from harmonium.batch import Targets
from harmonium.estimators.harmonium import Harmonium
from harmonium.estimators.labels import Labels, check_length
from harmonium.exceptions import HarmoniumWarning, InvalidViewError
from harmonium.families import Family
from harmonium.heads import LABEL, Head, Hinge, LabelView, LinearHead
from harmonium.hidden import HiddenLayer, SpikeSlab
from harmonium.kernels.threads import compute
from harmonium.objectives import Discriminative, Objective, Problem
from harmonium.params import HEAD_BIAS, HEAD_WEIGHTS
from harmonium.persist import Fitted
from harmonium.training import Driver, Stochastic, Training
from harmonium.training.monitor import cost_of_description
from harmonium.training.path import AUTO_PATH, Choice, Stage, choose, held_out_folds
from harmonium.training.progress import Reporter
from harmonium.views import Views

# what C is taken to be where there are too few labels to choose it by
_USUAL_C = 1.0
_FEWEST_LABELS = 10


class Supervised(Harmonium):
    """A harmonium with a head."""

    head_: Head
    selection_: dict[str, list[float]]
    _parameter_constraints: dict[str, list[Any]] = {
        **Harmonium._parameter_constraints,
        "head": [Head, None],
        "validation_fraction": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(
        self,
        n_components: int = 50,
        *,
        views: Any = "infer",
        hidden: HiddenLayer | None = None,
        objective: Objective | None = None,
        head: Head | None = None,
        driver: Driver | None = None,
        validation_fraction: float = 0.15,
        output: Literal["mean", "natural", "coordinates"] = "mean",
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_components,
            views=views,
            hidden=hidden,
            objective=objective,
            driver=driver,
            output=output,
            warm_start=warm_start,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.head = head
        self.validation_fraction = validation_fraction

    # ---- fitting -------------------------------------------------------------------------------------------------
    def _driver(self) -> Driver:
        if self.driver is not None:
            return self.driver
        # steps of units that share their second moment are larger, in reach and against decay too
        larger = 3.0 if isinstance(self.hidden, SpikeSlab) else 1.0
        return Stochastic(
            batch_size=None,
            learning_rate=0.01 * larger,
            reach=0.5 * larger,
            schedule="constant",
            weight_decay=0.5 / larger,
            average=True,
        )

    def _default_head(self, kind: str) -> Head:
        raise NotImplementedError

    def _labelled(self, views: Views, labels: Labels | None, goes_on: bool) -> tuple[Views, dict[str, Family]]:
        assert labels is not None
        check_length(labels, len(views))
        targets = labels.targets
        head = self.head_ if goes_on else self._bound_head(labels)
        if self.head is not None and type(self.head) is not type(head):
            raise ValueError(
                f"Training can only go on with the head it began with, {type(head).__name__}; got "
                f"{type(self.head).__name__}; set it back, or fit with warm_start=False."
            )
        if isinstance(head, Hinge):
            targets = head.weighted(targets, labels.classes)
        targets = Targets(head.encode(targets.values), targets.weight)
        if not goes_on:
            self.head_ = head
        added: dict[str, Family] = {}
        if isinstance(head, LabelView):
            if LABEL in views.names:
                raise InvalidViewError(
                    f"With LabelView() no view of X may be called {LABEL!r}; got one; rename it, or leave it out."
                )
            if len(np.unique(targets.weight[targets.weight > 0])) > 1 and not isinstance(
                self._objective(), Discriminative
            ):
                warnings.warn(
                    "A label that is a view is there or not: of sample_weight only zeros are used; pass "
                    "objective=Discriminative() or a head such as Hinge() to weigh rows.",
                    HarmoniumWarning,
                    stacklevel=6,
                )
            views = views.with_view(LABEL, head.matrix(targets))
            added = {LABEL: head.family}
        return views.with_targets(targets), added

    def _bound_head(self, labels: Labels) -> Head:
        head = self.head if self.head is not None else self._default_head(labels.kind)
        head.check()
        if labels.kind not in head.kinds:
            words = {"class": "classes", "number": "numbers", "label": "several labels at once"}
            takes = " or ".join(words[kind] for kind in head.kinds)
            raise ValueError(f"{type(head).__name__} predicts {takes}; y holds {words[labels.kind]}; leave head out.")
        return head.bind(labels.targets, [len(classes) for classes in labels.classes])

    def _begin(self, problem: Problem, views: Views, rng: np.random.Generator) -> Training:
        training = super()._begin(problem, views, rng)
        problem.head = self.head_
        self._nats = cost_of_description(problem, training.parameters, views)
        if isinstance(self.head_, LinearHead):
            training.parameters.update(self.head_.initial_parameters(problem.energy.hidden))
            self.C_ = _USUAL_C if self.head_.C == "auto" else float(self.head_.C)
            problem.strength = self.C_ * self._nats
        return training

    def _check_batches(self) -> None:
        super()._check_batches()
        if isinstance(self.head, LinearHead) and self.head.solver == "alternate":
            raise AttributeError(
                "partial_fit needs a head with solver='joint'; got 'alternate', which solves for all rows at once; use "
                "fit instead."
            )

    def _planned_rows(self, driver: Driver, n_rows: int, goes_on: bool) -> int:
        """Every stage of the path, on each of the folds and once more on all rows."""
        if goes_on or not self.validation_fraction:
            return driver.planned_rows(n_rows)
        runs = 1 + (len(self._path()) - 1) / 2
        return int(driver.planned_rows(n_rows) * runs * 3)

    def _learn(
        self,
        problem: Problem,
        views: Views,
        driver: Driver,
        rng: np.random.Generator,
        reporter: Reporter,
        goes_on: bool,
    ) -> Training:
        """Choose C and the number of epochs on held-out rows, then train on all of them."""
        targets = views._targets
        assert targets is not None
        if goes_on:
            training = self._last()
            driver.run(problem, self._objective(), views, training, rng, reporter)
            return training
        self._begin(problem, views, rng)  # finds what an item costs to describe, which C is in units of
        start = int(rng.integers(2**31 - 1))

        def begin() -> Training:
            return self._begin(problem, views, np.random.default_rng(start))

        path = self._path()
        n_known = int((targets.known & (targets.weight > 0)).sum())
        if hasattr(self, "selection_"):  # of an earlier fit
            del self.selection_
        if not self.validation_fraction or n_known < _FEWEST_LABELS:
            self._calibrate(None)
            stages = [Stage(path[0] if len(path) == 1 else _USUAL_C, 0)]
        else:
            folds = held_out_folds(targets, self.validation_fraction, rng)
            choice = choose(problem, self._objective(), driver, views, begin, path, self._nats, folds, rng, reporter)
            self._calibrate(choice)
            self.selection_ = choice.record
            stages = choice.stages
        training = begin()
        for stage in stages:
            self.C_ = stage.C
            problem.strength = stage.C * self._nats
            # rows held out for early stopping differ from stage to stage, and so do those that a dual belongs to
            training.slots, training.n_updates, training.dual = None, 0, None
            driver.run(problem, self._objective(), views, training, rng, reporter, last=stage.epochs or None)
        return training

    def _path(self) -> list[float]:
        if not isinstance(self.head_, LinearHead):
            return [_USUAL_C]
        if self.head_.C != "auto":
            return [float(self.head_.C)]
        if not self.validation_fraction:
            raise ValueError(
                "C='auto' needs rows held out to choose it by; got validation_fraction=0; pass a number for C, or a "
                "fraction such as 0.15."
            )
        return list(AUTO_PATH)

    def _calibrate(self, choice: Choice | None) -> None:
        """Learn from held-out rows what scores are worth."""

    @property
    def input_names_(self) -> list[str]:
        """Names of the views that X has: all but a label that is a view."""
        return [name for name in self.families_ if name != LABEL or not isinstance(self.head_, LabelView)]

    # ---- using ---------------------------------------------------------------------------------------------------
    def _scores(self, X: Any) -> np.ndarray:
        """Scores of the head for each row, in float64."""
        check_is_fitted(self, "head_")
        views = self._known(X)
        with compute(self.n_jobs):
            parts = [self.head_.scores(self.energy_, self.parameters_, batch) for _, batch in self._batches(views)]
        return np.concatenate(parts).astype(np.float64, copy=False)

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the head, (outputs, topics); for a label that is a view, that view's weights."""
        name = HEAD_WEIGHTS if isinstance(self.head_, LinearHead) else f"{LABEL}.weights"
        weights = self.parameters_[name]
        return weights.T if isinstance(self.head_, LinearHead) else weights

    # ---- files ---------------------------------------------------------------------------------------------------
    def _state(self) -> Fitted:
        fitted = super()._state()
        heads = {HEAD_WEIGHTS, HEAD_BIAS} & set(fitted.parameters)
        fitted.extra |= {name: fitted.parameters[name] for name in heads}
        fitted.extra |= {f"head.constant.{name}": value for name, value in self.head_.constants().items()}
        fitted.parameters = {name: value for name, value in fitted.parameters.items() if name not in heads}
        fitted.facts |= {
            "head_": self.head_,
            "C_": getattr(self, "C_", None),
            "nats": self._nats,
            "selection_": getattr(self, "selection_", None),
        }
        return fitted

    def _restore(self, fitted: Fitted) -> Any:
        facts = fitted.facts
        head = facts["head_"]
        if not isinstance(head, Head):
            raise ValueError(f"the head is {type(head).__name__}")
        self.head_ = head.restore(self._n_classes(), _constants(fitted.extra))
        _check_head(self.head_, fitted)
        self._nats = float(facts["nats"])
        for name in ("C_", "selection_"):
            if facts[name] is not None:
                setattr(self, name, facts[name])
        if isinstance(self.head_, LinearHead):
            like = self.head_.initial_parameters(fitted.hidden)
            for name, value in like.items():
                found = fitted.extra.get(name)
                if found is None or found.shape != value.shape or not np.isfinite(found).all():
                    raise ValueError(f"{name} must be finite numbers of shape {value.shape}")
                fitted.parameters[name] = found
        super()._restore(fitted)
        self._problem.head = self.head_
        self._problem.strength = float(facts["C_"] or 0.0) * self._nats
        return self

    def _n_classes(self) -> list[int]:
        return []

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags


def _constants(extra: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    prefix = "head.constant."
    return {name.removeprefix(prefix): value for name, value in extra.items() if name.startswith(prefix)}


def _check_head(head: Head, fitted: Fitted) -> None:
    """Refuse arrays of a file that are not those of the head."""
    constants = head.constants()
    names = {f"head.constant.{name}" for name in constants}
    names |= {HEAD_WEIGHTS, HEAD_BIAS} if isinstance(head, LinearHead) else set()
    strange = sorted(set(fitted.extra) - names)
    if strange:
        raise ValueError(f"the head has no {strange[0]!r}")
    for name, value in constants.items():
        if value.shape not in ((), (head.n_outputs_,)) or not np.isfinite(value).all():
            raise ValueError(f"{name} of the head must be finite numbers of shape ({head.n_outputs_},)")
    if isinstance(head, LabelView):
        label = fitted.families.get(LABEL)
        if label is None or label.n_features_ != head.n_outputs_ or type(label) is not type(head.family):
            raise ValueError(f"the label is not a view of {head.n_outputs_} features")
