#!/usr/bin/env python3
"""serve_damage.py PROGRAM: bytes of the journal are flipped, one at a time. --check finds each that changes what is kept; the witness is Python's SQLite,
which reads all tables before and after. A folder in which agents are being deleted is sound."""
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time

from service import Server, home, main, until

PROGRAM = sys.argv[1]
AGENT = {"options": {"algorithm": "comblin-ucb", "dim": 2}, "slate": 2, "default_feedback": 0, "wait_seconds": 0}
FLIPS = 150


def check(answer, status):
    assert answer[0] == status, answer
    return answer[1]


def visit(server, agent, first, count, every=1):
    for i in range(first, first + count):
        check(server.call("POST", f"/v1/agents/{agent}/decide", {"event": f"event-{i}", "contexts": [[0.5, i / 100], [1, 0.25], [0.125, 0.75]] * (1 + 150 * (i % 9 == 0))}), 201)
        if i % every == 0:
            check(server.call("POST", f"/v1/agents/{agent}/feedback", {"event": f"event-{i}", "id": f"click-{i}", "feedback": [i % 2, 0.5]}), 204)


def contents(path):
    """All that the tables have, or None where they cannot be read."""
    try:
        base = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        base.text_factory = bytes
        tables = [name.decode() for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        found = {name: base.execute(f'SELECT * FROM "{name}"').fetchall() for name in tables}
        found["format"] = [base.execute("PRAGMA " + name).fetchone() for name in ("application_id", "user_version")]
        return found
    except sqlite3.Error:
        return None
    finally:
        base.close()


def run_check(folder):
    return subprocess.run([PROGRAM, "serve", "--check", folder], capture_output=True, text=True, errors="replace", timeout=60)


def each_flip_that_changes_what_is_kept_is_found():
    draw = random.Random(3)
    with home(PROGRAM) as server:
        for name in ("home", "late"):
            check(server.call("PUT", "/v1/agents/" + name, AGENT if name == "home" else {**AGENT, "wait_seconds": 1000}), 201)
            visit(server, name, 0, 40, 1 if name == "home" else 3)
        check(server.call("DELETE", "/v1/agents/home/events/event-3"), 204)
        visit(server, "home", 100, 5)
        assert server.stop() == 0
        path = server.folder + "/journal.db"
        whole = open(path, "rb").read()
        before = contents(path)
        assert run_check(server.folder).returncode == 0, run_check(server.folder)
        changed = found = 0
        for _ in range(FLIPS):
            data = bytearray(whole)
            at = draw.randrange(len(data))
            data[at] ^= draw.randrange(1, 256)
            open(path, "wb").write(data)
            done = run_check(server.folder)
            assert done.returncode in (0, 1, 2) and (done.returncode == 0) == ("sound" in done.stdout), done
            differs = contents(path) != before
            changed += differs
            found += done.returncode != 0
            assert not differs or done.returncode, f"byte {at} was flipped, which changes what is kept, and --check found nothing"
        print(f"   {FLIPS} flips: {changed} changed what is kept, and --check found {found}")
        assert changed > FLIPS / 4, "most of the file is in use, so this test can fail"
        open(path, "wb").write(whole)
        assert run_check(server.folder).returncode == 0


def a_damaged_row_is_not_learnt():
    with home(PROGRAM) as server:
        check(server.call("PUT", "/v1/agents/home", AGENT), 201)
        visit(server, "home", 0, 12)
        server.kill()  # no checkpoint: a start learns all rows again
        base = sqlite3.connect(server.folder + "/journal.db")
        base.execute("UPDATE rows SET data = replace(data, '0.5', '0.9') WHERE seq = 7")  # as a flipped bit might
        base.commit()
        base.close()
        server.start(ready=False)
        until(lambda: "row 7" in str(server.call("GET", "/v1/agents")[1]) + str(server.call("GET", "/readyz")[1]))
        assert "checksum" in run_check(server.folder).stdout
        server.kill()


def a_damaged_log_is_missed():
    """SQLite takes a damaged frame for the end of its log, and would go on from there."""
    with home(PROGRAM) as server:
        check(server.call("PUT", "/v1/agents/home", AGENT), 201)
        visit(server, "home", 0, 5)
        middle = os.path.getsize(server.folder + "/journal.db-wal")
        time.sleep(1.2)
        visit(server, "home", 5, 5)
        server.kill()
        path = server.folder + "/journal.db-wal"
        whole = open(path, "rb").read()
        data = bytearray(whole)
        data[middle // 2] ^= 0x40
        open(path, "wb").write(data)
        done = run_check(server.folder)
        assert done.returncode == 1 and "journal.db-wal" in done.stdout, done
        refused = subprocess.run([PROGRAM, "serve", "--dir", server.folder, "--port", "0"], capture_output=True, text=True, errors="replace", timeout=60)
        assert refused.returncode == 2 and "journal.db-wal" in refused.stderr, refused
        assert open(path, "rb").read() == data, "it is left as it was"
        open(path, "wb").write(whole)
        server.start()
        check(server.call("POST", "/v1/agents/home/feedback", {"event": "event-9", "id": "more", "feedback": [1, 0]}), 204)


def a_folder_that_deletes_agents_is_sound():
    with home(PROGRAM) as server:
        for name in ("a", "b", "kept"):
            check(server.call("PUT", "/v1/agents/" + name, AGENT), 201)
            visit(server, name, 0, 20, 2)
        assert server.stop() == 0  # with their checkpoints
        base = sqlite3.connect(server.folder + "/journal.db")
        version = base.execute("PRAGMA user_version").fetchone()[0]
        base.close()
        server.start()
        for name in ("a", "b"):
            check(server.call("DELETE", "/v1/agents/" + name), 204)
            done = run_check(server.folder)
            assert done.returncode == 0, done
        server.kill()
        assert run_check(server.folder).returncode == 0 and version == 3
        server.start()
        for _ in range(20):
            done = run_check(server.folder)
            assert done.returncode == 0, done
        until(lambda: "sound: 1 agent," in run_check(server.folder).stdout)


if __name__ == "__main__":
    main(each_flip_that_changes_what_is_kept_is_found, a_damaged_row_is_not_learnt, a_damaged_log_is_missed, a_folder_that_deletes_agents_is_sound)
