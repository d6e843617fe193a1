#!/usr/bin/env python3
"""serve_page.py PROGRAM [PICTURE.png]: the page in a real browser (Chromium, headless): it lives, and a client's text stays text."""
import html
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading

from service import home, main

PROGRAM = sys.argv[1]
PICTURE = sys.argv[2] if len(sys.argv) > 2 else None
AGENT = {"options": {"algorithm": "cn-ucb", "dim": 3, "hidden": 8}, "slate": 3, "default_feedback": 0, "wait_seconds": 0}
EVIL = "<img src=x onerror=alert(1)><script>document.title='owned'</script>"


def browse(address, *options):
    """What the browser made of the page, and what it complained about."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if not browser:
        if os.environ.get("CI"):
            raise AssertionError("chromium is missing, and CI is set")
        print("chromium is missing: the page is not looked at")
        sys.exit(0)
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run([browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={profile}", "--enable-logging=stderr",
                               "--virtual-time-budget=5000", "--window-size=1100,1200", *options, address], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-500:]
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def traffic(server, rounds, name="home"):
    for i in range(rounds):
        event = EVIL + str(i)
        contexts = [[(i * 7 + j * 3 + k * 5) % 11 / 10 - 0.5 for k in range(3)] for j in range(8)]
        got = server.call("POST", f"/v1/agents/{name}/decide", {"event": event, "contexts": contexts})
        assert got[0] == 201, got
        values = [float(contexts[arm][0] > 0) for arm in got[1]["slate"]]
        assert server.call("POST", f"/v1/agents/{name}/feedback", {"event": event, "feedback": values})[0] == 204


def the_first_request_works_as_pasted():
    with home(PROGRAM) as server:
        status, page, headers = server.call("GET", "/")
        assert status == 200 and "default-src 'none'" in headers["Content-Security-Policy"], headers
        assert "unsafe" not in headers["Content-Security-Policy"] and headers["X-Content-Type-Options"] == "nosniff"
        pasted = [html.unescape(line) for line in re.findall(r"<pre>(.*?)</pre>", page.decode(), re.S)]
        assert len(pasted) == 3, pasted
        for command, expected in zip(pasted, ("201", "201", "204")):
            done = subprocess.run(["sh", "-c", command + " -s -o /dev/null -w '%{http_code}'"], capture_output=True, text=True, timeout=20)
            assert done.stdout == expected, (command, done)


def the_page_lives():
    with home(PROGRAM) as server:
        document, complaints = browse(f"http://127.0.0.1:{server.port}/", "--dump-dom")
        assert not complaints, complaints
        assert '<section id="live" hidden' in document and "A first request" in document
        assert server.call("PUT", "/v1/agents/home", AGENT)[0] == 201
        stop = threading.Event()

        def keep_going():
            part = 0
            while not stop.is_set():
                server.call("POST", "/v1/agents/home/decide", {"event": f"{EVIL}x{part}", "contexts": [[0.1 * part % 1, 1, 0]] * 4})
                part += 1
        traffic(server, 150)
        thread = threading.Thread(target=keep_going)
        thread.start()
        try:
            document, complaints = browse(f"http://127.0.0.1:{server.port}/", "--dump-dom")
            if PICTURE:
                browse(f"http://127.0.0.1:{server.port}/", f"--screenshot={PICTURE}")
        finally:
            stop.set()
            thread.join()
        assert not complaints, complaints
        text = html.unescape(re.sub(r"<[^>]*>", " ", document))
        assert "ready" in text and "<title>superarm serve</title>" in document and "owned'" in text
        assert not re.search(r"<img[^>]*onerror", document) and document.count("<script") == 1, "a client's text became HTML"
        assert EVIL in html.unescape(document), "the event is shown"
        assert re.search(r'id="model">1[0-9][0-9]<', document) and document.count('class="bar"') >= 12, "slates with their widths"
        assert re.search(r'<option value="home">home', document)
        number = re.search(r'id="mean">([0-9.]+)<', document)
        assert number and 0 < float(number[1]) <= 3, "the mean feedback"


def broken_agents_and_unknown_fields_are_listed():
    with home(PROGRAM) as server:
        for name in ("home", "worn"):
            assert server.call("PUT", "/v1/agents/" + name, AGENT)[0] == 201
        fields = {**AGENT, "options": {"hidden": 4}, "schema": {"item": {"price": "log"}}, "slate": 1}
        assert server.call("PUT", "/v1/agents/fields", fields)[0] == 201  # the first of the list, which is shown
        with sqlite3.connect(server.folder + "/journal.db") as database:
            database.execute("UPDATE agents SET settings = ? WHERE name = 'worn'", ('{"options": {"dim": 3, "<b>bold</b>": 1}}',))
        database.close()
        server.kill()
        server.start()
        for _ in range(3):
            assert server.call("POST", "/v1/agents/fields/decide", {"items": [{"price": 1, "<i>prize</i>": 2}, {"price": 2}]})[0] == 201
        document, complaints = browse(f"http://127.0.0.1:{server.port}/", "--dump-dom")
        if PICTURE:
            browse(f"http://127.0.0.1:{server.port}/", f"--screenshot={PICTURE}-broken.png")
        assert not complaints, complaints
        listed = re.search(r'<ul id="broken" class="broken">(.*?)</ul>', document, re.S)
        assert listed and "worn is broken" in listed[1] and "&lt;b&gt;bold" in listed[1], document[:3000]
        assert re.search(r'<option value="worn">worn \(broken\)', document) and re.search(r'<option value="home">home<', document)
        unknown = re.search(r'<p id="unknown" class="broken">(.*?)</p>', document, re.S)
        assert unknown and "items.&lt;i&gt;prize&lt;/i&gt; 3" in unknown[1], unknown and unknown[1]


if __name__ == "__main__":
    main(the_first_request_works_as_pasted, the_page_lives, broken_agents_and_unknown_fields_are_listed)
