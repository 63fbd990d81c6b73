"""Questions to a fitted model: functions of the model and of views, which know nothing of estimators."""
