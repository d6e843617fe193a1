#!/usr/bin/env python3
"""serve_upgrade.py PROGRAM: folders of versions 0.1.0 and 0.2.0 (tools/make-journal) are migrated and served; one of a newer version is refused. The witness
is what the program of that version answered, which is kept beside its journal."""
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile

from service import Server, main, until

PROGRAM = sys.argv[1]
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
VERSIONS = {1: "0.1.0", 2: "0.2.0"}  # by format


def run(*arguments):
    return subprocess.run([PROGRAM, "serve", *arguments], capture_output=True, text=True, timeout=60)


class Folder:
    """A folder of that format, unpacked."""

    def __init__(self, format=1):
        self.format = format

    def __enter__(self):
        self.parent = tempfile.mkdtemp(prefix="superarm-upgrade-")
        self.path = self.parent + "/shop"
        os.mkdir(self.path)
        with tarfile.open(f"{DATA}/journal-{VERSIONS[self.format]}.tar.gz") as tar:
            tar.extractall(self.path)
        self.witness = json.load(open(self.path + "/answers.json"))
        os.remove(self.path + "/answers.json")
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.parent, ignore_errors=True)

    def bytes(self):
        return {name: open(f"{self.path}/{name}", "rb").read() for name in os.listdir(self.path) if name not in ("lock", "journal.db-shm")}


def same_of_each_arm(new, old):
    """tuned explores and trains otherwise since, rows after the checkpoint too, and may choose others; of an arm that both chose it knows nearly what it did, and as much."""
    arms = [(new["slate"].index(arm), old["slate"].index(arm)) for arm in new["slate"] if arm in old["slate"]]
    assert arms, (new, old)
    for part in ("widths", "estimates"):
        assert all(abs(new[part][i] - old[part][k]) < 0.01 for i, k in arms), (part, new, old)


def an_old_folder_is_not_served_as_it_is():
    for format in VERSIONS:
        is_not_served(format)


def is_not_served(format):
    with Folder(format) as old:
        before = old.bytes()
        for arguments in (("--dir", old.path, "--port", "0"), ("--check", old.path)):
            done = run(*arguments)
            assert done.returncode and "--migrate" in done.stderr and f"format is {format}" in done.stderr, done
        assert old.bytes() == before, "nothing is changed by looking"


def it_is_migrated_and_goes_on():
    for format in VERSIONS:
        goes_on(format)


def goes_on(format):
    with Folder(format) as old:
        kept_as = f"{old.path}-format-{format}"
        before = old.bytes()
        done = run("--dir", old.path, "--migrate")
        assert done.returncode == 0 and kept_as in done.stdout, done
        assert run("--check", old.path).returncode == 0, run("--check", old.path)
        again = run("--migrate", old.path)
        assert again.returncode == 0 and "already" in again.stdout, again
        kept = sqlite3.connect(kept_as + "/journal.db")
        assert kept.execute("PRAGMA user_version").fetchone() == (format,)
        events = {row[0] for row in kept.execute("SELECT event FROM decisions")}
        kept.close()
        checkpoints = [name for name in before if name.endswith(".npz")]
        assert checkpoints and all(open(f"{kept_as}/{name}", "rb").read() == before[name] for name in checkpoints)

        server = Server(PROGRAM, old.path).start()
        try:
            until(lambda: (lambda about: about["model"] == about["seq"])(server.call("GET", "/v1/agents/shop")[1]))
            log = [json.loads(line) for line in server.call("GET", "/v1/agents/shop/log?limit=1000")[1].splitlines()]
            assert [[line["event"], line["feedback"]] for line in log if line["final"]] == old.witness["log"], "the log is the same"
            for each in old.witness["answers"]:
                status, answer, _ = server.call("POST", "/v1/agents/shop/decide", each["request"])
                assert (status, answer) == (200, each["answer"]), (status, answer)  # decided before: the same answer
                status, answer, _ = server.call("POST", "/v1/agents/shop/decide", {**each["request"], "event": each["request"]["event"] + "-again"})
                assert status == 201 and answer["model"] == each["answer"]["model"], (answer, each)
                same_of_each_arm(answer, each["answer"])
            assert server.call("GET", "/v1/agents/gone")[0] == 404
            until(lambda: server.call("GET", "/v1/agents/named")[1]["counts"]["learnt"] == 6)  # their waits have ended since
            assert server.call("POST", "/v1/agents/named/feedback", {"event": "n5", "feedback": [1]})[0] == 204
            assert server.call("POST", "/v1/agents/shop/feedback", {"event": "q0", "feedback": [1, 0]})[0] == 204
            assert {"s23", "n5", "q2"} <= events
            assert server.stop() == 0
            assert run("--check", old.path).returncode == 0, run("--check", old.path)
        finally:
            if server.process.poll() is None:
                server.kill()
        copy = run("--dir", kept_as, "--migrate")
        assert copy.returncode == 0, copy  # the backup is a whole folder of the old format


def damage_stays_damage():
    """A row that does not have its checksum does not get one by a migration."""
    with Folder(2) as old:
        base = sqlite3.connect(old.path + "/journal.db")
        event = base.execute("SELECT event FROM decisions ORDER BY id LIMIT 1 OFFSET 3").fetchone()[0]
        base.execute("UPDATE decisions SET model = model + 1 WHERE event = ?", (event,))
        base.commit()
        base.close()
        assert run("--dir", old.path, "--migrate").returncode == 0
        done = run("--check", old.path)
        assert done.returncode == 1 and f"event {event}" in done.stdout + done.stderr, done


def a_newer_one_is_refused():
    with Folder() as old:
        assert run("--dir", old.path, "--migrate").returncode == 0
        base = sqlite3.connect(old.path + "/journal.db")
        base.execute("PRAGMA user_version = 99")
        base.close()
        before = old.bytes()
        for arguments in (("--dir", old.path, "--port", "0"), ("--check", old.path), ("--migrate", old.path), ("--dir", old.path, "--backup", old.path + "-copy")):
            done = run(*arguments)
            assert done.returncode and "format is 99" in done.stderr and "newer" in done.stderr, done
        assert old.bytes() == before


def a_folder_in_use_is_not_migrated():
    with Folder() as old:
        assert run("--dir", old.path, "--migrate").returncode == 0
        server = Server(PROGRAM, old.path).start()
        try:
            done = run("--migrate", old.path)
            assert done.returncode == 2 and "in use" in done.stderr, done
        finally:
            server.kill()
        missing = run("--migrate", old.parent + "/none")
        assert missing.returncode == 2 and "not there" in missing.stderr and not os.path.exists(old.parent + "/none"), missing


if __name__ == "__main__":
    main(an_old_folder_is_not_served_as_it_is, it_is_migrated_and_goes_on, damage_stays_damage, a_newer_one_is_refused, a_folder_in_use_is_not_migrated)
