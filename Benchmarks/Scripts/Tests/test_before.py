"""Made-up figures of two builds: the slower one is seen to fail."""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import before


class BeforeTests(unittest.TestCase):
    def states(self, verdicts):
        return {verdict.row: verdict.state for verdict in verdicts}

    def test_four_percent_more_instructions_fail_and_two_do_not(self):
        verdicts = before.judge_instructions({"edit": 1000, "undo": 1000}, {"edit": 1040, "undo": 1020})
        self.assertEqual(self.states(verdicts), {"edit": "missed", "undo": "met"})

    def test_a_row_of_one_build_only_fails(self):
        self.assertEqual(self.states(before.judge_instructions({"edit": 1}, {})), {"edit": "missed"})

    def test_a_tenth_more_time_fails_and_the_same_time_does_not(self):
        noise = [0.97, 1.03] * 10
        ratios = {"slow": [1.1 * each for each in noise], "same": noise}
        self.assertEqual(self.states(before.judge_times(ratios)), {"slow": "missed", "same": "met"})

    def test_noise_that_hides_the_time_fails(self):
        self.assertEqual(self.states(before.judge_times({"row": [0.5, 2.0] * 10, "one": [1.0]})),
                         {"row": "missed", "one": "missed"})


if __name__ == "__main__":
    unittest.main()
