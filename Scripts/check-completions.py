#!/usr/bin/env python3
"""Presses Tab in real shells: bash, zsh and fish complete the commands of tally and what its store holds.

Each shell runs in a pseudo-terminal with the script that `tally --generate-completion-script` prints. Titles and names that
a shell would run or split must be offered as they are, and never be run. Scripts/set-up.sh installs the shells; --require
fails where one is missing, otherwise it is skipped.
"""

import fcntl
import multiprocessing
import os
import pathlib
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = pathlib.Path(os.environ.get("TALLY_PROGRAM", ROOT / ".build/debug/tally")).resolve()
HOSTILE = 'Say "hi": it\'s `touch evil` $(touch evil) ; touch evil\n#!*?[a]{b,c}~ \\n %d'
LISTS = ["Work", "Work $(touch evil)", "Home: it's", "-dash"]
PROMPT = "READY>"
LIMIT = 20

START = {
    "bash": ["bash", "--noprofile", "--norc", "-i"],
    "zsh": ["zsh", "-f", "-i"],
    "fish": ["fish", "--no-config", "-i"],
}
SET_UP = {
    "bash": "PS1='{0}'; bind 'set enable-bracketed-paste off'; bind 'set completion-query-items 500'; "
    "bind 'set page-completions off'; bind 'set show-all-if-ambiguous on'; source {1}",
    "zsh": "PS1='{0}'; unsetopt zle_bracketed_paste prompt_cr prompt_sp; LISTMAX=0; autoload -Uz compinit; "
    "compinit -u -D; source {1}",
    "fish": "function fish_prompt; printf '{0}'; end; function fish_right_prompt; end; source {1}",
}


class Terminal:
    """A shell in a pseudo-terminal of 200 columns."""

    def __init__(self, shell, directory, environment):
        self.shell, self.text = shell, ""
        self.process, self.master = pty.fork()
        if self.process == 0:
            os.chdir(directory)
            os.execvpe(START[shell][0], START[shell], environment)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 200, 0, 0))

    def read(self, quiet=0.4):
        """The output of the shell until it writes nothing for a while."""
        text, end = "", time.monotonic() + LIMIT
        while time.monotonic() < end:
            ready, _, _ = select.select([self.master], [], [], quiet)
            if not ready:
                break
            try:
                piece = os.read(self.master, 65536).decode("utf-8", "replace")
            except OSError:
                break
            # fish asks the terminal what it is, and waits for the answer.
            if "\x1b[c" in piece or "\x1b[0c" in piece:
                os.write(self.master, b"\x1b[?62;c")
            text += piece
        return re.sub(r"\x1b\[[0-9;?>=]*[A-Za-z]|\x1b[=>()][0AB]?|\x1b\][^\a]*(\a|\x1b\\)|\r", "", text)

    def send(self, text):
        os.write(self.master, text.encode())

    def until(self, wanted, what):
        """The output of the shell up to a text."""
        text, end = "", time.monotonic() + LIMIT
        while wanted not in text:
            if time.monotonic() > end:
                sys.exit(f"{self.shell}: {what}: no {wanted!r} in {text!r}")
            text += self.read(0.1)
        return text + self.read(0.2)

    def close(self):
        os.close(self.master)
        os.kill(self.process, 9)
        os.waitpid(self.process, 0)


def offered(terminal, line, *wanted):
    """Types a line, presses Tab and expects some texts."""
    terminal.send(line)
    terminal.read(0.2)
    terminal.send("\t")
    text = terminal.read()
    if not all(word in text for word in wanted):
        terminal.send("\t")
        text += terminal.read()
    for word in wanted:
        if word not in text:
            sys.exit(f"{terminal.shell}: {line!r} does not offer {word!r}, but {text!r}")
    terminal.send("\x03")
    terminal.read(0.2)
    return text


def check(shell, directory, environment, handles):
    script = directory / f"tally.{shell}"
    script.write_text(run(environment, "--generate-completion-script", shell))
    terminal = Terminal(shell, directory, environment)
    terminal.read(1)
    terminal.send(SET_UP[shell].format(PROMPT, script) + "\n")
    terminal.until(PROMPT, "no prompt")
    terminal.read()
    offered(terminal, "tally re", "remind", "reopen", "restore")
    offered(terminal, "tally done ", handles[0], "Buy milk", handles[1], "touch evil")
    offered(terminal, "tally list ", "Work", "evil", "Home", "dash")
    offered(terminal, "tally add x --tag ", "garden", "house")
    offered(terminal, "tally add x --on ", "tomorrow", "eom")
    offered(terminal, "tally filter ", "Chores", "Late")
    offered(terminal, "tally --time-zone Europe/Ist", "anbul")
    offered(terminal, "tally lists mo", "ve")
    offered(terminal, "tally export --form", "at")
    # Words that bash splits.
    offered(terminal, "tally find is:ov", "erdue")
    offered(terminal, "tally stats --by=mo", "nth")
    offered(terminal, "tally import tabl", "es.csv")
    # The inserted text is one word, whatever it holds, and names the list.
    terminal.send("tally list 'Work $'\t" if shell != "fish" else "tally list 'Work $\t")
    terminal.read()
    terminal.send("\x03")
    terminal.read(0.2)
    terminal.send("tally list Home\t")
    terminal.read()
    terminal.send("--json\n")
    terminal.until('"view":"list"', "the completed name is not the list's")
    terminal.close()
    if (directory / "evil").exists():
        sys.exit(f"{shell}: a name or a title was run")


def run(environment, *arguments):
    result = subprocess.run(
        [PROGRAM, *arguments], capture_output=True, encoding="utf-8", env=environment, check=False)
    assert result.returncode == 0, f"{arguments}: {result.stderr}"
    return result.stdout


def fill(environment):
    """Creates a store; returns the handles of its two tasks."""
    for name in LISTS:
        run(environment, "lists", "add", "--", name)
    for name, text in [("Chores", "#house"), ("Late", "is:overdue")]:
        run(environment, "filters", "add", name, text)
    run(environment, "add", "Buy milk", "--today", "--tag", "house", "--tag", "garden")
    run(environment, "add", "--today", "--", HOSTILE)
    tasks = [line.split("\t") for line in run(environment, "today", "--plain").splitlines()]
    return [task[0] for task in tasks]


def main():
    missing = [shell for shell in START if not shutil.which(shell)]
    if missing and "--require" in sys.argv:
        sys.exit(f"missing: {', '.join(missing)}; run Scripts/set-up.sh shells")
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        (directory / "bin").mkdir()
        (directory / "bin/tally").symlink_to(PROGRAM)
        (directory / "tables.csv").write_text("")
        environment = {
            "PATH": f"{directory}/bin:/usr/local/bin:/usr/bin:/bin", "HOME": name, "TALLY_STORE": f"{name}/store",
            "TERM": "xterm-256color", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC",
        }
        handles = fill(environment)
        checked = [shell for shell in START if shell not in missing]
        checks = [
            multiprocessing.Process(target=check, args=(shell, directory, environment, handles)) for shell in checked
        ]
        for process in checks:
            process.start()
        for process in checks:
            process.join()
        if any(process.exitcode for process in checks):
            sys.exit(1)
    print(f"Completion works in {', '.join(checked) or 'no shell'}" + (f"; missing: {missing}" if missing else ""))


if __name__ == "__main__":
    main()
