"""Debian's Chromium, without a window, driven by its own protocol (DevTools) over a pair of pipes.

No port is open, and nothing has to be installed beside it. Messages are JSON with a zero byte behind them.
"""

import base64
import collections
import contextlib
import itertools
import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading

import worlds

DEJAVU = "/usr/share/fonts/truetype/dejavu"
# Without a font it ends, and says nothing of fonts. tools/deps installs both.
PROGRAM = shutil.which("chromium") if os.path.isdir(DEJAVU) else None
MISSING = "there is no Chromium: tools/deps browser installs it"
LIMIT = 30
# Nothing of it asks anybody but the page's server; as root it has no sandbox of its own.
FLAGS = (
    "--headless", "--remote-debugging-pipe", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-extensions", "--disable-gpu", "--disable-dev-shm-usage", "--password-store=basic",
    "--force-color-profile=srgb", "--hide-scrollbars", "--lang=en-GB",
)  # fmt: skip


# Those of Debian's fonts-dejavu-core: a picture is the same on a machine that has others, too.
FONTS = f"""<fontconfig>
<dir>{DEJAVU}</dir><cachedir prefix="xdg">fontconfig</cachedir>
<selectfont>
<acceptfont><glob>*/DejaVuSans.ttf</glob><glob>*/DejaVuSans-Bold.ttf</glob><glob>*/DejaVuSansMono.ttf</glob></acceptfont>
<rejectfont><glob>*</glob></rejectfont>
</selectfont>
<alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
</fontconfig>
"""


class Failed(Exception):
    """What the browser refused, or the page's program threw."""


class Browser:
    """Thread-compatible. Ends with close(), and with the test program."""

    def __init__(self, *flags):
        self.folder = tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True)
        theirs, self.commands = os.pipe()
        self.answers, out = os.pipe()
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        command = [PROGRAM, *FLAGS, *sandbox, f"--user-data-dir={self.folder.name}", *flags, "about:blank"]
        self.said = os.path.join(self.folder.name, "stderr")
        fonts = os.path.join(self.folder.name, "fonts.conf")
        with open(fonts, "w", encoding="ascii") as file:
            file.write(FONTS)
        # The browser reads what we say from its descriptor 3, and writes to 4. A later pipe has larger numbers than those.
        with open(self.said, "wb") as said:
            self.process = subprocess.Popen(
                ["/bin/sh", "-c", f'exec "$@" 3<&{theirs} 4>&{out}', "sh", *command],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said,
                pass_fds=(theirs, out), env={**os.environ, "HOME": self.folder.name, "FONTCONFIG_FILE": fonts}, start_new_session=True,
            )  # fmt: skip
        os.close(theirs)
        os.close(out)
        self.numbers = itertools.count(1)
        self.waiting = {}
        self.pages = {}
        threading.Thread(target=self.read, daemon=True).start()

    def close(self):
        with contextlib.suppress(OSError, Failed):
            self.call("Browser.close")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        self.process.kill()
        self.process.wait()
        os.close(self.commands)
        self.folder.cleanup()

    def read(self):
        rest = b""
        with contextlib.suppress(OSError):
            while piece := os.read(self.answers, 1 << 20):
                *messages, rest = (rest + piece).split(b"\0")
                for message in messages:
                    self.take(json.loads(message))
        os.close(self.answers)

    def take(self, message):
        if "id" in message:
            self.waiting.pop(message["id"]).put(message)
        elif (page := self.pages.get(message.get("sessionId"))) is not None:
            page.heard(message["method"], message["params"])

    def call(self, method, session=None, limit=LIMIT, **params):
        number = next(self.numbers)
        answer = self.waiting[number] = queue.Queue(1)
        message = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        text = json.dumps(message).encode() + b"\0"
        try:
            while text:
                text = text[os.write(self.commands, text) :]
            found = answer.get(timeout=limit)
        except BrokenPipeError:
            raise Failed(f"{method}: the browser has ended: {self.last_words()}") from None
        except queue.Empty:
            raise Failed(f"{method} has no answer within {limit} s; the browser said: {self.last_words()}") from None
        if "error" in found:
            raise Failed(f"{method}: {found['error']['message']}")
        return found["result"]

    def last_words(self):
        with open(self.said, encoding="utf-8", errors="replace") as file:
            return "".join(file.readlines()[-10:]) or "nothing"

    def open(self, url, width=1280, height=900, before=""):
        """A tab. `before`: a program that runs in it before those of the page."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self.pages[session] = Page(self, session, target)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        page.resize(width, height)
        if before:
            page.call("Page.addScriptToEvaluateOnNewDocument", source=before)
        page.go(url)
        return page


class Page:
    """One tab. What its program complained of is in `errors`, whom it asked in `asked`."""

    def __init__(self, browser, session, target):
        self.browser, self.session, self.target = browser, session, target
        self.errors = []
        self.asked = collections.Counter()

    def heard(self, method, params):
        if method == "Network.requestWillBeSent":
            self.asked[params["request"]["url"]] += 1
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.errors.append(" ".join(str(one.get("value", one.get("description"))) for one in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            entry = params["entry"]
            self.errors.append(f"{entry['text']} {entry.get('url', '')}")

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def go(self, url):
        self.call("Page.navigate", url=url)

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)

    def to_front(self):
        self.call("Page.bringToFront")

    def resize(self, width, height, phone=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)

    def media(self, kind="", **features):
        """What the page's style sheets ask for: "print"; prefers_color_scheme="dark"."""
        found = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.call("Emulation.setEmulatedMedia", media=kind, features=found)

    def evaluate(self, expression, limit=LIMIT):
        """The value of an expression of JavaScript, or what its promise comes to within so many seconds."""
        found = self.call("Runtime.evaluate", limit=limit, expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            details = found["exceptionDetails"]
            raise Failed(details.get("exception", {}).get("description") or details["text"])
        return found["result"].get("value")

    def text(self, selector="body"):
        return self.evaluate(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def until(self, what, expression, seconds=LIMIT):
        return worlds.until(what, lambda: self.evaluate(expression), seconds, lambda: f"{self.errors}\n{self.text()[:3000]}")

    def until_says(self, words, selector="body", seconds=LIMIT):
        """What the selected element says holds these words."""
        expression = f"(document.querySelector({json.dumps(selector)})?.innerText ?? '').includes({json.dumps(words)})"
        self.until(f"{selector} says {words}", expression, seconds)

    def press(self, key, code=None, text=None):
        event = {"key": key, "code": code or key, "windowsVirtualKeyCode": {"Tab": 9, "Enter": 13}.get(key, 0)}
        self.call("Input.dispatchKeyEvent", type="keyDown", **event, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def shot(self):
        """A PNG of what the window shows."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(self.shot())
