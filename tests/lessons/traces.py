"""Traces of lessons: making them, and what memory holds after so many of their records.

The page has its own reckoning, in JavaScript; this one is independent of it.
"""

import json
import os
import re
import subprocess

COMMAND = os.environ.get("TESSERA", "tessera")
SOURCE = os.environ.get("TESSERA_SOURCE", os.path.join("..", ".."))
ITEM, KIND, FILE, LINE, ARRAY, INDEX, VALUE = range(7)


def command(*args, simulator=False):
    """Run the command; in Oclgrind, where work-items run one after another from barrier to barrier."""
    env = dict(os.environ)
    env.pop("TESSERA_DEVICE", None)
    if simulator:
        env["OCL_ICD_VENDORS"] = os.environ["OCLGRIND_LIBRARY"]
        env["OCLGRIND_NUM_THREADS"] = "1"  # atomics of groups come in the same order each time
    return subprocess.run([COMMAND, *args], env=env, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=280)


def traced(name, *args, simulator=False):
    done = command("lesson", name, "--json", *args, simulator=simulator)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def on_page(path):
    """The lesson that a page shows."""
    with open(path, encoding="utf-8") as f:
        page = f.read()
    return json.loads(re.search(r'<script type="application/json" id="trace">(.*?)</script>', page,
                                re.S)[1])


def group_of(launch, item):
    number, size = 0, 1
    for whole, part in zip(launch["global"], launch["local"]):
        number += item % whole // part * size
        size *= whole // part
        item //= whole
    return number


class Memory:
    """What arrays hold; local ones of each group."""

    def __init__(self, run):
        self.run, self.cells, self.launch, self.watched = run, {}, None, {}
        for operand, array in zip(run["operands"], run["arrays"]):
            if operand["before"] is not None:
                self.cells.update({(array["name"], 0, i): v for i, v in enumerate(operand["before"])})
        for values, array in zip(run.get("begin", []), run["arrays"]):
            self.cells.update({(array["name"], 0, i): v for i, v in enumerate(values) if v is not None})

    def take(self, launch, record):
        """One record of a launch, which is given by its number."""
        run = self.run
        if launch != self.launch:
            local = {a["name"] for a in run["arrays"] if a["space"] == "local"}
            self.cells = {k: v for k, v in self.cells.items() if k[0] not in local}
            self.watched, self.launch = {}, launch
        if record[KIND] == "set":
            self.watched[(record[ITEM], record[ARRAY])] = record[VALUE]
        elif record[KIND] == "store":
            array = run["arrays"][record[ARRAY]]
            group = group_of(run["launches"][launch], record[ITEM]) if array["space"] == "local" else 0
            self.cells[(array["name"], group, record[INDEX])] = record[VALUE]

    def read(self, launch, record):
        """What a load should have found; None where nobody had written there."""
        array = self.run["arrays"][record[ARRAY]]
        group = group_of(self.run["launches"][launch], record[ITEM]) if array["space"] == "local" else 0
        return self.cells.get((array["name"], group, record[INDEX]))

    def array(self, name, group=0):
        return {k[2]: v for k, v in self.cells.items() if k[0] == name and k[1] == group}


def final(run):
    memory = Memory(run)
    for k, launch in enumerate(run["launches"]):
        for record in launch["records"]:
            memory.take(k, record)
    return memory
