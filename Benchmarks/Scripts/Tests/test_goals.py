"""Every goal of every suite is seen to fail, with made-up results that just miss it."""

import copy
import json
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
SCRIPTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SCRIPTS))
import goals

SUITES = {name: json.loads((SCRIPTS.parent / f"Suites/{name}.json").read_text())
          for name in ["floor", "peers", "search", "engine", "growth", "sync", "cli", "serve"]}
METRICS = ["tallyNanoseconds", "peerNanoseconds", "tally", "peer", "documentBytesPerTask"]


def made_up(suite):
    """Results in which every figure is 1,000,000."""
    results = {"room": {"metrics": {}}}
    for row in suite["rows"]:
        for each in goals.benchmarks(row, suite["dataSets"]):
            metrics = results.setdefault(each, {"metrics": {}})["metrics"]
            for metric in METRICS + [row[key] for key in ["metric", "againstMetric"] if key in row]:
                metrics[metric] = {"p50": 1_000_000, "p99": 1_000_000}
            if "peer" in row or "atMost" in row:
                metrics["peerByTallyThousandths"] = {"p50": 1_000}
    for metric in METRICS:
        results["room"]["metrics"].setdefault(metric, {"p50": 1_000_000, "p99": 1_000_000})
    return results


class GoalTests(unittest.TestCase):
    def test_rows_have_names_of_their_own(self):
        for suite in SUITES.values():
            names = [goals.name(row) for row in suite["rows"]]
            self.assertEqual(len(names), len(set(names)))

    def test_every_goal_of_every_row_fails_just_beyond_it_and_holds_just_within(self):
        count = 0
        for suite in SUITES.values():
            results = made_up(suite)
            for row in suite["rows"]:
                for key, (value, goal) in goals.bounds(row, results, suite["dataSets"]).items():
                    for factor, expected in [(0.999, "missed"), (1.001, "met")]:
                        # The row's own goal moves, so that the made-up value is just beyond it or just within.
                        moved = copy.deepcopy(row)
                        moved.pop("known", None)
                        moved[key] = value / factor if key == "atLeast" else value * factor
                        verdicts = goals.verdicts(moved, results, suite["dataSets"], {})
                        states = [each.state for each in verdicts if each.what == goal["what"]]
                        self.assertEqual(states, [expected], f"{goals.name(row)} {key}")
                    count += 1
        self.assertGreater(count, 50)

    def test_a_row_that_is_compared_fails_beyond_its_record_and_without_one(self):
        row = {"benchmark": "view", "peer": "GRDB"}
        results = {"view": {"metrics": {"peerByTallyThousandths": {"p50": 500}}}}
        for recorded, is_failure in [({"view": {"relative": 1.6}}, False), ({"view": {"relative": 1.5}}, True), ({}, True)]:
            verdict, = goals.verdicts(row, results, [], recorded)
            self.assertEqual(verdict.is_failure, is_failure)

    def test_a_time_without_a_peer_is_held_to_its_record_by_the_pace(self):
        row = {"benchmark": "join", "metric": "joinedNanoseconds"}
        results = {"join": {"metrics": {"joinedNanoseconds": {"p50": 3_000, "p99": 3_000}}, "pace": 2.0}}
        for recorded, is_failure in [({"join.joinedNanoseconds": {"cost": 4.7}}, False),
                                     ({"join.joinedNanoseconds": {"cost": 4.6}}, True), ({}, True)]:
            verdict, = goals.verdicts(row, results, [], recorded)
            self.assertEqual(verdict.is_failure, is_failure)
        # Half the pace and twice the time are the same cost; a number of bytes is none.
        results["join"] = {"metrics": {"joinedNanoseconds": {"p50": 6_000, "p99": 6_000}}, "pace": 1.0}
        self.assertEqual(goals.costs(row, results, []), {"cost": 6.0})
        results["join"]["metrics"]["bytes"] = {"p50": 5, "p99": 5}
        self.assertEqual(goals.costs(row | {"metric": "bytes", "unit": "bytes"}, results, []), {})

    def test_a_known_miss_fails_beyond_its_own_limit(self):
        row = {"benchmark": "view", "atLeast": 3, "known": {"atLeast": 1.5}}
        for thousandths, expected in [(3_000, "met"), (1_600, "known"), (1_400, "missed")]:
            results = {"view": {"metrics": {"peerByTallyThousandths": {"p50": thousandths}}}}
            self.assertEqual(goals.verdicts(row, results, [], {})[0].state, expected)

    def test_a_row_without_its_benchmark_fails(self):
        self.assertTrue(goals.verdicts({"benchmark": "view", "atLeast": 3}, {}, [], {})[0].is_failure)

    def test_a_row_without_goal_and_comparison_is_an_error(self):
        results = {"sync": {"metrics": {"sentNanoseconds": {"p50": 1, "p99": 1}}}}
        with self.assertRaises(ValueError):
            goals.verdicts({"benchmark": "sync", "metric": "sentNanoseconds"}, results, [], {})


if __name__ == "__main__":
    unittest.main()
