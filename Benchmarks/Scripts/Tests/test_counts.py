"""Reads made-up output of callgrind and strace."""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import counts

CALLS = '''1 pwrite64(3, "before"..., 6, 0) = 6
1 access("/tally-row/begin/create", F_OK) = -1 ENOENT (No such file or directory)
1 pwrite64(3, "\\0"..., 4096, 8192) = 4096
2 fdatasync(3 <unfinished ...>
1 futex(0x1, FUTEX_WAIT, 1, NULL) = 0
2 <... fdatasync resumed>) = 0
1 writev(3, [{iov_base="a"..., iov_len=4096}], 1) = 4096
1 write(3, "full"..., 4) = -1 ENOSPC (No space left on device)
1 access("/tally-row/end/create", F_OK) = -1 ENOENT (No such file or directory)
1 fdatasync(3) = 0
'''


class CountTests(unittest.TestCase):
    def test_only_what_is_between_the_marks_counts_and_each_call_once(self):
        found = counts.calls_by_piece(CALLS.splitlines())
        self.assertEqual(found, {"create": {"calls": 4, "flushes": 1, "bytes": 8192}})

    def test_a_dump_names_its_piece(self):
        self.assertEqual(counts.dump("desc: Trigger: Client Request: edit\nevents: Ir\nsummary: 123\n"), ("edit", 123))
        self.assertEqual(counts.dump("desc: Trigger: Program termination\nsummary: 5\n"), (None, 0))

    def test_a_dump_without_a_total_is_an_error(self):
        with self.assertRaises(counts.CountingFailed):
            counts.dump("desc: Trigger: Client Request: edit\n")


if __name__ == "__main__":
    unittest.main()
