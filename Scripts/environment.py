"""The packages that the scripts use, installed into .build/python as Scripts/requirements.txt lists them."""

import fcntl
import filecmp
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / ".build/python"
REQUIREMENTS = ROOT / "Scripts/requirements.txt"


def create(installed):
    shutil.rmtree(ENVIRONMENT, ignore_errors=True)
    if subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT]).returncode:
        sys.exit("Python cannot create a virtual environment; on Debian: apt-get install python3-venv")
    subprocess.run(
        [ENVIRONMENT / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", REQUIREMENTS],
        check=True)
    shutil.copy(REQUIREMENTS, installed)


def enter():
    """Runs the script again in the environment that has the packages; creates that if it is missing or out of date."""
    if pathlib.Path(sys.prefix).resolve() == ENVIRONMENT.resolve():
        return
    # The copy is written last, so that an incomplete environment is created again.
    installed = ENVIRONMENT / REQUIREMENTS.name
    ENVIRONMENT.parent.mkdir(exist_ok=True)
    with open(ENVIRONMENT.with_suffix(".lock"), "w") as lock:
        # Another script may be creating it at the same time.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not installed.exists() or not filecmp.cmp(REQUIREMENTS, installed, shallow=False):
            create(installed)
    python = str(ENVIRONMENT / "bin/python")
    os.execv(python, [python, *sys.argv])
