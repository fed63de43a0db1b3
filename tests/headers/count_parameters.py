"""No public function has more than eight parameters; beyond that a structure has them."""

import glob
import os
import re
import sys

MOST = 8


def functions(text):
    """(name, how many parameters) of each function that is declared."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    for name, parameters in re.findall(r"TSR_API[^;]*?\b(tsr_\w+)\(([^;]*)\);", text):
        yield name, len(parameters.split(","))


def main():
    found = []
    for path in glob.glob(os.path.join(sys.argv[1], "*.h")):
        with open(path, encoding="utf-8") as f:
            found += functions(f.read())
    wrong = ["%s has %d parameters" % (name, count) for name, count in found if count > MOST]
    print("\n".join(wrong))
    if len(found) < 50:
        sys.exit("only %d functions were found" % len(found))
    sys.exit(bool(wrong))


main()
