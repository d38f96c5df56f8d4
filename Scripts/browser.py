"""A headless Chromium for checks, driven by its DevTools protocol: $CHROMIUM or one on the path."""

import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

LONGEST_WAIT_IN_SECONDS = 60
# Words of the errors of a call whose page ends meanwhile.
ENDS_OF_PAGES = ["navigated or closed", "context was destroyed", "Cannot find context", "Cannot find default execution context"]


def find_browser():
    names = ["chromium", "chromium-browser", "google-chrome"]
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


class PageEnded(AssertionError):
    """A page ended while it was asked something."""


class Browser:
    """A headless Chromium with one empty tab, driven by its DevTools protocol over two pipes. Use it in a `with` statement."""

    def __init__(self, program):
        try:
            self.start(program)
        except AssertionError as failure:
            # On a busy machine a browser sometimes ends while it starts, which is no fault of the page.
            print(f"browser: started again: {failure}", file=sys.stderr)
            self.end()
            self.start(program)

    def start(self, program):
        self.folder = tempfile.TemporaryDirectory(prefix="tally-browser-", ignore_cleanup_errors=True)
        browser_reads, self.output = os.pipe()
        self.input, browser_writes = os.pipe()
        command = [
            program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
            "--remote-debugging-pipe", f"--user-data-dir={self.folder.name}", "--no-first-run", "about:blank",
        ]
        # The protocol's pipes are descriptors 3 and 4. A shell moves them there: Python code between fork and exec must not
        # allocate. High numbers, which no other descriptor has, come first, as one of the pipes may be 3 or 4 already.
        moves = f'exec 198<&{browser_reads} 199>&{browser_writes}; exec 3<&198 4>&199 198<&- 199>&-; exec "$@"'
        self.process = subprocess.Popen(
            ["bash", "-c", moves, "browser", *command], pass_fds=[browser_reads, browser_writes],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(browser_reads)
        os.close(browser_writes)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(f"{domain}.enable")

    def end(self):
        self.process.terminate()
        self.process.wait(LONGEST_WAIT_IN_SECONDS)
        os.close(self.input)
        os.close(self.output)
        self.folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def call(self, method, **parameters):
        """Calls a method and waits for its result; other messages of the browser are kept in `events`."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        try:
            os.write(self.output, json.dumps(message).encode() + b"\0")
        except BrokenPipeError:
            raise AssertionError(f"the browser ended before {method}") from None
        while True:
            answer = self.receive(method)
            if answer.get("id") == self.number:
                error = answer.get("error")
                if error and any(words in error["message"] for words in ENDS_OF_PAGES):
                    raise PageEnded(f"{method}: {error}")
                assert not error, f"{method}: {error}"
                return answer["result"]
            self.events.append(answer)

    def receive(self, awaited):
        """The next message; `awaited` names what the caller waits for, for the failure."""
        deadline = time.monotonic() + LONGEST_WAIT_IN_SECONDS
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.input], [], [], max(0, deadline - time.monotonic()))
            chunk = os.read(self.input, 1 << 16) if ready else b""
            assert chunk, f"the browser {'ended' if ready else f'gave no answer in {LONGEST_WAIT_IN_SECONDS} s'}: {awaited}"
            self.buffer += chunk
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def open(self, address, width, height, scheme):
        """Opens a page on a screen of some width, in light or dark, and waits until it has loaded."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        loader = self.call("Page.navigate", url=address)["loaderId"]
        while not self.has_loaded(loader):
            self.events.append(self.receive("Page.loadEventFired"))

    def has_loaded(self, loader):
        """Whether a page has loaded; events of the page before it may come first."""
        begun = [
            number for number, event in enumerate(self.events)
            if event.get("method") == "Page.frameNavigated" and event["params"]["frame"]["loaderId"] == loader]
        return bool(begun) and any(event.get("method") == "Page.loadEventFired" for event in self.events[begun[0]:])

    def evaluate(self, expression, awaits=False):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=awaits)
        assert "exceptionDetails" not in result, result.get("exceptionDetails")
        return result["result"].get("value")
