"""A column of the progress bar; a module of its own, as rich is imported only by those who see a bar."""

from __future__ import annotations

from rich.progress import ProgressColumn, Task
from rich.text import Text


class SpeedColumn(ProgressColumn):
    """Rows per second."""

    def render(self, task: Task) -> Text:
        """Return the speed, once it is known."""
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f} items/s" if speed else "")
