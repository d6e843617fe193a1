#!/usr/bin/env python3
"""Connections to a shared PostgreSQL that cannot be had: TLS, slots, silence, wrong URLs, other keys. Each is a sentence and 503 with Retry-After, what was acknowledged is kept, and the servers go on by
themselves. The witness is what clients wrote down, and SQL."""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading

sys.path.insert(0, os.path.dirname(__file__))
from cluster import AGENT, CONTEXTS, PROGRAM, Ledger, Member, check, end, goes_on, refused, run, settled, started
from postgres import Postgres
from service import Server, main, until


def tls():
    pg = Postgres(tcp=True)
    for name in ("server", "other"):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=" + name, "-addext", "subjectAltName=IP:127.0.0.1",
                        "-keyout", f"{pg.folder}/{name}.key", "-out", f"{pg.folder}/{name}.crt"], check=True, capture_output=True)
    for end_ in ("key", "crt"):
        shutil.chown(f"{pg.folder}/server.{end_}", "postgres")
        os.chmod(f"{pg.folder}/server.{end_}", 0o600 if end_ == "key" else 0o644)
    database = pg.database(PROGRAM)

    def url(mode, **more):
        return f"postgresql://postgres@127.0.0.1:{pg.port}/{database}?sslmode={mode}" + "".join(f"&{key}={value}" for key, value in more.items())

    done = run("--store", url("require"), "--port", "0")  # it has no certificate yet
    assert done.returncode == 2 and "SSL" in done.stderr and done.stderr.count("\n") == 1, done
    pg.settings += ["ssl=on", f"ssl_cert_file={pg.folder}/server.crt", f"ssl_key_file={pg.folder}/server.key"]
    open(pg.data + "/pg_hba.conf", "w").write("local all all trust\nhostssl all all 127.0.0.1/32 trust\n")
    pg.restart("fast")
    before = pg.dump(database)
    for wrong, words in ((url("disable"), ("pg_hba.conf", "no encryption")), (url("verify-full", sslrootcert=pg.folder + "/other.crt"), ("certificate verify failed",)),
                         (url("verify-full", sslrootcert=pg.folder + "/none.crt"), ("none.crt",)), (url("verify-ful"), ("sslmode",))):
        for extra in ([], ["--migrate"]):
            done = run("--store", wrong, *(extra or ["--port", "0"]))
            assert done.returncode == 2 and all(word in done.stderr for word in words) and done.stderr.count("\n") == 1, done
    assert pg.dump(database) == before
    ledger = Ledger()
    for right in (url("require"), url("verify-full", sslrootcert=pg.folder + "/server.crt")):
        server = Member(pg, database, url=right).start()
        assert server.call("PUT", "/v1/agents/home", AGENT)[0] in (200, 201)
        until(lambda: ledger.tell(server) is None)
        assert {row[0] for row in pg.sql("SELECT s.ssl FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) WHERE application_name = 'superarm serve'")} == {"t"}
        settled(pg, database)  # an event that a stop leaves is learnt by the next server
        assert server.stop() == 0
    ledger.compare(pg, database)
    server = Member(pg, database, url=right).start()  # the certificate changes while it runs: a sentence, and on with the right one
    for name in ("key", "crt"):
        os.rename(f"{pg.folder}/server.{name}", f"{pg.folder}/kept.{name}")
        shutil.copy(f"{pg.folder}/other.{name}", f"{pg.folder}/server.{name}")
        shutil.chown(f"{pg.folder}/server.{name}", "postgres")
        os.chmod(f"{pg.folder}/server.{name}", 0o600)
    shutil.copy(f"{pg.folder}/kept.crt", f"{pg.folder}/root.crt")
    server.kill()
    server = Member(pg, database, url=url("verify-full", sslrootcert=pg.folder + "/root.crt")).start()
    pg.restart("fast")
    refused(until(lambda: (got := ledger.tell(server)) and got[0] == 503 and "certificate" in got[1]["error"]["message"] and got), "certificate verify failed")
    for name in ("key", "crt"):
        os.replace(f"{pg.folder}/kept.{name}", f"{pg.folder}/server.{name}")
    pg.restart("fast")
    assert goes_on(server, ledger) < 10
    ledger.compare(pg, database)
    server.kill()
    pg.remove()


class Sessions:
    """Of other programs: as many as there are slots."""

    def __init__(self, pg, user):
        self.pg, self.user, self.all = pg, user, []

    def take(self, most=100):
        for _ in range(most):
            one = subprocess.Popen(["psql", "-h", self.pg.folder, "-p", str(self.pg.port), "-U", self.user, "-d", "postgres", "-qAt"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            one.stdin.write("SELECT 1;\n")
            one.stdin.flush()
            if one.stdout.readline() != "1\n":
                one.wait()
                return self
            self.all.append(one)
        return self

    def end(self):
        for one in self.all:
            one.stdin.close()
            one.wait()
        self.all = []


def every_connection_is_taken():
    pg = Postgres("max_connections=24", "superuser_reserved_connections=3")
    pg.sql("CREATE ROLE shop LOGIN; CREATE ROLE other LOGIN")
    database = pg.database()
    pg.sql(f"ALTER DATABASE {database} OWNER TO shop; ALTER SCHEMA public OWNER TO shop", database)
    url = pg.url(database, "shop")
    assert run("--store", url, "--migrate").returncode == 0
    taken, ledger = Sessions(pg, "other"), Ledger()
    until(lambda: len(taken.take().all) == 21)  # sessions of what ran before end a moment later
    done = run("--store", url, "--migrate")
    assert done.returncode == 2 and "remaining connection slots are reserved" in done.stderr, done
    server = Member(pg, database, url=url).start(ready=False)  # it waits
    for path in ("/readyz", "/v1/agents/home"):
        refused(server.call("GET", path), "connection slots")
    taken.end()
    until(server.is_ready)
    assert "the database is there again" in server.said(), server.said()
    check(server.call("PUT", "/v1/agents/home", AGENT), 201)
    assert ledger.tell(server) is None
    taken.take()  # what it has, it keeps
    assert len(taken.all) < 21 and ledger.tell(server) is None and server.is_ready()
    server.process.send_signal(signal.SIGSTOP)  # so that others are faster: its sessions end, and every slot is taken
    pg.sql("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'superarm serve'")
    until(lambda: len(taken.take().all) == 21)
    server.process.send_signal(signal.SIGCONT)
    until(lambda: "connection slots" in str(server.call("GET", "/readyz")[1]))  # before, it may say that its sessions were ended
    refused(until(lambda: (got := ledger.tell(server)) and "connection slots" in str(got[1]) and got), "connection slots")
    refused(until(lambda: "connection slots" in str((got := server.call("GET", "/readyz"))[1]) and got), "connection slots")
    taken.end()
    assert goes_on(server, ledger) < 10
    ledger.compare(pg, database)
    server.kill()
    pg.remove()


def a_database_that_is_silent():
    """It takes connections and never answers: a start waits for it, and says so; a migration ends."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        pg = Postgres()
        url, done = f"postgresql://shop@127.0.0.1:{listener.getsockname()[1]}/shop", []
        migration = threading.Thread(target=lambda: done.append(run("--store", url, "--migrate")), daemon=True)
        migration.start()
        server = Member(pg, "x", url=url)
        server.start(ready=False, seconds=30)  # a few tries of three seconds
        until(lambda: server.call("GET", "/readyz")[0] == 503 and server.call("GET", "/healthz")[0] == 200)
        refused(server.call("GET", "/readyz"), "database")
        server.kill()
        migration.join(30)
        assert done[0].returncode == 2 and "timeout" in done[0].stderr, done
    pg.remove()


def a_migration_that_hangs():
    """Another one waits for it, and then says so; nothing is changed."""
    pg = Postgres()
    database = pg.database()
    pg.ask("SELECT pg_advisory_lock(x'53415231'::bigint)", database)
    done = run("--store", pg.url(database), "--migrate")
    assert done.returncode == 2 and "another --migrate" in done.stderr and done.stderr.count("\n") == 1, done
    assert pg.sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", database) == [["0"]]
    pg.ask("SELECT pg_advisory_unlock(x'53415231'::bigint)", database)
    assert run("--store", pg.url(database), "--migrate").returncode == 0
    pg.remove()


def what_cannot_be_reached_is_not_damaged():
    pg = Postgres()
    database, folder = pg.database(PROGRAM), pg.folder + "/new"
    assert run("--check", pg.url(database)).returncode == 0
    pg.stop()
    sentences = {run("--store", pg.url(database), "--migrate").stderr}
    for arguments in (["--check", pg.url(database)], ["--copy", pg.url(database), folder]):
        done = run(*arguments)
        assert done.returncode == 2 and not done.stdout and "damaged" not in done.stderr and not os.path.exists(folder), done
        sentences.add(done.stderr)
    assert len(sentences) == 1 and "database cannot be used" in sentences.pop(), sentences
    pg.remove()


def bad_input_writes_nothing():
    pg = Postgres()
    ours, empty, other = pg.database(PROGRAM), pg.database(), pg.database()
    pg.sql("CREATE TABLE customers (name text); CREATE TABLE facts (name text, value text); INSERT INTO facts VALUES ('application', 'another')", other)
    pg.sql("CREATE ROLE guest LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO guest", ours)
    server = Member(pg, ours).start()
    check(server.call("PUT", "/v1/agents/home", AGENT), 201)
    until(lambda: server.decide("first")[0] in (200, 201))
    assert server.stop() == 0
    dumps = {name: pg.dump(name) for name in (ours, empty, other)}

    def refuse(url, *words, migrate=True):
        for extra in (["--port", "0"], ["--migrate"])[:1 + migrate]:
            done = run("--store", url, *extra)
            assert done.returncode == 2 and all(word in done.stderr for word in words) and done.stderr.count("\n") == 1, done
            assert {name: pg.dump(name) for name in dumps} == dumps, url
    for wrong in ("shop", "mysql://localhost/shop", "http://127.0.0.1:5432/shop", "", "/tmp"):
        refuse(wrong, "", migrate=False)
    refuse("mysql://localhost/shop", "is no URL", migrate=False)
    pg.sql("CREATE ROLE stranger LOGIN")
    refuse(f"postgresql://stranger@/{ours}?host={pg.folder}", "GRANT ALL ON ALL TABLES")
    done = run("--dir", "postgresql://shop:hunter2@127.0.0.1/shop", "--port", "0")
    assert done.returncode == 2 and "--store" in done.stderr and "hunter2" not in done.stderr, done
    for wrong in ("postgresql://[::1/shop", f"postgresql:///{ours}?host={pg.folder}&nonsense=1", f"postgresql://127.0.0.1:0x/{ours}", "postgresql://%zz/shop"):
        refuse(wrong, "database cannot be used")
    for password in ("hun%ter2", "hun/ter2", "hun@ter2", "hun?/ter2", "h@un/ter2", "7/hunter2", "7?hun/ter2", "7?hun=/ter2"):  # libpq's sentences would have parts of it
        wrong = f"postgresql://shop:{password}@127.0.0.1/{ours}"
        for arguments in (["--store", wrong, "--port", "0"], ["--store", wrong, "--migrate"], ["--check", wrong], ["--copy", wrong, pg.folder + "/new"]):
            done = run(*arguments)
            assert done.returncode == 2 and all(word in done.stderr for word in ("database cannot be used", "%40", "%2F", "%25")) and done.stderr.count("\n") == 1, done
            assert not any(part in done.stderr + done.stdout for part in ("hun", "ter2", "un/")), done
    wrong = f"host={pg.folder} dbname={ours} password=hunter2"
    for arguments in (["--store", wrong, "--port", "0"], ["--store", wrong, "--migrate"], ["--check", wrong], ["--copy", wrong, pg.folder + "/new"], ["--copy", pg.folder, wrong]):
        done = run(*arguments)
        assert done.returncode == 2 and "URL like" in done.stderr and "hunter2" not in done.stderr + done.stdout and not os.path.exists(pg.folder + "/new"), done
    for wrong in (f"postgresql:/shop:hunter2@127.0.0.1/{ours}", f"Postgres:shop:hunter2@127.0.0.1/{ours}"):  # no URLs, and no folders either
        for arguments in (["--store", wrong, "--port", "0"], ["--store", wrong, "--migrate"], ["--check", wrong], ["--copy", wrong, pg.folder + "/new"], ["--copy", pg.folder, wrong],
                          ["--dir", wrong, "--port", "0"], ["--migrate", wrong], ["--dir", wrong, "--backup", pg.folder + "/new"]):
            done = run(*arguments)
            assert done.returncode == 2 and "URL like" in done.stderr and "hunter2" not in done.stderr + done.stdout and done.stderr.count("\n") == 1, done
    refuse(pg.url("nowhere"), "nowhere")
    refuse(pg.url(ours, "nobody"), "nobody")
    refuse(pg.url(empty), "no tables yet", "--migrate", migrate=False)
    refuse(pg.url(other), "another program")
    refuse(pg.url(ours, "guest"), "guest", "may not", migrate=False)
    refuse(pg.url(empty, "guest"), "no tables yet", migrate=False)
    done = run("--store", pg.url(empty, "guest"), "--migrate")
    assert done.returncode == 2 and "permission denied" in done.stderr and pg.dump(empty) == dumps[empty], done
    files = [pg.folder + "/keys-1", pg.folder + "/keys-2"]
    for file in files:
        assert run("--new-keys", file).returncode == 0
    first = Member(pg, ours, "--keys", files[0]).start()

    def now():
        return pg.dump(ours, "--exclude-table-data=servers"), pg.sql("SELECT keys FROM servers ORDER BY id", ours)
    until(lambda: len(now()[1]) == 1)
    until(lambda: pg.sql("SELECT count(*) FROM hours_left", ours) == [["0"]])  # what the server before it left, it takes in
    before = now()
    done = run("--store", pg.url(ours), "--keys", files[1], "--port", "0")
    assert done.returncode == 2 and "other --keys" in done.stderr and done.stderr.count("\n") == 1, done
    done = run("--store", pg.url(ours), "--port", "0")
    assert done.returncode == 2 and "other --keys" in done.stderr, done
    until(lambda: now() == before)  # a row of the roll may come and go, and nothing stays
    pg.stop()  # one that starts while the database is gone is not let in either, until its keys are those of the others
    keys = pg.folder + "/keys"
    shutil.copy(files[1], keys)
    late = Member(pg, ours, "--keys", keys).start(ready=False)
    pg.start()
    until(first.is_ready)
    until(lambda: "other --keys" in late.said())
    refused(late.call("GET", "/readyz"), "database")  # who has no key learns no more
    until(lambda: now() == before)
    shutil.copy(files[0], keys)
    late.process.send_signal(1)
    until(late.is_ready)
    end([first, late])
    pg.remove()


def encodings():
    """One that lacks characters is refused, with its tables and without. SQL_ASCII keeps the bytes of them all."""
    pg = Postgres()
    made = "ENCODING '%s' TEMPLATE template0 LOCALE 'C'"
    ours, empty, full = pg.database(PROGRAM), pg.database(options=made % "LATIN1"), pg.database(options=made % "LATIN1")
    with open(pg.folder + "/dump.sql", "w") as file:
        file.write("\n".join(pg.dump(ours)))
    pg.run("psql", "-h", pg.folder, "-p", str(pg.port), "-q", "-v", "ON_ERROR_STOP=1", "-f", pg.folder + "/dump.sql", full)
    before, new = [pg.dump(name) for name in (empty, full)], pg.folder + "/new"
    server = Server(PROGRAM, pg.folder + "/shop").start()
    check(server.call("PUT", "/v1/agents/home", AGENT), 201)
    assert server.stop() == 0
    for name in (empty, full):
        url = pg.url(name)
        for arguments in (["--store", url, "--migrate"], ["--store", url, "--port", "0"], ["--check", url], ["--copy", url, new], ["--copy", pg.folder + "/shop", url]):
            done = run(*arguments)
            assert done.returncode == 2 and "encoding LATIN1" in done.stderr and "createdb -E UTF8" in done.stderr and done.stderr.count("\n") == 1, done
    assert [pg.dump(name) for name in (empty, full)] == before and not os.path.exists(new)

    plain, event = pg.database(PROGRAM, made % "SQL_ASCII"), "\u65e5\u672c \u2603 \U0001f600"
    server = Member(pg, plain).start()
    check(server.call("PUT", "/v1/agents/home", AGENT), 201)
    until(lambda: server.model() == 1)
    slate = check(server.decide(event), 201)
    assert check(server.decide(event), 200) == slate
    check(server.feed(event), 204)
    settled(pg, plain)
    row = until(lambda: [json.loads(line) for line in check(server.call("GET", "/v1/agents/home/log"), 200).splitlines()])[0]
    assert row["event"] == event and row["contexts"] == CONTEXTS, row
    assert server.stop() == 0 and run("--check", pg.url(plain)).returncode == 0
    assert run("--copy", pg.url(plain), new).returncode == 0
    server = Server(PROGRAM, new).start()
    assert check(server.call("POST", "/v1/agents/home/decide", {"event": event, "contexts": CONTEXTS}), 200) == slate
    assert server.stop() == 0
    pg.remove()


try:
    if __name__ == "__main__":
        main(tls, every_connection_is_taken, a_database_that_is_silent, a_migration_that_hangs, what_cannot_be_reached_is_not_damaged, bad_input_writes_nothing, encodings)
finally:
    end(started)
