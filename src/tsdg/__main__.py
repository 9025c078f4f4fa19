"""`python -m tsdg`."""

import sys

from tsdg.commands.cli import main

sys.exit(main())
