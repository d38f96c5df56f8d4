#!/usr/bin/env python3
"""PostgreSQL servers on loopback for tests, each in a directory of its own that goes with it.

As a program it starts one server, sets TALLY_HUB_DATABASE to its address and runs a command: Hub/Scripts/postgresql.py COMMAND…
"""

import contextlib
import glob
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time


def programs():
    """The directory of the newest server's programs."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda path: int(path.split("/")[4]))
    program = found[-1] if found else shutil.which("initdb")
    if not program:
        sys.exit("PostgreSQL is missing: run Scripts/set-up.sh database")
    return pathlib.Path(program).parent


def free_port():
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """One server; as root it runs as the user postgres, since it refuses root."""

    def __init__(self, directory, settings=(), host="127.0.0.1", wrap=()):
        self.directory, self.port, self.host = pathlib.Path(directory), free_port(), host
        self.settings, self.wrap = dict(settings), list(wrap)
        self.process = None
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.getuid() == 0:
            shutil.chown(self.directory, "postgres", "postgres")

    @property
    def data(self):
        return self.directory / "data"

    def run(self, program, *arguments, **options):
        words = [programs() / program, *arguments]
        return subprocess.run(words, check=True, stdout=subprocess.DEVNULL, **self.identity(), **options)

    def identity(self):
        # A directory that the user postgres may enter.
        found = {"cwd": self.directory}
        if os.getuid() == 0:
            user = pwd.getpwnam("postgres")
            found.update(user=user.pw_uid, group=user.pw_gid, extra_groups=[])
        return found

    def create(self):
        self.run("initdb", "--pgdata", self.data, "--username", "postgres", "--auth", "trust", "--no-sync", "--locale", "C")
        return self

    def copy_of(self, primary):
        """Makes this server a standby of another one that runs."""
        self.run(
            "pg_basebackup", "--pgdata", self.data, "--write-recovery-conf", "--no-sync", "--checkpoint", "fast", "--dbname",
            primary.address("postgres"))
        return self

    def start(self):
        settings = {
            "listen_addresses": self.host, "port": self.port, "unix_socket_directories": self.directory,
            "max_connections": 1_000, **self.settings}
        words = [*self.wrap, programs() / "postgres", "-D", self.data]
        for key, value in settings.items():
            words += ["-c", f"{key}={value}"]
        with open(self.directory / "log", "ab") as log:
            self.process = subprocess.Popen(words, stdout=log, stderr=log, **self.identity())
        self.wait()
        return self

    def wait(self):
        deadline = time.monotonic() + 60
        while subprocess.run(
                [programs() / "pg_isready", "-q", "-h", str(self.directory), "-p", str(self.port)]).returncode != 0:
            if time.monotonic() > deadline or self.process.poll() is not None:
                sys.exit("PostgreSQL does not start:\n" + (self.directory / "log").read_text()[-2000:])
            time.sleep(0.05)

    def stop(self, how=signal.SIGINT):
        """Ends the server: SIGINT with its connections, SIGQUIT without writing anything more."""
        if self.process:
            self.process.send_signal(how)
            self.process.wait(timeout=60)
            self.process = None

    def kill(self):
        """Kills all processes of the server, as if the machine lost its power."""
        children = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True).stdout.split()
        for process in [self.process.pid, *map(int, children)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self.process.wait(timeout=60)
        self.process = None
        while subprocess.run(["pgrep", "-f", str(self.data)], capture_output=True).returncode == 0:
            time.sleep(0.02)

    def cut_off(self):
        """Lets a standby get nothing more from its primary."""
        self.query("postgres", "ALTER SYSTEM SET primary_conninfo = ''")
        self.query("postgres", "SELECT pg_reload_conf()")

    def promote(self):
        self.query("postgres", "SELECT pg_promote()")

    def address(self, database):
        return f"postgresql://postgres@{self.host}:{self.port}/{database}"

    def query(self, database, text):
        words = [programs() / "psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-h", str(self.directory), "-p", str(self.port)]
        words += ["-U", "postgres", "-d", database, "-c", text]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()

    def database(self, name):
        self.query("postgres", f"CREATE DATABASE {name}")
        return self.address(name)


@contextlib.contextmanager
def directory():
    """A temporary directory that the user postgres may enter."""
    with tempfile.TemporaryDirectory(prefix="tally-") as path:
        os.chmod(path, 0o755)
        yield pathlib.Path(path)


def main():
    with directory() as folder:
        # Nothing here has to survive a power cut.
        server = Server(folder / "server", {"fsync": "off", "full_page_writes": "off"}).create().start()
        try:
            environment = dict(os.environ, TALLY_HUB_DATABASE=server.address("postgres"))
            return subprocess.run(sys.argv[1:], env=environment).returncode
        finally:
            server.stop()


if __name__ == "__main__":
    sys.exit(main())
