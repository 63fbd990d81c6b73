"""Questions to a fitted model that are rarely asked: functions of the model, as in `sklearn.inspection`.

What is asked every day is a method of the estimators; tables and pictures are in `harmonium.report`.

Examples
--------
>>> import numpy as np
>>> from harmonium import Harmonium, Stochastic
>>> from harmonium.inspection import log_partition
>>> model = Harmonium(2, driver=Stochastic(max_iter=2), random_state=0).fit({"words": np.tile(np.eye(3), (4, 1))})
>>> log_partition(model, "exact").value > 0
True
"""

from harmonium.inspection.density import canonical_signs, log_partition, modes, sample_exact
from harmonium.inspection.determinism import determinism_table
from harmonium.inspection.editing import edit_topics
from harmonium.inspection.encoders import set_encoders
from harmonium.inspection.labels import label_quality
from harmonium.inspection.merging import merge_duplicates
from harmonium.inspection.posterior import diagnostics, invariants, posterior_draws, to_arviz
from harmonium.inspection.prediction import annotate_view, score_parts
from harmonium.inspection.stability import bootstrap_stability
from harmonium.training.topic_edits import TopicEdits

__all__ = [
    "TopicEdits",
    "annotate_view",
    "bootstrap_stability",
    "canonical_signs",
    "determinism_table",
    "diagnostics",
    "edit_topics",
    "invariants",
    "label_quality",
    "log_partition",
    "merge_duplicates",
    "modes",
    "posterior_draws",
    "sample_exact",
    "score_parts",
    "set_encoders",
    "to_arviz",
]
