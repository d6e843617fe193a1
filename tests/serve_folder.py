#!/usr/bin/env python3
"""serve_folder.py PROGRAM: what is in the folder and cannot be read, or is not the service's, is never deleted."""
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

from service import Server, home, main, until

PROGRAM = sys.argv[1]
AGENT = {"options": {"algorithm": "cn-ucb", "dim": 2, "hidden": 4, "train-every": 1}, "slate": 2, "default_feedback": 0, "wait_seconds": 0}
ASK = {"contexts": [[0, 1], [1, 0], [0.5, 0.5]]}


def check(answer, status):
    assert answer[0] == status, answer
    return answer[1]


def visit(server, first, count, agent="home"):
    for i in range(first, first + count):
        check(server.call("POST", f"/v1/agents/{agent}/decide", {**ASK, "event": f"e{i}"}), 201)
        check(server.call("POST", f"/v1/agents/{agent}/feedback", {"event": f"e{i}", "feedback": [i % 2, 0]}), 204)


def learnt(server, agent="home"):
    until(lambda: (lambda about: about["model"] == about["seq"])(check(server.call("GET", "/v1/agents/" + agent), 200)))


def checkpoints(folder):
    return sorted(name for name in os.listdir(folder) if name.startswith("agent-") and name.endswith(".npz"))


def refused(folder, *words):
    """It does not start, says these words, and leaves every file as it was."""
    before = {name: open(f"{folder}/{name}", "rb").read() for name in os.listdir(folder) if os.path.isfile(f"{folder}/{name}") and name not in ("lock", "journal.db-shm")}
    done = subprocess.run([PROGRAM, "serve", "--dir", folder, "--port", "0"], capture_output=True, text=True, timeout=60)
    assert done.returncode in (1, 2), done
    for word in words:
        assert word in done.stderr, (word, done.stderr)
    after = {name: open(f"{folder}/{name}", "rb").read() for name in before if os.path.exists(f"{folder}/{name}")}
    assert after == before, {name for name in before if after.get(name) != before[name]}


def nobody_else_reads_it():
    """In a folder that all may enter, and with the umask that most have."""
    with home(PROGRAM) as server:
        server.kill()
        shutil.rmtree(server.folder)
        os.mkdir(server.folder, 0o755)
        os.umask(0o022)
        server.start()
        check(server.call("PUT", "/v1/agents/home", AGENT), 201)
        visit(server, 0, 3)
        learnt(server)
        message = check(server.call("PUT", "/v1/agents/home/model", b"no npz", {"Content-Type": "application/octet-stream"}), 400)["error"]["message"]
        assert message.startswith("the body is no npz file"), message
        assert server.stop() == 0
        modes = {name: os.stat(f"{server.folder}/{name}").st_mode & 0o777 for name in os.listdir(server.folder)}
        assert "journal.db" in modes and not any(mode & 0o077 for mode in modes.values()), modes


def files_of_others_stay():
    with home(PROGRAM) as server:
        check(server.call("PUT", "/v1/agents/home", AGENT), 201)
        visit(server, 0, 4)
        assert server.stop() == 0
        names = ["agent-notes.txt", "scratch-ideas.md", "agent-1-3.npz", "agent-7-12.npz", "scratch-1.npz", "agent-1-5.npz.77-0.tmp"]
        for name in names:
            if not os.path.exists(f"{server.folder}/{name}"):
                open(f"{server.folder}/{name}", "w").write("mine")
        server.start()
        visit(server, 10, 4)
        assert server.stop() == 0
        gone = [name for name in names if not os.path.exists(f"{server.folder}/{name}")]
        assert not gone, gone


def what_was_cut_off_goes():
    """Killed while it wrote checkpoints and answered with models, it does not fill the folder."""
    with home(PROGRAM, "--checkpoint-seconds", 0.01) as server:
        check(server.call("PUT", "/v1/agents/home", AGENT), 201)
        for life in range(6):
            visit(server, life * 20, 8)
            server.kill()
            server.start()
        check(server.call("PUT", "/v1/agents/other", AGENT), 201)
        visit(server, 0, 3, "other")
        learnt(server, "other")
        check(server.call("DELETE", "/v1/agents/other"), 204)
        server.kill()
        server.start()
        learnt(server)
        until(lambda: len(checkpoints(server.folder)) <= 2, 30)
        assert server.stop() == 0
        assert not [name for name in os.listdir(server.folder) if name.endswith(".tmp")]


def without_its_journal_it_does_not_begin_again():
    with home(PROGRAM) as server:
        check(server.call("PUT", "/v1/agents/home", AGENT), 201)
        visit(server, 0, 4)
        assert server.stop() == 0
        assert checkpoints(server.folder)
        os.rename(server.folder + "/journal.db", server.folder + "/../journal.db")
        refused(server.folder, "journal.db", "backup")
        open(server.folder + "/journal.db", "w").close()
        refused(server.folder, "journal.db", "backup")
        os.rename(server.folder + "/../journal.db", server.folder + "/journal.db")
        server.start()
        check(server.call("POST", "/v1/agents/home/decide", {**ASK, "event": "e3"}), 200)


def without_its_log_it_does_not_begin_again():
    """Killed, all it has acknowledged may be in the log. A folder whose log is lost is not served as if nothing had been."""
    with home(PROGRAM) as server:
        check(server.call("PUT", "/v1/agents/home", AGENT), 201)
        visit(server, 0, 4)
        server.kill()
        os.rename(server.folder + "/journal.db-wal", server.folder + "/../log")
        refused(server.folder, "journal.db-wal")
        os.rename(server.folder + "/../log", server.folder + "/journal.db-wal")
        server.start()
        check(server.call("POST", "/v1/agents/home/decide", {**ASK, "event": "e3"}), 200)
        server.stop()
        server.start()  # after a stop there is none, and that is well
        check(server.call("POST", "/v1/agents/home/decide", {**ASK, "event": "e3"}), 200)


def a_checkpoint_that_cannot_be_read_stays():
    with home(PROGRAM) as server:
        check(server.call("PUT", "/v1/agents/home", AGENT), 201)
        visit(server, 0, 6)
        learnt(server)
        assert server.stop() == 0
        name = checkpoints(server.folder)[-1]
        path = f"{server.folder}/{name}"
        data = bytearray(open(path, "rb").read())
        data[len(data) // 2] ^= 0x55
        open(path, "wb").write(data)
        server.start()
        learnt(server)
        visit(server, 20, 2)
        assert server.stop() == 0
        assert open(path, "rb").read() == data


def an_erased_event_is_not_passed_over_in_silence():
    """Without the checkpoint that has it, the rows give another agent: that is said, and not served as the same."""
    with home(PROGRAM) as server:
        check(server.call("PUT", "/v1/agents/home", AGENT), 201)
        visit(server, 0, 6)
        check(server.call("DELETE", "/v1/agents/home/events/e2"), 204)
        visit(server, 10, 3)
        learnt(server)
        assert server.stop() == 0
        for name in checkpoints(server.folder):
            open(f"{server.folder}/{name}", "wb").write(b"damaged")
        server.start(ready=False)
        until(lambda: "erased" in open(server.folder + ".err").read() or "erased" in str(server.call("GET", "/readyz")[1]))
        assert len(checkpoints(server.folder)) >= 1
        server.kill()


def rows_that_are_gone_are_missed():
    """An old journal beside new checkpoints is refused; made to go on with it, the agent says which checkpoint it cannot use, and learns rows to come
    from the one that fits: not as if it knew them."""
    with home(PROGRAM) as server:
        check(server.call("PUT", "/v1/agents/home", AGENT), 201)
        visit(server, 0, 4)
        learnt(server)
        assert server.stop() == 0
        shutil.copy(server.folder + "/journal.db", server.folder + "/../old.db")
        server.start()
        visit(server, 4, 6)
        learnt(server)
        assert server.stop() == 0
        newest = checkpoints(server.folder)[0]
        assert newest.startswith("agent-1-11"), checkpoints(server.folder)
        shutil.copy(server.folder + "/../old.db", server.folder + "/journal.db")
        refused(server.folder, "ends before", "lock")
        os.remove(server.folder + "/lock")
        with sqlite3.connect(server.folder + "/journal.db") as base:  # as a log that lost its end does, it names a checkpoint that is too new
            base.execute("UPDATE checkpoints SET agent = -1 WHERE agent = 1")
            base.execute("INSERT INTO checkpoints SELECT 1, 11, ?, settings, time, sum FROM checkpoints WHERE agent = -1", (newest,))
        base.close()
        server.start()
        visit(server, 20, 3)
        learnt(server)
        about = check(server.call("GET", "/v1/agents/home"), 200)
        assert about["seq"] == 1 + 4 + 3 and about["model"] == about["seq"], about
        assert "rows are gone" in open(server.folder + ".err").read()
        assert server.stop() == 0
        assert os.path.exists(f"{server.folder}/{newest}"), "what could not be used stays"


if __name__ == "__main__":
    main(nobody_else_reads_it, files_of_others_stay, what_was_cut_off_goes, without_its_journal_it_does_not_begin_again, without_its_log_it_does_not_begin_again,
         a_checkpoint_that_cannot_be_read_stays, an_erased_event_is_not_passed_over_in_silence, rows_that_are_gone_are_missed)
