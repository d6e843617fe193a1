#!/usr/bin/env python3
"""serve_page.py PROGRAM [FOLDER]: the page in a real browser (Chromium, headless), by a person's steps. With FOLDER, pictures of each state go there."""
import calendar
import html
import json
import os
import re
import sqlite3
import subprocess
import sys
import time

from browser import Browser, find
from service import home, main, until

PROGRAM = sys.argv[1]
PICTURES = sys.argv[2] if len(sys.argv) > 2 else None
AGENT = {"options": {"algorithm": "cn-ucb", "dim": 3, "hidden": 8, "floor": 0.2}, "slate": 3, "default_feedback": 0, "wait_seconds": 0}
EVIL = "<img src=x onerror=alert(1)><script>document.title='owned'</script>"
# Text and background of everything that is to be read, by the formula of WCAG 2.1; what is less than 4.5 (3 for large text).
CONTRAST = """(() => {
  const number = (text) => { const parts = text.match(/[0-9.]+/g).map(Number); return parts.length < 4 ? [...parts, 1] : parts; };
  const light = (rgb) => { const [r, g, b] = rgb.map((c) => { c /= 255; return c <= 0.03928 ? c / 12.92 : Math.pow((c + 0.055) / 1.055, 2.4); }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const bad = [];
  for (const node of document.querySelectorAll("body *")) {
    if (!node.getClientRects().length || ![...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim())) continue;
    const style = getComputedStyle(node), color = number(node instanceof SVGElement ? style.fill : style.color);
    let under = node, ground = [0, 0, 0, 0];
    while (under && (ground = number(getComputedStyle(under).backgroundColor))[3] === 0) under = under.parentElement;
    const [a, b] = [light(color.slice(0, 3)), light(ground.slice(0, 3))], ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < (parseFloat(style.fontSize) >= 24 ? 3 : 4.5)) bad.push([node.tagName, node.textContent.slice(0, 40), ratio.toFixed(2)]);
  }
  return bad;
})()"""
# Everything that a key or a reader of screens needs.
ACCESS = """(() => {
  const bad = [], seen = (node) => node.getClientRects().length > 0;
  for (const node of document.querySelectorAll("input, textarea, select")) if (seen(node) && !(node.labels && node.labels.length)) bad.push(["no label", node.id]);
  for (const node of document.querySelectorAll("button, a")) if (seen(node) && !node.textContent.trim() && !node.getAttribute("aria-label")) bad.push(["no name", node.outerHTML]);
  for (const node of document.querySelectorAll("svg")) if (seen(node) && node.getAttribute("aria-hidden") !== "true" && !node.getAttribute("aria-label")) bad.push(["no words", node.outerHTML.slice(0, 80)]);
  for (const node of document.querySelectorAll("th")) if (!node.scope) bad.push(["no scope", node.textContent]);
  const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) bad.push(["twice", id]);
  const levels = [...document.querySelectorAll("h1, h2, h3")].filter(seen).map((node) => Number(node.tagName[1]));
  levels.forEach((level, index) => { if (index && level > levels[index - 1] + 1) bad.push(["a heading is left out", index]); });
  return bad;
})()"""


def address(server, rest=""):
    return f"http://127.0.0.1:{server.port}/{rest}"


def look(browser, server, name):
    """In this state: nothing complains, nothing comes from elsewhere, all can be read, by day and night, on a desk and on a phone."""
    for width, phone in ((1100, False), (375, True)):
        browser.size(width, 900, phone)
        for dark in (False, True):
            browser.dark(dark)
            browser.run("new Promise((done) => setTimeout(done, 150))")  # for what is drawn again
            assert not browser.run(CONTRAST), (name, width, dark, browser.run(CONTRAST))
            assert browser.run("document.documentElement.scrollWidth <= window.innerWidth"), (name, width, "it is wider than the screen")
            if PICTURES:
                os.makedirs(PICTURES, exist_ok=True)
                browser.picture(f"{PICTURES}/{name}-{'phone' if phone else 'desk'}{'-dark' if dark else ''}.png")
    browser.dark(False)
    browser.size(1100, 900)
    assert not browser.run(ACCESS), (name, browser.run(ACCESS))
    foreign = [url for url in browser.requests if not url.startswith(address(server)) and not url.startswith("data:")]
    assert not foreign, foreign
    assert not browser.complaints, browser.complaints


def traffic(server, rounds, name="home", **more):
    for i in range(rounds):
        event = EVIL + str(i)
        contexts = [[(i * 7 + j * 3 + k * 5) % 11 / 10 - 0.5 for k in range(3)] for j in range(8)]
        got = server.call("POST", f"/v1/agents/{name}/decide", {"event": event, "contexts": contexts, **more})
        assert got[0] == 201, got
        values = [float(contexts[arm][0] > 0) for arm in got[1]["slate"]]
        assert server.call("POST", f"/v1/agents/{name}/feedback", {"event": event, "feedback": values})[0] == 204


def the_first_request_works_as_pasted():
    with home(PROGRAM) as server, Browser() as browser:
        status, page, headers = server.call("GET", "/")
        assert status == 200 and "default-src 'none'" in headers["Content-Security-Policy"], headers
        assert "unsafe" not in headers["Content-Security-Policy"] and headers["X-Content-Type-Options"] == "nosniff"
        browser.go(address(server))
        browser.see("A first request")
        assert "Agents" not in browser.text(), "there are none"
        look(browser, server, "empty")
        pasted = [html.unescape(line) for line in re.findall(r"<pre>(.*?)</pre>", page.decode(), re.S)]
        assert len(pasted) == 3, pasted
        for command, expected in zip(pasted, ("201", "201", "204")):
            done = subprocess.run(["sh", "-c", command + " -s -o /dev/null -w '%{http_code}'"], capture_output=True, text=True, timeout=20)
            assert done.stdout == expected, (command, done)
        browser.see("home", "#agents")  # by itself


def a_client_stays_text():
    with home(PROGRAM) as server, Browser() as browser:
        assert server.call("PUT", "/v1/agents/home", AGENT)[0] == 201
        browser.go(address(server, "#/agents/home"))
        browser.see("No event has been learnt in this time.")
        browser.see("without a control", "#verdict")
        look(browser, server, "new")
        traffic(server, 150)
        browser.go(address(server, "#/agents/home?"))
        browser.see("150", "#decisions")
        browser.until("document.querySelectorAll('#recent .bar').length >= 12")
        assert browser.run("document.querySelectorAll('main img, main script').length") == 0 and browser.run("document.title") == "home – superarm serve"
        assert browser.run(f"document.getElementById('recent').textContent.includes({json.dumps(EVIL)})"), "the event is shown"


def a_morning_by_keyboard():
    """From the list to an agent, its history, a request, an evaluation, and back, without a mouse."""
    with home(PROGRAM) as server, Browser() as browser:
        for name in ("alpha", "home"):
            assert server.call("PUT", "/v1/agents/" + name, AGENT)[0] == 201
        traffic(server, 300)
        browser.go(address(server))
        browser.see("home", "#agents")
        focused = "document.activeElement.textContent"
        for _ in range(10):
            browser.press("Tab")
            if browser.run(focused) == "home":
                break
        assert browser.run(focused) == "home"
        time.sleep(2.5)  # the list is filled again meanwhile: the focus stays
        assert browser.run(focused) == "home"
        browser.press("Enter")
        browser.see("Feedback by place")
        assert browser.run("location.hash") == "#/agents/home" and browser.run("document.activeElement.id") == "main"
        browser.see("300", "#decisions")
        for _ in range(12):  # to the ranges, which arrows change
            browser.press("Tab")
            if browser.run("document.activeElement.name") == "range":
                break
        browser.press("ArrowRight")
        browser.see("in the last 30 days", "#decisions-of")
        browser.press("ArrowRight")
        browser.see("in the last 52 weeks", "#decisions-of")
        # the table behind the charts
        for _ in range(5):
            browser.press("Tab")
            if browser.run("document.activeElement.tagName") == "SUMMARY":
                break
        browser.press("Enter")
        browser.see("no events", "#history-table")
        assert browser.run("document.querySelector('#history-table tbody tr td').textContent") == "300"
        # a request: as it is proposed, then wrong, then not JSON; nothing is kept of any
        before = server.call("GET", "/v1/agents/home")[1]["counts"]["decisions"]
        for _ in range(20):
            browser.press("Tab")
            if browser.run("document.activeElement.id") == "try-body":
                break
        assert browser.run("document.activeElement.id") == "try-body"
        browser.press("Tab")
        browser.press("Enter")
        browser.see("its probability is", "#try-answer")
        assert browser.run("document.querySelectorAll('#try-answer .arm').length") == 3
        for body, words in (('{"contexts": [[1]]}', "the agent's dim is 3"), ('{"contexts": ', "This is not JSON")):
            browser.run("document.getElementById('try-body').focus(); document.getElementById('try-body').select()")
            browser.write(body)
            browser.click("#try-form button")
            browser.see(words, "#try-answer")
        assert server.call("GET", "/v1/agents/home")[1]["counts"]["decisions"] == before
        # an evaluation: refused in words, made, and removed
        browser.run("document.getElementById('evaluation-options').focus(); document.getElementById('evaluation-options').select()")
        browser.write('{"algorithm": "comblin-ucb", "dim": 7}')
        browser.click("#evaluation-form button")
        browser.see("the events of this agent have 3 features", "#evaluation-answer")
        browser.run("document.getElementById('evaluation-options').focus(); document.getElementById('evaluation-options').select()")
        browser.write('{"algorithm": "comblin-ucb"}')
        browser.press("Tab", 1)
        browser.click("#evaluation-form button")
        browser.see("Evaluation 1 has begun", "#evaluation-answer")
        browser.see("candidate minus present", "#evaluations-table", 60)
        assert "done" in browser.text("#evaluations-table")
        browser.complaints.clear()  # a 400 is a line of the console
        look(browser, server, "agent")
        browser.click("#evaluations-table button")
        until(lambda: server.call("GET", "/v1/agents/home/evaluations")[1]["evaluations"] == [])
        browser.click(".crumb a")
        browser.see("alpha", "#agents")
        assert "Feedback by place" not in browser.text()
        browser.go(address(server, "#/agents/nobody"))
        browser.see("There is no agent nobody")


def a_month(now):
    """Days of a ledger: two runs with a gap of three days, an agent and a control; the answer of GET .../history, and the same by day."""
    rows, days = [], {}
    today = now // 86400
    for day in range(today - 29, today + 1):
        if today - 12 <= day <= today - 10:
            continue
        days[day] = {"agent": [900, 450.0 + 3 * (day % 7)], "control": [100, 40.0 + day % 3]}
        for part in (0, 1):
            hour = day * 24 + 6 * part
            sides = {side: {"decisions": count // 2, "learnt": count // 2, "reward": reward / 2} for side, (count, reward) in days[day].items()}
            rows.append({"time": hour * 3600, "sums": {"hours": 1, "sides": sides, "feedback": 300, "late": 3, "revised": 0, "explored": 50,
                                                       "places": [[500, 150.0], [500, 75.0]], "items": [["shoe", 300, 0], ["hat", 100, 0]]}})
    return rows, days


def a_month_has_its_gaps():
    """The service's history is somebody else's test: here it is given, and what the page makes of it is looked at."""
    with home(PROGRAM) as server, Browser() as browser:
        assert server.call("PUT", "/v1/agents/home", {**AGENT, "control": 0.1})[0] == 201
        now = int(time.time())
        rows, days = a_month(now)
        sides = {"since": now - 30 * 86400, "agent": {"events": 24300, "reward": 0.51}, "control": {"events": 2700, "reward": 0.41},
                 "difference": {"value": 0.1, "low": 0.03, "high": 0.17, "standard_error": 0.02}}
        browser.send("Page.addScriptToEvaluateOnNewDocument", source="""
            const real = window.fetch;
            window.fetch = async (path, options) => {
              if (String(path).includes("/history")) { window.asked = String(path); return new Response(JSON.stringify({ history: %s })); }
              const answer = await real(path, options);
              if (!/agents.home$/.test(String(path))) return answer;
              return new Response(JSON.stringify({ ...(await answer.json()), sides: %s }));
            };""" % (json.dumps(rows), json.dumps(sides)))
        browser.go(address(server, "#/agents/home"))
        browser.see("Better than the control: between +0.03 and +0.17 a decision.", "#verdict")
        browser.click("input[value=month]")
        browser.see("27,000", "#decisions")
        browser.run("document.getElementById('history-details').open = true")
        table = browser.run("[...document.querySelectorAll('#history-table tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent))")
        expected = []
        for day in sorted(days, reverse=True):
            name = time.strftime("%Y-%m-%d", time.gmtime(day * 86400))
            own, control = days[day]["agent"], days[day]["control"]
            expected.append([name, "1,000", "1,000", *(f"{reward / count:.3g}" for count, reward in (own, control)), "600", "6"])
        gap = [time.strftime("%Y-%m-%d", time.gmtime((now // 86400 - back) * 86400)) for back in (12, 10)]
        expected.insert(10, [f"{gap[0]} to {gap[1]}", "no events"])
        assert table == expected, [pair for pair in zip(table, expected) if pair[0] != pair[1]][:3]
        for side in ("one", "two"):  # a line is cut where there is a gap
            path = browser.run(f"document.querySelector('#rewards path.{side}').getAttribute('d')")
            assert path.count("M") == 2 and path.count("L") == 25, path
        assert browser.run("document.querySelectorAll('#volumes rect').length") == 27
        assert browser.run("Number(new URLSearchParams(window.asked.split('?')[1]).get('from'))") == (now // 86400 - 29) * 86400
        places = browser.run("[...document.querySelectorAll('#places-table tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent))")
        assert [row[:3] for row in places] == [["1", "27,000", "0.3"], ["2", "27,000", "0.15"]], places
        items = browser.run("[...document.querySelectorAll('#items-table tbody tr')].map((row) => row.children[0].textContent + ' ' + row.children[1].textContent)")
        assert items == ["shoe 16,200", "hat 5,400"], items
        browser.see("Late feedback, after its wait had ended: 162 of 16,200 (1%)", "#quality")
        look(browser, server, "month")
        browser.click("input[value=year]")
        browser.see("in the last 52 weeks", "#decisions-of")
        monday = browser.run("document.querySelector('#history-table tbody th').textContent")
        assert calendar.weekday(*map(int, monday.split("-"))) == 0, monday
        browser.click("input[value=day]")
        browser.see("in the last 24 hours", "#decisions-of")


def a_shadow_and_a_restart():
    with home(PROGRAM) as server, Browser() as browser:
        assert server.call("PUT", "/v1/agents/home", {**AGENT, "mode": "shadow"})[0] == 201
        traffic(server, 60, baseline=[0, 1, 2])
        browser.go(address(server, "#/agents/home"))
        browser.see("It shows the baseline", "#verdict")
        browser.see("60", "#decisions")
        browser.see("shown, the agent beside it", "#sides-legend")
        browser.click("#try-form button")
        browser.see("The baseline would be shown; the agent's own slate is", "#try-answer")
        look(browser, server, "shadow")
        assert server.stop() == 0
        browser.see("no connection to the service", "header", 30)
        server.start()
        browser.complaints.clear()  # it was away
        browser.go(address(server, "#/agents/home?again"))
        browser.see("60", "#decisions")  # of the journal, and not of this process
        browser.see("shown, the agent beside it", "#sides-table")


def broken_agents_and_unknown_fields_are_listed():
    with home(PROGRAM) as server, Browser() as browser:
        for name in ("home", "worn"):
            assert server.call("PUT", "/v1/agents/" + name, AGENT)[0] == 201
        fields = {**AGENT, "options": {"hidden": 4}, "schema": {"item": {"price": "log"}}, "slate": 1}
        assert server.call("PUT", "/v1/agents/fields", fields)[0] == 201
        with sqlite3.connect(server.folder + "/journal.db") as database:
            database.execute("UPDATE agents SET settings = ? WHERE name = 'worn'", ('{"options": {"dim": 3, "<b>bold</b>": 1}}',))
        database.close()
        server.kill()
        server.start()
        for _ in range(3):
            assert server.call("POST", "/v1/agents/fields/decide", {"items": [{"price": 1, "<i>prize</i>": 2}, {"price": 2}]})[0] == 201
        browser.go(address(server))
        browser.see("worn is broken, and the others are served", "#broken")
        assert "<b>bold</b>" in browser.text("#broken") and browser.run("document.querySelectorAll('#broken b').length") == 0
        look(browser, server, "broken-list")
        browser.click("#agents tr:nth-child(3) a")
        browser.see("It is broken, and not served")
        assert "Feedback by place" not in browser.text()
        look(browser, server, "broken")
        browser.go(address(server, "#/agents/fields"))
        browser.see("items.<i>prize</i> 3", "#quality")
        assert browser.run("document.querySelectorAll('#quality i').length") == 0


def with_keys():
    with home(PROGRAM) as server:
        made = subprocess.run([PROGRAM, "serve", "--new-keys", server.folder + "-keys"], capture_output=True, text=True, check=True).stdout
        server.stop()
        server.options = ["--keys", server.folder + "-keys"]
        server.start()
        admin = re.search(r"admin +([0-9a-f]+)", made)[1]
        with Browser() as browser:
            browser.go(address(server))
            browser.see("A key, please")
            browser.click("#key")
            browser.write(admin)
            browser.press("Enter")
            browser.see("A first request")
            browser.complaints.clear()  # 401s are lines of the console
            look(browser, server, "keys")
        os.remove(server.folder + "-keys")


if __name__ == "__main__":
    find()
    main(the_first_request_works_as_pasted, a_client_stays_text, a_morning_by_keyboard, a_month_has_its_gaps, a_shadow_and_a_restart, broken_agents_and_unknown_fields_are_listed, with_keys)
