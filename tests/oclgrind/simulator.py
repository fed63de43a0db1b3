"""Running the command in Oclgrind, through the OpenCL loader.

Oclgrind never changes the exit status.  A run is clean where all four hold: status 0, an empty log,
no complaint on standard error, and results that are right, which `tessera verify` judges.

Oclgrind 21.10 gives a new buffer the number of a released one, and where the new one is larger and
first written by a kernel, calls what lies beyond the old size uninitialized.  So no buffer is
released here: a layer (faults/fault_layer.c) sees to it.

What a first write leaves out at the start of a buffer puts it in the wrong place: it calls elements
uninitialized that the host has written behind an offset.  So the layer has the write begin there.

It also calls elements 8 to 15 of a vector of 16 uninitialized that one shuffle takes into a vector of
8 or more: vstore8(vload16(0, x).hi, 0, out) complains, of an x that the host has written, while .lo
and the same eight elements taken one by one do not.  So vectors of 16 are not run here.

Of async_work_group_strided_copy to local memory it calls what lies a stride apart written, where
the copy writes neighbours.  Both are wrong: with `__local float tile[4]`, 4 elements with stride 3
are copied right, and reading tile[1] complains; after 2 of them tile[3] is not written, and reading
it does not complain.  Copies without a stride are right, so in every run strided_copy.h makes the
others of them, an element each, which all checks see.  The call itself is left to real devices.

What is compiled without optimizations keeps each variable in memory, which takes Oclgrind as long as
all else; promote_layer.c puts them into registers, and says what is then not seen.
"""

import os
import signal
import subprocess
import tempfile
import time

STRIDED_COPY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "strided_copy.h")


def text_of(path):
    """What is in a file, without blanks around it; '' where it is not."""
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read().strip()


def communicate(process, timeout, is_over):
    """What a process wrote, which ends by itself or is ended: once is_over(), or with an exception
    after `timeout` seconds."""
    end = time.monotonic() + timeout
    while True:
        try:
            return process.communicate(timeout=0.1)
        except subprocess.TimeoutExpired:
            if is_over():
                process.kill()
            elif time.monotonic() > end:
                process.kill()
                raise


class Run:
    """status, out, err, and log: what Oclgrind complained of.  The variable `program` names what runs.
    With `stop` the run is ended at its first complaint, and `stopped` says so.  Without `uninitialized`
    reads of what nobody wrote pass, in less than half the time; without `promoted` kernels run as
    compiled, in twice the time."""

    def __init__(self, *args, program="TESSERA", timeout=800, stop=False, uninitialized=True,
                 promoted=True):
        layers = [os.environ["PROMOTE_LAYER"]] * promoted + [os.environ["FAULT_LAYER"]]
        with tempfile.TemporaryDirectory(prefix="tessera-oclgrind-") as folder:
            log, report = os.path.join(folder, "log"), os.path.join(folder, "report")
            env = {k: v for k, v in os.environ.items() if k != "TESSERA_DEVICE"}
            env.update(OCL_ICD_VENDORS=os.environ["OCLGRIND_LIBRARY"],
                       OCLGRIND_DATA_RACES="1", OCLGRIND_UNIFORM_WRITES="1",
                       OCLGRIND_UNINITIALIZED=str(int(uninitialized)), OCLGRIND_CHECK_API="1",
                       # Without it divisions are false alarms.
                       OCLGRIND_BUILD_OPTIONS='-cl-opt-disable -include "%s"' % STRIDED_COPY,
                       OCLGRIND_NUM_THREADS="1", OCLGRIND_LOG=log,
                       # A new one: programs are kept by options that these do not change.
                       TESSERA_CACHE_DIR=os.path.join(folder, "cache"),
                       OPENCL_LAYERS=":".join(layers), TESSERA_KEEP_BUFFERS="1",
                       TESSERA_FAULT_REPORT=report)
            with subprocess.Popen([os.environ[program], *args], env=env, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) as process:
                out, err = communicate(process, timeout, lambda: stop and text_of(log))
            self.status = process.returncode
            self.log = text_of(log)
            self.stopped = stop and self.status == -signal.SIGKILL and self.log != ""
            self.out = out.decode(errors="replace")
            self.err = err.decode(errors="replace")
            if not self.stopped and not os.path.exists(report):
                raise RuntimeError("the layer was not loaded: ocl-icd 2.3 or newer takes layers\n"
                                   + self.out + self.err)

    def complaints(self):
        """What Oclgrind said, or ''."""
        lines = [line for line in self.err.splitlines()
                 if "Oclgrind - " in line or "OCLGRIND FATAL" in line]
        return "\n".join(([self.log] if self.log else []) + lines)
