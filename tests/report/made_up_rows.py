"""Result rows of two devices that do not exist, for tests of compare and of the report.

    made_up_rows.py FOLDER    write made_up_gpu.jsonl and made_up_cpu.jsonl there

No number here was measured.  Device, platform and driver say so, so that no page
made of these rows is taken for a result.
"""

import glob
import json
import os
import random
import runpy
import sys

GPU = dict(device="Made-up GPU 9000", platform="Made-up CL", vendor="nobody (rows for tests)",
           driver="0.0 made up", device_id="0:0")
CPU = dict(device="Made-up CPU, 8 cores", platform="Made-up CL", vendor="nobody (rows for tests)",
           driver="0.0 made up", device_id="1:0")

# GFLOP/s, GB/s, microseconds.
LIMITS = {
    "gpu": {"fp32": 52000.0, "fp64": 26000.0, "memory read": 3900.0, "memory copy": 3600.0,
            "local memory": 28000.0, "to device, pinned": 52.0, "launch, queued": 2.4,
            "launch, waited": 9.1},
    "cpu": {"fp32": 900.0, "fp64": 450.0, "memory read": 80.0, "memory copy": 70.0,
            "local memory": 600.0, "to device, pinned": 20.0, "launch, queued": 3.0,
            "launch, waited": 30.0},
}

# What each operation has of its own, by its name: tests/OP/made_up.py.
HERE = os.path.dirname(os.path.abspath(__file__))
MADE_UP = {os.path.basename(os.path.dirname(path)): runpy.run_path(path)
           for path in sorted(glob.glob(os.path.join(HERE, "..", "*", "made_up.py")))}
LADDERS = {kind: {op: of["LADDERS"][kind] for op, of in MADE_UP.items()} for kind in LIMITS}
PEERS = {kind: {op: of["PEERS"][kind] for op, of in MADE_UP.items()} for kind in LIMITS}
SIZES = {op: of["SIZES"] for op, of in MADE_UP.items()}
# An operation whose rate is of its work, its traffic or its keys.
IN_FLOPS, IN_BYTES, IN_KEYS = (next(op for op, of in MADE_UP.items() if of["UNIT"] == unit)
                               for unit in ("GFLOP/s", "GB/s", "Mkeys/s"))

BLANK = dict(schema="tessera-result-2", kind="kernel", outcome="timed", op="", problem="", size="",
             type="float32", precision="f32", name="", peer_version="", parameters="", options="",
             selected="named", chosen="named", place="device", unsupported="", version="0.0-test",
             when="2001-01-01T00:00:00Z", cold=True,
             timer="events", samples=0, calls=1, min_ns=0.0, low_ns=0.0, median_ns=0.0,
             high_ns=0.0, max_ns=0.0, work=0.0, bytes=0.0, rate=0.0, unit="", bound_by="",
             share=0.0, limit_rate=0.0, verified=False, worst=0.0, sampled=False,
             build_cold_ns=0.0, build_cached_ns=0.0, enqueue_ns=0.0, to_device_ns=0.0,
             from_device_ns=0.0, to_device_bytes=0.0, from_device_bytes=0.0, commands=0,
             workspace_bytes=0, seed="1")


def row(where, **fields):
    unknown = set(fields) - set(BLANK) - set(GPU)
    assert not unknown, unknown
    return {**BLANK, **where, **fields}


def error_rows():
    """What bench --errors adds of a product: two precisions, and one error that is infinite."""
    rows = []
    for kind, name, precision, rate, error in (
            ("kernel", "tiled", "f32", 7000.0, 3.0), ("kernel", "wgmma", "tf32", 90000.0, 900.0),
            ("kernel", "wgmma", "f16", 99000.0, None), ("peer", "cuXXXX", "f32", 50000.0, 2.5)):
        for family in ("uniform", "wide", "cancelling", "special"):
            r = timed(row(GPU, op=IN_FLOPS, problem="64x64x512 float32 " + precision,
                          size="64x64x512", precision=precision, name=name, unit="GFLOP/s",
                          work=2.0 * 64 * 64 * 512, verified=True), rate)
            infinite = error is None and family == "uniform"
            r.update(kind="error", subject=kind, family=family,
                     error_max=None if infinite else (error or 900.0) * 2**-24,
                     error_rms=None if infinite else 2**-24, roundoff=2**-24, elements=4096,
                     class_errors=4096 if infinite else 0)
            rows.append(r)
    return rows


def overlap_rows():
    """What bench overlap measures of two memories: copies alone, 1 and 2 queues, and what the device
    has not."""
    rows = []
    for memory, name, queues, rate in (
            ("pageable", "pageable, copy in", 1, 8.0), ("pageable", "pageable", 1, 7.0),
            ("pageable", "pageable", 2, 9.0), ("pinned", "pinned, both ways", 2, 100.0),
            ("pinned", "pinned", 1, 30.0), ("pinned", "pinned", 2, 60.0),
            ("svm", "svm", 1, None)):
        chunks = 1 if "," in name else 4
        r = row(GPU, op="overlap", problem="1000 uint32 in and out, 4 rounds", size="1000",
                type="uint32", precision="", name=name, unit="GB/s", bytes=8000.0, cold=False,
                timer="wall", selected="", chosen="", verified=rate is not None,
                parameters="" if "," in name else "QUEUES=%d CHUNKS=4" % queues)
        if rate is None:
            r.update(outcome="unsupported", unsupported="no shared virtual memory")
        else:
            timed(r, rate)
        bars = [[c % queues, what, 100.0 * c + 40 * i, 100.0 * c + 40 * i + 39]
                for c in range(chunks) for i, what in enumerate(("copy in", "kernel", "copy out"))]
        r.update(kind="overlap", memory=memory, queues=queues, chunks=chunks, queue_ns=2500.0,
                 timeline=[] if "," in name or rate is None else bars)
        rows.append(r)
    return rows


def lab_rows():
    """An experiment of two curves, of which courses say something of one, and of what a device lacks."""
    rows = []
    for name, x, rate, claim in (("read", "1", 800.0, 1.0), ("read", "2", 500.0, 0.5),
                                 ("write", "1", 700.0, 0.0), ("write", "2", 90.0, 0.0),
                                 ("copy", "", None, 0.0)):
        r = row(GPU, op="lab", problem="stride, 64 words", size="64", type="", precision="",
                name=name, unit="GB/s", bytes=8000.0, cold=False, timer="events", selected="",
                chosen="", verified=rate is not None, parameters="stride=" + x if x else "")
        if rate is None:
            r.update(outcome="unsupported", unsupported="no copies")
        else:
            timed(r, rate)
        r.update(kind="lab", experiment="stride", knob="stride", x=x,
                 ratio=rate / 800.0 if rate else 0.0, claim=claim)
        rows.append(r)
    return rows


def timed(r, rate, spread=0.01):
    """Fill in the times that give this rate, in the row's unit."""
    per_ns = {"GFLOP/s": r["work"], "GB/s": r["bytes"], "Mkeys/s": r["work"] * 1e3}[r["unit"]]
    ns = per_ns / rate
    r.update(rate=rate, samples=21, median_ns=ns, low_ns=ns * (1 - spread),
             high_ns=ns * (1 + spread), min_ns=ns * (1 - 2 * spread), max_ns=ns * (1 + 4 * spread))
    return r


def job(where, op, n, **fields):
    """Size, work and traffic of one problem."""
    return row(where, op=op, unit=MADE_UP[op]["UNIT"], **{**MADE_UP[op]["job"](n), **fields})


def place(kind, r, part):
    """Rate from a part of the limit; small problems lose to the launch."""
    limit, name = MADE_UP[r["op"]]["bound"](LIMITS[kind], r)
    per_ns = {"GFLOP/s": r["work"], "GB/s": r["bytes"], "Mkeys/s": r["work"] * 1e3}[r["unit"]]
    timed(r, per_ns / (per_ns / (limit * part) + 1e3 * LIMITS[kind]["launch, queued"]))
    r.update(limit_rate=limit, bound_by=name, share=r["rate"] / limit, verified=True)
    return r


def limit_rows(kind, where):
    for name, value in LIMITS[kind].items():
        unit = "us" if name.startswith("launch") else "GFLOP/s" if name[:2] == "fp" else "GB/s"
        wall = name.startswith(("launch", "to device"))
        yield row(where, kind="limit", op="limit", problem="how %s is measured" % name, type="",
                  precision="", name=name, unit=unit, rate=value, verified=True,
                  cold=name.startswith("memory"), timer="wall" if wall else "events", samples=5, median_ns=1e6, low_ns=0.99e6, high_ns=1.01e6,
                  min_ns=0.98e6, max_ns=1.1e6, selected="", chosen="")
    yield row(where, kind="limit", op="limit", problem="how tensor tf32 is measured", type="",
              precision="", name="tensor tf32", unit="GFLOP/s", selected="", chosen="", cold=False,
              outcome="unsupported", unsupported="the device has no tensor cores")


def kernel_rows(kind, where, dice):
    for op, sizes in SIZES.items():
        for n in sizes:
            for name, part in LADDERS[kind][op].items():
                r = place(kind, job(where, op, n, name=name, worst=0.02, commands=1,
                                    enqueue_ns=4200.0, chosen="named", options="-DTILE=16",
                                    parameters="TILE=16"), part * dice.uniform(0.96, 1.0))
                copied = r["bytes"] / LIMITS[kind]["to device, pinned"]
                r.update(build_cold_ns=2.1e8, build_cached_ns=3.3e6, to_device_ns=copied * 2 / 3,
                         from_device_ns=copied / 3, to_device_bytes=r["bytes"] * 2 / 3,
                         from_device_bytes=r["bytes"] / 3)
                yield r
        yield job(where, op, sizes[-1], name="needs-sub-groups", outcome="unsupported",
                  unsupported="the device has no sub-groups")


def peer_rows(kind, where):
    for op, sizes in SIZES.items():
        best = max(LADDERS[kind][op].items(), key=lambda item: item[1])
        for n in sizes:
            for name, part, what in [(best[0], best[1], "kernel")] + [
                    (name, part, "peer") for name, part in PEERS[kind][op].items()]:
                r = place(kind, job(where, op, n, name=name, kind=what, timer="wall",
                                    peer_version="9.9" if what == "peer" else "",
                                    selected="" if what == "peer" else "preferred"), part)
                yield {**r, "calls": 20}


def gpu():
    dice = random.Random(1)
    return [*limit_rows("gpu", GPU), *kernel_rows("gpu", GPU, dice), *peer_rows("gpu", GPU)]


def cpu():
    dice = random.Random(2)
    return [*limit_rows("cpu", CPU), *kernel_rows("cpu", CPU, dice), *peer_rows("cpu", CPU)]


def lines(rows):
    return "".join(json.dumps(r) + "\n" for r in rows)


def write(path, rows):
    with open(path, "w", encoding="utf-8") as f:
        f.write(lines(rows))
    return path


if __name__ == "__main__":
    write(os.path.join(sys.argv[1], "made_up_gpu.jsonl"), gpu())
    write(os.path.join(sys.argv[1], "made_up_cpu.jsonl"), cpu())
