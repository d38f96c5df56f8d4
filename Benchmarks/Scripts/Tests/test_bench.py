"""A run that misses its goal fails, and one that misses it once does not."""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import bench
import figures
import load


def result(name, thousandths):
    return {"name": name, "metrics": {"peerByTallyThousandths": {"p50": thousandths}}}


class FakeRun:
    suite_name, sizes = "peers", [1_000]
    suite = {"rows": [{"benchmark": "read", "atLeast": 2}, {"benchmark": "write", "atLeast": 1, "waitsForDisk": True}]}

    def __init__(self, later):
        self.later, self.asked, self.watch = later, [], self

    def benchmarks(self, names):
        self.asked.append(names)
        return [result(name, self.later.pop(0)) for name in names]

    @staticmethod
    def is_loaded():
        return False


RECORDED = {"peers": {"read": {"relative": 0.4}, "write": {"relative": 0.5}}}


class JudgedTests(unittest.TestCase):
    def setUp(self):
        self.watch, load.Watch = load.Watch, lambda: FakeRun([])
        bench.say = lambda text="": None

    def tearDown(self):
        load.Watch = self.watch

    def failing(self, read, later, recorded=RECORDED):
        run = FakeRun(later)
        verdicts, _ = bench.judged(run, [result("read", read), result("write", 2_000)], recorded)
        return sorted({each.row for each in figures.failures(verdicts)}), run.asked

    def test_a_run_within_all_goals_passes_at_once(self):
        self.assertEqual(self.failing(2_500, []), ([], []))

    def test_a_miss_is_measured_again_alone(self):
        self.assertEqual(self.failing(1_000, [2_500]), ([], [["read"]]))

    def test_three_misses_fail(self):
        self.assertEqual(self.failing(1_000, [1_000, 1_000]), (["read"], [["read"], ["read"]]))

    def test_a_cost_beyond_the_record_fails_though_the_goal_is_met(self):
        recorded = {"peers": {"read": {"relative": 0.3}, "write": {"relative": 0.5}}}
        self.assertEqual(self.failing(2_500, [2_500, 2_500], recorded)[0], ["read"])


if __name__ == "__main__":
    unittest.main()
