"""`python -m rulebook` is the same as `rulebook`."""

import sys

from rulebook.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
