"""What the tests of bench --peers share, with peers that are made up: fake_peer_*.c of the operations.

The tests are bench_peers.py in the folders of the operations.
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from cli_support import BRIEF, Case  # noqa: E402

FAKES = os.environ["FAKE_PEERS"]
REAL = os.environ["REAL_PEERS"]
DEVICE = ("--device", "host")


class Peers(Case):
    def bench(self, *args, device=DEVICE, status=0, **env):
        """In little time for each row, unless the arguments say in how much."""
        brief = () if "--seconds" in args else BRIEF
        r = self.tessera("bench", *args, "--peers", *device, *brief,
                         env={"TESSERA_PEER_DIR": FAKES, **env})
        self.assertEqual(r.status, status, r)
        return r

    def rows(self, *args, **options):
        """The rows of the comparison, by name."""
        r = self.bench(*args, "--json", "--quiet", **options)
        rows = [json.loads(line) for line in r.out.splitlines()]
        return {row["name"]: row for row in rows if row["kind"] == "peer"}

    def calls(self):
        """How often peers were called that note it."""
        with open(self.path("log"), encoding="utf-8") as f:
            return len(f.readlines())
