#!/usr/bin/env python3
"""Run the commands of docs/course/README.md's tables on a device, with little work.

    scripts/course_commands.py --tessera build/tessera --device gpu -o data/results/commands-NAME.jsonl
    scripts/course_commands.py --list
    scripts/course_commands.py --tessera build/tessera --device gpu --part 2/3    the second third

A row for each command: what it was, as the page has it, and as it ran; its status; whether the device lacks
what it needs; its output.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PAGE = os.path.join(ROOT, "docs", "course", "README.md")

# Sizes of operations, where little work is wanted; of what is here 128 elements or rows are enough.
SMALL = "128"


def commands():
    """Each command of the tables once, in their order."""
    with open(PAGE, encoding="utf-8") as f:
        table = [line for line in f if re.match(r"\| \d{3}:", line)]
    found = [c for line in table for c in re.findall(r"`((?:tessera|scripts/slurm\.sh) [^`]+)`", line)]
    return list(dict.fromkeys(found))


def little(command, device):
    """The words of a command, on a device and with little work."""
    words = [re.sub(r"^(data|cl)\b", lambda m: os.path.join(ROOT, m.group()), w)
             for w in shlex.split(command)]
    program, words = words[0], words[1:]
    on = ["--device", device]
    if words[0] in ("lab", "course"):
        words += on * ("--source" not in words) + ["--repeat", "2"]
        words += ["--small", "--seconds", "0.01"] * (words[0] == "course")
        words += ["--size", "64"] * (words[0] == "lab" and words[1] in SIZED)
    elif words[0] in ("bench", "diagnose"):
        words += on + ["--seconds", "0.01"] * (words[0] == "bench")
        if "--size" not in words:
            words += ["--size", "65536" if words[1] == "overlap" else SMALL]
    elif words[0] == "verify":
        words += ["--tiny"] + on * ("--device" not in words)
    elif words[0] not in ("kernels", "occupancy", "devices"):
        words += on
    return program, words


# Experiments whose --size, of little work, is a number of rounds.
SIZED = ("votes", "masks", "registers", "integers", "banks", "latency")


def run(command, tessera, device, folder, env):
    program, words = little(command, device)
    start = [tessera] if program == "tessera" else [os.path.join(ROOT, program)]
    done = subprocess.run(start + words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=env, timeout=600, check=False,
                          universal_newlines=True)
    # A command for NVIDIA's GPUs alone ends with status 1 elsewhere, and says so.
    lacks = done.returncode == 1 and "on NVIDIA's GPUs only" in done.stdout
    return {"command": command, "ran": " ".join([program] + [w.replace(ROOT + "/", "") for w in words]),
            "status": done.returncode, "lacks": lacks, "output": done.stdout}


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--tessera", default="tessera")
    p.add_argument("--device", default="cpu")
    p.add_argument("--part", default="1/1")
    p.add_argument("--skip", metavar="FILE", action="append", default=[], help="commands that have a row there")
    p.add_argument("--list", action="store_true")
    p.add_argument("-o", "--output", default="-")
    args = p.parse_args()
    number, parts = (int(x) for x in args.part.split("/"))
    done = set()
    for path in args.skip:
        with open(path, encoding="utf-8") as f:
            done |= {json.loads(line)["command"] for line in f}
    wanted = [c for c in commands() if c not in done]
    if args.list:
        print("\n".join(wanted))
        return 0
    bad = 0
    with open(args.output, "w", encoding="utf-8") if args.output != "-" else sys.stdout as out, \
            tempfile.TemporaryDirectory(prefix="tessera-course-") as folder:
        env = dict(os.environ, TESSERA_CACHE_DIR=os.path.join(folder, "cache"),
                   TESSERA=os.path.abspath(args.tessera))
        for command in wanted[number - 1::parts]:
            row = run(command, os.path.abspath(args.tessera), args.device, folder, env)
            row["output"] = row["output"].replace(folder, "FOLDER")
            bad += row["status"] != 0 and not row["lacks"]
            print(json.dumps(row), file=out, flush=True)
            if args.output != "-":
                print("%3d  %s" % (row["status"], command), flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
