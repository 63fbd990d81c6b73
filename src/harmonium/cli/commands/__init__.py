"""One file for each command, which defines ``command``; what it needs is imported when it runs."""

#: the commands, in the order in which ``--help`` lists them; a new one is a file of this folder and a line here
COMMANDS = (
    "demo",
    "fit",
    "predict",
    "transform",
    "annotate",
    "search",
    "topics",
    "explain",
    "report",
    "explore",
    "serve",
    "info",
)
