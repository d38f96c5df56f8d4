"""A tally-web that runs, and a browser on its screens, for scenarios."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Scripts"))

from browser import LONGEST_WAIT_IN_SECONDS, Browser, PageEnded, find_browser  # noqa: E402

# Keys as the protocol names them: key, code, number, text.
KEYS = {
    "Enter": ("Enter", "Enter", 13, "\r"), "Escape": ("Escape", "Escape", 27, ""), "Tab": ("Tab", "Tab", 9, ""),
    " ": (" ", "Space", 32, " "), "ArrowDown": ("ArrowDown", "ArrowDown", 40, ""), "ArrowUp": ("ArrowUp", "ArrowUp", 38, ""),
    "Home": ("Home", "Home", 36, ""), "End": ("End", "End", 35, ""),
    "Delete": ("Delete", "Delete", 46, ""), "/": ("/", "Slash", 191, "/"), "?": ("?", "Slash", 191, "?"),
}
ALT = 1
SHIFT = 8


class Web:
    """A server on a port, a free one unless given, with a store; stopped at the end of a `with` statement."""

    def __init__(self, store, *options, port=0):
        program = os.environ.get("TALLY_WEB") or ROOT / ".build/debug/tally-web"
        self.process = subprocess.Popen(
            [program, "--store", store, "--port", str(port), *options], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line.startswith("Tally is at "), f"tally-web printed {line!r}"
        self.first_address = line.split()[-1]
        self.address = self.first_address.split("/open")[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Ends the server, and returns how long that took in seconds."""
        start = time.monotonic()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(LONGEST_WAIT_IN_SECONDS)
        assert status == 0, f"tally-web ended with {status}"
        return time.monotonic() - start

    def cookie(self):
        """Lets in a client that is not a browser: the header that it must send."""

        class Stay(urllib.request.HTTPRedirectHandler):
            def redirect_request(self, *_):
                return None

        try:
            urllib.request.build_opener(Stay).open(self.first_address)
        except urllib.error.HTTPError as answer:
            return answer.headers["Set-Cookie"].split(";")[0]
        raise AssertionError("the first address leads nowhere")


class Page(Browser):
    """A browser on the screens of a server."""

    def __init__(self, web, width, height, scheme):
        super().__init__(find_browser())
        self.web = web
        self.size = (width, height, scheme)
        self.noise = []
        # Of a scenario's short form.
        self.is_quick = False
        self.open(web.first_address, width, height, scheme)

    def visit(self, path):
        self.keep_noise()
        self.open(self.web.address + path, *self.size)
        self.follow(path)

    def follow(self, path):
        """Waits until the page has its scripts, and for a while until it follows the store."""
        self.wait("document.documentElement.classList.contains('scripted')", f"the scripts of {path}")
        # As soon as the page follows the store, it saves what is being typed. On a busy machine that would come in between.
        with contextlib.suppress(AssertionError):
            self.wait("![undefined, 'opening'].includes(window.tallyConnection?.state)", "the page to follow the store", seconds=5)

    def plain(self, path):
        """Opens a screen in a browser without scripts; `scripted` ends that."""
        self.keep_noise()
        self.call("Emulation.setScriptExecutionDisabled", value=True)
        self.open(self.web.address + path, *self.size)
        # The end of a former page may have come in between.
        self.wait(
            f"document.readyState === 'complete' && location.pathname + location.search === {json.dumps(path)}"
            " && !document.documentElement.classList.contains('scripted')", f"{path} without scripts")

    def scripted(self):
        self.call("Emulation.setScriptExecutionDisabled", value=False)

    def slow(self, milliseconds):
        """Makes every answer come later."""
        self.call("Network.emulateNetworkConditions", offline=False, latency=milliseconds, downloadThroughput=-1, uploadThroughput=-1)

    def new_tab(self):
        """Opens another tab of the same browser, and turns to it; `turn` leads back."""
        former, self.session = self.session, None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(f"{domain}.enable")
        return former, self.session

    def turn(self, session):
        self.session = session
        self.call("Page.bringToFront")

    def keep_noise(self):
        names = ["Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded", "Page.javascriptDialogOpening"]
        self.noise += [event for event in self.events if event.get("method") in names]
        self.events.clear()

    def wait(self, expression, what, seconds=10):
        """Waits until an expression is true; returns how long that took in seconds."""
        start = time.monotonic()
        self.value(f"!!({expression}) || null", what, seconds)
        return time.monotonic() - start

    def value(self, expression, what, seconds=10):
        """The value of an expression, once it has one."""
        start = time.monotonic()
        while time.monotonic() - start < seconds:
            # Between two pages there is no document, for a moment, and a page may end while it is asked.
            with contextlib.suppress(PageEnded):
                value = self.evaluate(f"(() => {{ try {{ return {expression}; }} catch {{ return null; }} }})()")
                if value is not None:
                    return value
            # A part of the time so far: short waits are measured, and long ones do not keep a processor busy.
            time.sleep(min(max(0.002, (time.monotonic() - start) / 10), 0.03))
        shown = self.evaluate("document.getElementById('notice').innerText + '\\n' + document.getElementById('main').innerText.slice(0, 2000)")
        raise AssertionError(f"waited in vain for {what}; the page shows:\n{shown}")

    def text(self, selector="#main"):
        return self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText")

    def titles(self):
        return self.evaluate("[...document.querySelectorAll('#rows .title')].map(title => title.textContent)")

    def press(self, key, modifiers=0):
        name, code, number, text = KEYS.get(key) or (key, f"Key{key.upper()}", ord(key.upper()), key)
        event = {"key": name, "code": code, "windowsVirtualKeyCode": number, "modifiers": modifiers}
        down = {"text": text} if text and not modifiers else {}
        # The key may lead to another page.
        with contextlib.suppress(PageEnded):
            self.call("Input.dispatchKeyEvent", type="keyDown", **event, **down)
            self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def center(self, expression):
        """The middle of an element, once it is there: rows are empty while the page's scripts take them over."""
        return self.value(
            f"(() => {{ const element = {expression}; element.scrollIntoView({{block: 'center'}});"
            " const box = element.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()",
            f"the element {expression}")

    def still_center(self, expression):
        """The middle of an element, once what comes and goes above it has left it where it is for a moment."""
        place = self.center(expression)
        for _ in range(100):
            time.sleep(0.03)
            former, place = place, self.center(expression)
            if place == former:
                return place
        raise AssertionError(f"{expression} does not come to rest")

    def click(self, expression, modifiers=0):
        """Clicks an element; again if something that came above it just then has moved it away."""
        for _ in range(3):
            x, y = self.still_center(expression)
            self.evaluate(
                f"window.pressed = null; document.addEventListener('mousedown', event => {{ const wanted = {expression};"
                " window.pressed = wanted.contains(event.target) || event.target.contains(wanted)"
                " || event.target.closest('label')?.control === wanted; }, { capture: true, once: true })")
            try:
                for kind in ["mousePressed", "mouseReleased"]:
                    self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1, modifiers=modifiers)
                if self.evaluate("window.pressed") is not False:
                    return
            except PageEnded:
                # The press has led to another page.
                return
        raise AssertionError(f"{expression} moves away from each press")

    def drag(self, start, end, below=0, is_mouse=None):
        """Drags from one element to some pixels below another, with a finger on a narrow screen unless told.

        Returns the classes of the line or outline that were shown before the drop.
        """
        is_mouse = self.size[0] > 1000 if is_mouse is None else is_mouse
        x, y = self.take(start, is_mouse)
        # Nothing moves while the row is held. A row with sub-tasks: its own line.
        box, head = self.evaluate(
            f"[({end}), ({end}).querySelector(':scope > .words') ?? ({end})].map(element => element.getBoundingClientRect())"
            ".map(box => [box.x + box.width / 2, box.y + box.height / 2])")
        goal_x, goal_y = head[0], (box[1] if below > 0 else head[1]) + below
        for step in range(1, 6):
            self.point("mouseMoved" if is_mouse else "touchMove", x + (goal_x - x) * step / 5, y + (goal_y - y) * step / 5)
        self.draw()
        shown = self.evaluate(
            "[...document.querySelectorAll('.drop-before, .drop-after, .target')].map(element =>"
            " ['drop-before', 'drop-after', 'target'].find(name => element.classList.contains(name))).join()")
        self.point("mouseReleased" if is_mouse else "touchEnd", goal_x, goal_y)
        return shown

    def take(self, start, is_mouse):
        """Presses an element, and leaves a finger there until the page carries the row; returns the place.

        Presses again if something that came above the element just then has moved it away.
        """
        for _ in range(3):
            x, y = self.still_center(start)
            self.evaluate(
                f"window.pressed = null; document.addEventListener('pointerdown', event => {{ window.pressed = ({start}).contains(event.target); }},"
                " { capture: true, once: true })")
            self.point("mousePressed" if is_mouse else "touchStart", x, y)
            self.wait("window.pressed !== null", "the press")
            if self.evaluate("window.pressed"):
                if not is_mouse:
                    self.wait("document.querySelector('.row.dragged')", "the row under the finger to be carried")
                return x, y
            self.point("mouseReleased" if is_mouse else "touchCancel", x, y)
        raise AssertionError(f"{start} moves away from each press")

    def point(self, kind, x, y):
        """Sends a movement of the mouse with its left button, or of a finger."""
        if kind.startswith("mouse"):
            return self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=int(kind == "mouseMoved"), clickCount=int(kind != "mouseMoved"))
        points = [] if kind in ["touchEnd", "touchCancel"] else [{"x": x, "y": y}]
        return self.call("Input.dispatchTouchEvent", type=kind, touchPoints=points)

    def swipe(self, start, distance):
        """Moves a finger at once, over a distance."""
        x, y = self.still_center(start)
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        for step in range(1, 11):
            self.call("Input.dispatchTouchEvent", type="touchMove", touchPoints=[{"x": x, "y": y + distance * step / 10}])
            time.sleep(0.02)
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def draw(self):
        """Waits until the page has handled what was sent to it, and has drawn it."""
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))", awaits=True)

    def touch(self, expression):
        x, y = self.center(expression)
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])


def row(title):
    """The expression of the row with a title."""
    return f"[...document.querySelectorAll('.row')].find(row => row.querySelector('.title').textContent === {json.dumps(title)})"


class Terminal:
    """The command line on a store."""

    def __init__(self, store):
        self.program = os.environ.get("TALLY") or ROOT / ".build/debug/tally"
        self.store = store

    def __call__(self, *arguments, text="", may_fail=False):
        result = subprocess.run(
            [self.program, "--store", self.store, *arguments], input=text, capture_output=True, encoding="utf-8", check=False)
        assert result.returncode == 0 or may_fail, f"tally {' '.join(arguments)[:200]}: {result.stderr}"
        return result.stdout
