"""Each bound is seen to fail here, with made-up figures, because a judgement that never fails says nothing."""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import figures

ROW = {"name": "search"}
DISK = {"name": "create", "waitsForDisk": True}


class TimeTests(unittest.TestCase):
    def test_a_row_that_does_not_wait_for_the_disk_fails_when_half_as_slow_again(self):
        self.assertTrue(figures.judge_time(ROW, {"relative": 3.0}, {"relative": 2.0}).is_failure)
        self.assertFalse(figures.judge_time(ROW, {"relative": 2.5}, {"relative": 2.0}).is_failure)

    def test_a_row_that_waits_for_the_disk_fails_beyond_twice(self):
        self.assertTrue(figures.judge_time(DISK, {"relative": 5.0}, {"relative": 2.0}).is_failure)
        self.assertFalse(figures.judge_time(DISK, {"relative": 3.9}, {"relative": 2.0}).is_failure)

    def test_a_row_without_record_fails_and_says_how_to_record(self):
        for recorded in [None, {}, {"counts": {}}]:
            verdict = figures.judge_time(ROW, {"relative": 1.0}, recorded)
            self.assertTrue(verdict.is_failure)
            self.assertIn("make bench-record", str(verdict))

    def test_a_time_is_not_judged_under_load(self):
        slow = figures.judge_time(ROW, {"relative": 3.0}, {"relative": 2.0}, is_loaded=True)
        self.assertEqual(slow.state, "not judged")
        quick = figures.judge_time(ROW, {"relative": 2.5}, {"relative": 2.0}, is_loaded=True)
        self.assertEqual(quick.state, "met")

    def test_no_number_is_no_success(self):
        self.assertTrue(figures.judge_time(ROW, {"relative": float("nan")}, {"relative": 2.0}, is_loaded=True).is_failure)
        self.assertTrue(figures.judge_time(ROW, {"relative": float("nan")}, {"relative": 2.0}).is_failure)
        self.assertTrue(figures.judge_time(ROW, {"relative": -1.0}, {"relative": 2.0}).is_failure)


class CountTests(unittest.TestCase):
    def failures(self, measured, recorded):
        return [verdict.what for verdict in figures.judge_counts(ROW, measured, recorded) if verdict.is_failure]

    def test_six_percent_more_instructions_fail_and_four_do_not(self):
        recorded = {"counts": {"instructions": 1_000_000}}
        self.assertEqual(self.failures({"instructions": 1_060_000}, recorded), ["instructions"])
        self.assertEqual(self.failures({"instructions": 1_040_000}, recorded), [])

    def test_one_flush_more_fails(self):
        recorded = {"counts": {"flushes": 2, "calls": 20}}
        self.assertEqual(self.failures({"flushes": 3, "calls": 20}, recorded), ["flushes"])
        self.assertEqual(self.failures({"flushes": 2, "calls": 21}, recorded), [])

    def test_a_count_that_only_one_side_has_fails(self):
        self.assertEqual(len(self.failures({}, {"counts": {"flushes": 2}})), 1)
        self.assertEqual(len(self.failures({"flushes": 2}, {"counts": {}})), 1)
        self.assertEqual(len(self.failures({"flushes": 2}, None)), 1)


class GoalTests(unittest.TestCase):
    def state(self, value, goal, **conditions):
        return figures.judge_goal(ROW, value, goal, **conditions).state

    def test_a_missed_goal_fails_unless_it_is_known(self):
        self.assertEqual(self.state(1.3, {"kind": "ratio", "atLeast": 1.3}), "met")
        self.assertEqual(self.state(1.2, {"kind": "ratio", "atLeast": 1.3}), "missed")
        self.assertEqual(self.state(1.2, {"kind": "ratio", "atLeast": 1.3, "known": 1.1}), "known")
        self.assertEqual(self.state(1.0, {"kind": "ratio", "atLeast": 1.3, "known": 1.1}), "missed")

    def test_times_are_judged_at_the_recorded_pace_only(self):
        goal = {"kind": "time", "atMost": 100}
        self.assertEqual(self.state(101, goal), "missed")
        self.assertEqual(self.state(101, goal, pace=0.5), "not judged")
        self.assertEqual(self.state(99, goal, pace=0.5), "met")

    def test_times_and_ratios_are_not_judged_under_load_and_sizes_always_are(self):
        self.assertEqual(self.state(2, {"kind": "ratio", "atMost": 1}, is_loaded=True), "not judged")
        self.assertEqual(self.state(2, {"kind": "time", "atMost": 1}, is_loaded=True), "not judged")
        self.assertEqual(self.state(1, {"kind": "time", "atMost": 1}, is_loaded=True), "met")
        self.assertEqual(self.state(2, {"kind": "size", "atMost": 1}, is_loaded=True, pace=0.1), "missed")

    def test_an_unknown_kind_is_an_error(self):
        with self.assertRaises(ValueError):
            self.state(1, {"kind": "speed", "atMost": 1})


class TryTests(unittest.TestCase):
    def run_tries(self, values, rows=(ROW, DISK)):
        asked = []

        def measure(left):
            asked.append([row["name"] for row in left])
            return {row["name"]: values[row["name"]][len(asked) - 1] for row in left if row["name"] in values}

        def judge(row, value):
            return [figures.bounded(row["name"], "value", value, 1)]

        return figures.tried(list(rows), measure, judge)[0], asked

    def test_only_the_rows_that_failed_are_measured_again(self):
        verdicts, asked = self.run_tries({"search": [2, 2, 1], "create": [1]})
        self.assertEqual(asked, [["search", "create"], ["search"], ["search"]])
        self.assertEqual(figures.failures(verdicts), [])

    def test_three_failed_tries_are_a_failure(self):
        verdicts, asked = self.run_tries({"search": [2, 2, 2, 1], "create": [1]})
        self.assertEqual([verdict.row for verdict in figures.failures(verdicts)], ["search"])
        self.assertEqual(len(asked), 3)

    def test_a_row_that_is_not_measured_fails(self):
        verdicts, _ = self.run_tries({"create": [1]})
        self.assertEqual([verdict.row for verdict in figures.failures(verdicts)], ["search"])


class ChoiceTests(unittest.TestCase):
    def test_an_unknown_row_is_an_error(self):
        self.assertEqual(figures.chosen([ROW, DISK], ["create"]), [DISK])
        self.assertEqual(figures.chosen([ROW, DISK], []), [ROW, DISK])
        with self.assertRaises(ValueError):
            figures.chosen([ROW, DISK], ["create", "serach"])


if __name__ == "__main__":
    unittest.main()
