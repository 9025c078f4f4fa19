"""`python -m tsdg`."""

import sys

from tsdg.commands.main import main

sys.exit(main())
