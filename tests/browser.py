"""Chromium, headless, driven as a person would: keys, clicks and what is to be read. Standard library alone, over DevTools' pipe."""
import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe"]
KEYS = {"Tab": 9, "Enter": 13, " ": 32, "ArrowRight": 39, "ArrowLeft": 37, "ArrowDown": 40}


def find():
    """The browser's path; without one the test is over, or has failed where it must not."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser:
        if os.environ.get("CI"):
            raise AssertionError("chromium is missing, and CI is set")
        print("chromium is missing: the page is not looked at")
        sys.exit(0)
    return browser


class Browser:
    """One tab; use it as a context."""

    def __enter__(self):
        self.profile = tempfile.mkdtemp(prefix="superarm-browser-")
        to_read, self.to = os.pipe()
        self.back, to_write = os.pipe()

        def wire():  # the browser reads 3 and writes 4
            os.dup2(to_read, 103)
            os.dup2(to_write, 104)
            os.dup2(103, 3)
            os.dup2(104, 4)
        self.process = subprocess.Popen([find(), *FLAGS, f"--user-data-dir={self.profile}", "about:blank"], preexec_fn=wire, close_fds=False,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.numbers, self.rest, self.complaints, self.session = itertools.count(1), b"", [], None
        target = next(one for one in self.send("Target.getTargets")["targetInfos"] if one["type"] == "page")
        self.session = self.send("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(domain + ".enable")
        self.requests = []
        self.size(1100, 900)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.profile, ignore_errors=True)

    def _read(self, seconds=30):
        while b"\0" not in self.rest:
            assert select.select([self.back], [], [], seconds)[0], "the browser is silent"
            part = os.read(self.back, 1 << 20)
            assert part, "the browser has ended"
            self.rest += part
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def _note(self, message):
        what, about = message.get("method"), message.get("params", {})
        if what == "Runtime.exceptionThrown":
            self.complaints.append(about["exceptionDetails"].get("exception", {}).get("description", str(about)))
        elif what == "Log.entryAdded" and about["entry"]["level"] == "error":
            self.complaints.append(about["entry"]["text"] + " " + about["entry"].get("url", ""))
        elif what == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])

    def send(self, method, **parameters):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters, **({"sessionId": self.session} if self.session else {})}
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == number:
                assert "error" not in answer, (method, answer)
                return answer["result"]
            self._note(answer)

    # ---- what a person does ----

    def go(self, address):
        self.send("Page.navigate", url=address)

    def size(self, width, height, phone=False):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)

    def dark(self, dark):
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def press(self, key, times=1):
        for _ in range(times):
            about = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": KEYS[key]}
            text = {"text": "\r"} if key == "Enter" else {"text": " "} if key == " " else {}
            self.send("Input.dispatchKeyEvent", type="keyDown", **about, **text)
            self.send("Input.dispatchKeyEvent", type="keyUp", **about)

    def write(self, text):
        self.send("Input.insertText", text=text)

    def click(self, selector):
        self.run(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center'}})")
        box = self.run(f"(() => {{ const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()")
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    # ---- what is to be seen ----

    def run(self, script):
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, (script, answer["exceptionDetails"])
        return answer["result"].get("value")

    def text(self, selector="main"):
        """As it is rendered: what is hidden is not there."""
        return self.run(self._rendered(selector))

    def _rendered(self, selector):
        """Of a node that is not rendered, innerText would be all of it."""
        return f"((node) => node && node.getClientRects().length ? node.innerText : '')(document.querySelector({json.dumps(selector)}))"

    def until(self, script, seconds=25):
        """Waits until it is true; its value."""
        give_up = time.monotonic() + seconds
        while True:
            value = self.run(script)
            if value:
                return value
            assert time.monotonic() < give_up, (script, self.text()[-3000:], self.complaints)
            time.sleep(0.05)

    def see(self, words, selector="main", seconds=25):
        return self.until(f"{self._rendered(selector)}.includes({json.dumps(words)})", seconds)

    def picture(self, path):
        """The whole page."""
        height = self.run("document.documentElement.scrollHeight")
        width = self.run("window.innerWidth")
        taken = self.send("Page.captureScreenshot", captureBeyondViewport=True, clip={"x": 0, "y": 0, "width": width, "height": height, "scale": 1})
        with open(path, "wb") as file:
            file.write(base64.b64decode(taken["data"]))
