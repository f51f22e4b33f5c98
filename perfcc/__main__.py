"""``python -m perfcc``: the verbs that the launcher does not answer itself."""

from perfcc.cli import main

raise SystemExit(main())
