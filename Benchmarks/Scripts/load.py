"""The load of the machine by other programs while a suite runs, and the speed of its processors."""

import os
import time

# Other programs that use more than this share of a processor disturb a comparison with a peer.
LOADED = 0.5
# The time of 200,000 rounds of plain arithmetic is compared with the recorded one.
ROUNDS = 200_000


class Watch:
    """The time that other programs have used since it was made."""

    def __init__(self):
        self.started = time.monotonic()
        self.others = others()

    def is_loaded(self):
        """Whether other programs have used more than a share of a processor."""
        passed = time.monotonic() - self.started
        return passed > 0 and (others() - self.others) / passed > LOADED


def others():
    """Seconds of processor time that all programs but this one and its children have used; 0 where unknown."""
    try:
        with open("/proc/stat") as file:
            fields = [int(field) for field in file.readline().split()[1:9]]
    except OSError:
        return 0.0
    user, nice, system, _, _, interrupts, soft, _ = fields
    own = os.times()
    busy = (user + nice + system + interrupts + soft) / os.sysconf("SC_CLK_TCK")
    return busy - own.user - own.system - own.children_user - own.children_system


def pace():
    """Rounds of arithmetic a microsecond, the best of a few: the pace that times are compared at."""
    best = min(timed() for _ in range(7))
    return ROUNDS / best / 1e6


def timed():
    started = time.perf_counter()
    total = 0
    for number in range(ROUNDS):
        total = (total * 31 + number) & 0xFFFFFFFF
    return time.perf_counter() - started
