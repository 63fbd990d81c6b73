"""``python -m harmonium`` is the command ``harmonium``."""

from harmonium.cli import main

if __name__ == "__main__":
    main()
