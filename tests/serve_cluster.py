#!/usr/bin/env python3
"""Several servers, one PostgreSQL: any of them answers, one learns, and another takes over. The witness is what clients wrote down, and SQL."""
import functools
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
import cluster
from cluster import AGENT, CONTEXTS, PROGRAM, check, end, run, started
from postgres import Postgres
from service import main, until

pg = Postgres("max_connections=60")
Member, sound = functools.partial(cluster.Member, pg), functools.partial(cluster.sound, pg)


def several(count, *options):
    database = pg.database(PROGRAM)
    return database, [Member(database, *options).start() for _ in range(count)]


def lines(server, agent="home"):
    return [json.loads(line) for line in check(server.call("GET", f"/v1/agents/{agent}/log?limit=1000"), 200).decode().splitlines()]


def any_server_answers():
    database, servers = several(3)
    one, two, three = servers
    check(one.call("PUT", "/v1/agents/home", AGENT), 201)
    for server in servers:
        until(lambda: server.call("POST", "/v1/agents/home/decide", {"event": "first", "contexts": CONTEXTS})[0] in (200, 201))
    answers = {json.dumps(server.call("POST", "/v1/agents/home/decide", {"event": "first", "contexts": CONTEXTS})[1]) for server in servers}
    assert len(answers) == 1, answers
    check(three.call("POST", "/v1/agents/home/feedback", {"event": "first", "feedback": [1, 0]}), 204)
    check(two.call("POST", "/v1/agents/home/feedback", {"event": "first", "feedback": [1, 0]}), 204)  # a retry elsewhere
    for server in servers:
        until(lambda: server.call("GET", "/v1/agents/home")[1]["model"] == 2)
    assert all([line["feedback"] for line in lines(server)] == [[1, 0]] for server in servers)
    got = {}
    for i in range(40):  # one event, asked of two servers at the same moment
        def ask(server, event=f"same-{i}"):
            got.setdefault(event, []).append(server.call("POST", "/v1/agents/home/decide", {"event": event, "contexts": CONTEXTS})[:2])
        threads = [threading.Thread(target=ask, args=(server,)) for server in (one, two)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
    for event, both in got.items():
        assert sorted(status for status, _ in both) == [200, 201] and both[0][1] == both[1][1], (event, both)
    check(two.call("PUT", "/v1/agents/home", {**AGENT, "slate": 1}), 200)
    until(lambda: len(three.call("POST", "/v1/agents/home/decide", {"contexts": CONTEXTS})[1]["slate"]) == 1)
    assert three.call("PUT", "/v1/agents/home", {**AGENT, "slate": 1})[1]["settings"]["slate"] == 1
    model = check(three.call("GET", "/v1/agents/home/model"), 200)
    assert model[:2] == b"PK"
    check(one.call("DELETE", "/v1/agents/home/events/first"), 204)
    assert pg.sql("SELECT count(*) FROM decisions WHERE event = 'first'", database) == [["0"]]
    check(three.call("DELETE", "/v1/agents/home"), 204)
    for server in servers:
        until(lambda: server.call("GET", "/v1/agents/home")[0] == 404)
    until(lambda: pg.sql("SELECT count(*) FROM agents", database) == [["0"]])
    for server in servers:
        assert server.stop() == 0
    sound(database)


def feedback_spread_over_servers_is_learnt_once():
    database, servers = several(3)
    check(servers[0].call("PUT", "/v1/agents/home", AGENT), 201)
    for server in servers:
        until(lambda: server.call("GET", "/v1/agents/home")[1].get("model") == 1)
    sent = {}

    def client(number):
        draw = random.Random(number)
        for i in range(60):
            event = f"c{number}-{i}"
            check(draw.choice(servers).call("POST", "/v1/agents/home/decide", {"event": event, "contexts": CONTEXTS}), 201)
            value = [draw.randrange(2), draw.randrange(2)]
            check(draw.choice(servers).call("POST", "/v1/agents/home/feedback", {"event": event, "feedback": value}), 204)
            sent[event] = value
    threads = [threading.Thread(target=client, args=(i,)) for i in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert len(sent) == 240
    for server in servers:
        until(lambda: server.call("GET", "/v1/agents/home")[1]["model"] == 241)
    orders = [[(line["event"], line["feedback"]) for line in lines(server) if line["final"]] for server in servers]
    assert orders[0] == orders[1] == orders[2] and dict(orders[0]) == sent and len(orders[0]) == 240
    asked = {"event": "compare", "contexts": CONTEXTS, "explain": True}
    before = check(servers[0].call("POST", "/v1/agents/home/decide", asked), 201)
    end(servers)
    pg.sql("DELETE FROM policies; DELETE FROM decisions WHERE event = 'compare'", database)  # all rows are read again, from the first
    fresh = Member(database).start()
    until(lambda: fresh.call("GET", "/v1/agents/home")[1].get("model") == 241)
    after = check(fresh.call("POST", "/v1/agents/home/decide", asked), 201)
    assert before == after, (before, after)
    fresh.kill()
    sound(database)


def any_server_knows_both_sides():
    """Events and their feedback at either server, under a control: GET says the same at both, and it is what the clients counted."""
    database, servers = several(2)
    check(servers[0].call("PUT", "/v1/agents/home", {**AGENT, "control": 0.4}), 201)
    until(lambda: servers[1].decide("first")[0] == 201)
    reward = {"agent": [], "control": []}
    for i in range(40):
        side = check(servers[i % 2].decide(f"e{i}"), 201)["side"]
        value = i % 3
        check(servers[i // 2 % 2].call("POST", "/v1/agents/home/feedback", {"event": f"e{i}", "feedback": [value, 0]}), 204)
        reward[side].append(value)

    def told(server):
        sides = server.call("GET", "/v1/agents/home")[1]["sides"]
        return {side: (sides[side]["events"], sides[side]["reward"]) for side in reward}
    wanted = {side: (len(values), sum(values) / len(values)) for side, values in reward.items()}
    for server in servers:
        until(lambda: all(got[0] == want[0] and abs(got[1] - want[1]) < 1e-9 for got, want in zip(told(server).values(), wanted.values())), 30)
    end(servers)


def any_server_knows_one_side():
    """Without a control, too, a few seconds later."""
    database, servers = several(2)
    check(servers[0].call("PUT", "/v1/agents/home", AGENT), 201)
    until(lambda: servers[1].decide("first")[0] == 201)
    for i in range(20):
        check(servers[i % 2].decide(f"e{i}"), 201)
        check(servers[i // 2 % 2].call("POST", "/v1/agents/home/feedback", {"event": f"e{i}", "feedback": [i % 2, 0]}), 204)
    for server in servers:
        until(lambda: (side := server.call("GET", "/v1/agents/home")[1]["sides"]["agent"])["events"] == 20 and side["reward"] == 0.5, 30)
    end(servers)


def another_takes_over(signals):
    database, servers = several(2)
    for name in ("home", "other", "third"):
        check(servers[0].call("PUT", "/v1/agents/" + name, AGENT), 201)
    until(lambda: sum(server.learns() for server in servers) == 3)
    victim = next(server for server in servers if server.learns())
    left = next(server for server in servers if server is not victim)
    check(left.call("POST", "/v1/agents/home/decide", {"event": "before", "contexts": CONTEXTS}), 201)
    victim.process.send_signal(signals)
    begin = time.monotonic()
    until(lambda: left.learns() == 3, pause=0.01)
    taken = time.monotonic() - begin
    check(left.call("POST", "/v1/agents/home/feedback", {"event": "before", "feedback": [1, 0]}), 204)
    until(lambda: left.call("GET", "/v1/agents/home")[1]["model"] == 2)
    return database, victim, left, taken


def within_five_seconds(signals):
    """In the best of three tries: what else the machine does may take a second."""
    for more in (True, True, False):
        database, victim, left, taken = another_takes_over(signals)
        if taken < 5:
            return database, victim, left, taken
        assert more, f"{taken:.2f} s"
        end([victim, left])


def a_learner_that_dies_is_replaced():
    database, victim, left, taken = within_five_seconds(signal.SIGKILL)
    print(f"taken over after {taken:.2f} s", flush=True)
    end([victim, left])
    sound(database)


def a_learner_that_is_paused_is_replaced_and_writes_nothing_later():
    database, victim, left, taken = within_five_seconds(signal.SIGSTOP)  # four of silence, and the look after it
    print(f"taken over from a paused one after {taken:.2f} s", flush=True)
    for i in range(10):
        check(left.decide(f"while-{i}"), 201)
    asked = []  # of the paused one: it wakes with work to do, and the lock that it remembers
    threads = [threading.Thread(target=lambda i=i: asked.append(victim.feed(f"while-{i}")[0])) for i in range(10)]
    [thread.start() for thread in threads]
    time.sleep(0.3)
    assert not asked
    victim.process.send_signal(signal.SIGCONT)
    for i in range(30):
        server = (victim, left)[i % 2]
        until(lambda: server.decide(f"e{i}")[0] in (200, 201))
        until(lambda: server.feed(f"e{i}")[0] == 204)
    [thread.join() for thread in threads]
    assert len(asked) == 10 and set(asked) <= {204, 503}, asked
    for i in range(10):  # one that got 503 asks again, elsewhere; the others are retries
        until(lambda: left.feed(f"while-{i}")[0] == 204)
    for server in (victim, left):
        until(lambda: server.model() == 42)
    until(lambda: victim.learns() + left.learns() == 3)
    assert all(count == 1 for count in cluster.events(pg, database).values())
    cluster.same_after_replay(pg, database, [victim, left])


def counters_add_up():
    """Each server counts what it has seen since its start: together, what clients did. One that starts while the database is away has the same counters."""
    database, servers = several(2)
    check(servers[0].call("PUT", "/v1/agents/home", AGENT), 201)
    for server in servers:
        until(lambda: server.model() == 1)
    for i in range(10):
        check(servers[i % 2].decide(f"e{i}"), 201)
        check(servers[i // 2 % 2].feed(f"e{i}"), 204)
    until(lambda: all(server.model() == 11 for server in servers))
    pg.stop("fast")
    servers.append(Member(database).start(ready=False))
    pg.start()
    until(lambda: all(server.is_ready() for server in servers))
    servers.append(Member(database).start())
    for server in servers[2:]:
        time.sleep(0.5)  # in which it would count the journal
        assert 'superarm_feedback_rate{agent="home"} 0\n' in check(server.call("GET", "/metrics"), 200).decode()
    check(servers[2].decide("late"), 201)
    check(servers[3].feed("late"), 204)
    counts = [check(server.call("GET", "/v1/agents/home"), 200)["counts"] for server in servers]
    assert [each["decisions"] for each in counts] == [5, 5, 1, 0] and [each["feedback"] for each in counts] == [6, 4, 0, 1], counts
    until(lambda: sum(check(server.call("GET", "/v1/agents/home"), 200)["counts"]["learnt"] for server in servers) == 11)
    end(servers)


def a_follower_says_how_far_it_is_behind():
    """Each policy is without the newest row, since rows come all the time: it is behind by that row, and not since the first one. SQL is the learner."""
    database = pg.database(PROGRAM)
    learner, follower = Member(database).start(), Member(database, "--learn", "no").start()
    check(learner.call("PUT", "/v1/agents/home", AGENT), 201)
    until(lambda: learner.model() == 1 and follower.model() == 1)
    learner.kill()

    def behind():
        lines = check(follower.call("GET", "/metrics"), 200).decode().splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith('superarm_seconds_behind{agent="home"}'))
    pg.ask("INSERT INTO journal (agent, seq, kind, time) SELECT agent, 2, 2, time FROM journal", database)
    begin = time.monotonic()
    while time.monotonic() < begin + 5:
        pg.ask("INSERT INTO journal (agent, seq, kind, time) SELECT agent, max(seq) + 1, 2, 0 FROM journal GROUP BY agent; INSERT INTO policies (agent, version, settings, time, size, chunks) "
               "SELECT agent, (SELECT max(seq) FROM journal) - 1, settings, (extract(epoch from now()) * 1000)::bigint, size, chunks FROM policies ORDER BY version DESC LIMIT 1", database)
        newest = int(pg.ask("SELECT max(version) FROM policies", database)[0][0])
        until(lambda: follower.model() == newest)
        time.sleep(0.1)
    assert 0 < min(behind() for _ in range(3)) < 4, behind()  # it would be five by now
    end([follower])


def who_learns_is_chosen():
    database = pg.database(PROGRAM)
    asked, learner = Member(database, "--learn", "no").start(), Member(database, "--learn", "only").start()
    check(asked.call("PUT", "/v1/agents/home", AGENT), 201)
    assert asked.learns() == 0 and learner.learns() == 1
    status, body, headers = learner.call("POST", "/v1/agents/home/decide", {"contexts": CONTEXTS})
    assert status == 503 and "only learns" in body["error"]["message"] and headers["Retry-After"], body
    check(asked.call("POST", "/v1/agents/home/decide", {"contexts": CONTEXTS}), 201)
    metrics = check(learner.call("GET", "/metrics"), 200).decode()
    assert "superarm_servers 2" in metrics and "superarm_agents_learnt_here 1" in metrics, metrics[:300]
    end([asked, learner])


def the_database_comes_and_goes():
    database = pg.database(PROGRAM)
    pg.stop()
    server = Member(database).start(ready=False)
    for path in ("/readyz", "/v1/agents/home"):
        status, _, headers = server.call("GET", path)
        assert status == 503 and headers["Retry-After"], path
    pg.start()
    until(server.is_ready)
    check(server.call("PUT", "/v1/agents/home", AGENT), 201)
    kept = []
    for how in ("fast", "immediate", "immediate"):
        pg.stop(how)
        status, body, headers = server.call("POST", "/v1/agents/home/decide", {"contexts": CONTEXTS})
        assert status == 503 and headers["Retry-After"] and "database" in body["error"]["message"], body
        until(lambda: server.call("GET", "/readyz")[0] == 503)
        time.sleep(1)
        pg.start()
        event = f"after-{len(kept)}"
        until(lambda: server.call("POST", "/v1/agents/home/decide", {"event": event, "contexts": CONTEXTS})[0] in (200, 201))
        until(lambda: server.call("POST", "/v1/agents/home/feedback", {"event": event, "feedback": [1, 0]})[0] == 204)
        kept.append(event)
        until(lambda: server.call("GET", "/v1/agents/home")[1]["model"] == 1 + len(kept))
    assert [line["event"] for line in lines(server)] == kept
    server.kill()
    sound(database)


def wrong_databases_are_refused():
    def refused(url, *words, code=2):
        done = run("--store", url, "--port", "0")
        assert done.returncode == code and all(word in done.stderr for word in words) and done.stderr.count("\n") == 1, done
    refused("mysql://localhost/shop", "is no URL")
    refused("shop", "is no URL")
    for wrong in ("postgresqll://shop:secret@host/shop", "postgresqll://shop:?secret@host/shop", "postgresqll://shop:/secret@host/shop"):  # a password is not told, whatever is wrong
        for arguments in (("--store", wrong, "--port", "0"), ("--check", wrong), ("--copy", wrong, pg.folder + "/new"), ("--copy", pg.folder, wrong)):
            done = run(*arguments)
            assert done.returncode == 2 and "postgresqll://host/shop is no URL" in done.stderr and "secret" not in done.stderr + done.stdout, done
    refused(pg.url("nowhere"), "nowhere")
    empty = pg.database()
    refused(pg.url(empty), "no tables yet", "--migrate")
    assert pg.sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", empty) == [["0"]]
    other = pg.database()
    pg.sql("CREATE TABLE customers (name text); CREATE TABLE facts (name text, value text)", other)
    refused(pg.url(other), "another program")
    done = run("--store", pg.url(other), "--migrate")
    assert done.returncode == 2 and "another program" in done.stderr, done
    assert pg.sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", other) == [["2"]]
    ours = pg.database(PROGRAM)
    done = run("--store", pg.url(ours), "--migrate")
    assert done.returncode == 0 and "nothing is to be done" in done.stdout, done
    pg.sql("CREATE ROLE guest LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO guest", ours)
    refused(pg.url(ours, "guest"), "guest", "may not")
    pg.sql("GRANT ALL ON ALL TABLES IN SCHEMA public TO guest", ours)
    refused(pg.url(ours, "guest"), "guest", "may not", "evaluation_ids", "ALL SEQUENCES")
    pg.sql("UPDATE facts SET value = value::int + 1 WHERE name = 'format'", ours)  # a neighbouring version has migrated it
    Member(ours).start().kill()
    pg.sql("UPDATE facts SET value = (SELECT value FROM facts WHERE name = 'format') WHERE name = 'readers'", ours)
    refused(pg.url(ours), "newer version")
    done = run("--dir", "x", "--store", pg.url(ours))
    assert done.returncode == 2 and "--dir and --store" in done.stderr
    done = run("--dir", "x", "--learn", "no")
    assert done.returncode == 2 and "--learn" in done.stderr
    done = run("--store", pg.url(ours), "--backup", "x")
    assert done.returncode == 2 and "pg_dump" in done.stderr


def a_stop_ends_no_session():
    """What was learnt last is written at the stop, by the session that holds the agent. That takes a second here, in which others leave it alone."""
    database, servers = several(2)
    check(servers[0].call("PUT", "/v1/agents/home", AGENT), 201)
    for server in servers:
        until(lambda: server.model() == 1)
    learner = next(server for server in servers if server.learns())
    other = next(server for server in servers if server is not learner)
    size, newest = os.path.getsize(pg.folder + "/log"), "SELECT max(version) FROM policies"
    pg.sql("CREATE FUNCTION nap() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(1.5); RETURN NEW; END'; "
           "CREATE TRIGGER slow BEFORE INSERT ON policies FOR EACH ROW EXECUTE FUNCTION nap()", database)
    for i in range(2):
        check(learner.decide(f"e{i}"), 201)
        check(learner.feed(f"e{i}"), 204)
        until(lambda: learner.model() == 2 + i)
        if i == 0:
            until(lambda: pg.ask(newest, database) == [["2"]])  # for a while there is no other, as this one took long
    assert learner.stop() == 0
    assert pg.ask(newest, database) == [["3"]] and pg.ask("SELECT count(*) FROM servers", database) == [["1"]]
    until(lambda: other.learns() == 1 and other.model() == 3)
    assert other.stop() == 0
    assert "terminating connection due to administrator command" not in open(pg.folder + "/log").read()[size:]
    assert pg.sql("SELECT count(*) FROM servers", database) == [["0"]]
    sound(database)


def other_keys_are_refused():
    database, files = pg.database(PROGRAM), [pg.folder + "/keys-1", pg.folder + "/keys-2"]
    for file in files:
        assert run("--new-keys", file).returncode == 0
    first = Member(database, "--keys", files[0]).start()
    until(lambda: pg.sql("SELECT count(*) FROM servers", database) == [["1"]])
    done = run("--store", pg.url(database), "--keys", files[1], "--port", "0")
    assert done.returncode == 2 and "other --keys" in done.stderr, done
    Member(database, "--keys", files[0]).start().kill()
    first.kill()


def passwords():
    path = pg.data + "/pg_hba.conf"
    before = open(path).read()
    database = pg.database(PROGRAM)
    pg.sql("CREATE ROLE shop LOGIN PASSWORD 'right?'; GRANT ALL ON ALL TABLES IN SCHEMA public TO shop; GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO shop", database)
    open(path, "w").write("local all shop scram-sha-256\n" + before)
    pg.sql("SELECT pg_reload_conf()")
    until(lambda: pg.run("psql", "-w", "-h", pg.folder, "-U", "shop", "-d", database, "-c", "SELECT 1", check=False).returncode, pause=0.1)
    try:
        right, wrong = (f"postgresql://shop:{word}@/{database}?host={pg.folder}" for word in ("right?", "wrong?"))
        done = run("--store", wrong, "--port", "0")
        assert done.returncode == 2 and "password authentication failed" in done.stderr and "wrong" not in done.stderr, done
        server = Member(database, url=right).start()
        check(server.call("PUT", "/v1/agents/home", AGENT), 201)
        done = run("--check", right)
        assert done.returncode == 0 and "right" not in server.said() + done.stdout + done.stderr and f"/{database} is sound" in done.stdout, (server.said(), done)
        server.kill()
        without, file = right.replace(":right?", ""), pg.folder + "/pgpass"  # so that `ps` does not show it
        for how in (["--check", without], ["--store", without, "--port", "0"]):
            done = run(*how)
            assert done.returncode == 2 and "no password supplied" in done.stderr, done
        open(file, "w").write(f"*:*:{database}:shop:right?\n")
        os.chmod(file, 0o600)
        for name, value in (("PGPASSWORD", "right?"), ("PGPASSFILE", file)):
            os.environ[name] = value
            try:
                done = run("--check", without)
            finally:
                del os.environ[name]
            assert done.returncode == 0, (name, done)
    finally:
        open(path, "w").write(before)
        pg.sql("SELECT pg_reload_conf()")


def a_rolling_restart_fails_no_request():
    database, servers = several(3)
    check(servers[0].call("PUT", "/v1/agents/home", AGENT), 201)
    for server in servers:
        until(lambda: server.call("GET", "/v1/agents/home")[1].get("model") == 1)
    stop, failed, made, fed = threading.Event(), [], [], []

    def ask(draw, what, event):
        """One of them, and where that fails another."""
        for server in draw.sample(servers, 2):
            try:
                got = getattr(server, what)(event)[:2]
            except OSError as error:
                got = (0, error)
            if got[0] in (200, 201, 204):
                return True
        failed.append((what, event, got))
        return False

    def client(number):
        draw, count = random.Random(number), 0
        while not stop.is_set():
            count += 1
            event = f"r{number}-{count}"
            if ask(draw, "decide", event):
                made.append(event)
                if ask(draw, "feed", event):
                    fed.append(event)
            time.sleep(0.01)
    threads = [threading.Thread(target=client, args=(i,)) for i in range(3)]
    [thread.start() for thread in threads]
    for server in servers:
        time.sleep(0.5)
        assert server.stop() == 0
        server.start()
    time.sleep(0.5)
    stop.set()
    [thread.join() for thread in threads]
    assert not failed and len(fed) > 50, (failed[:3], len(fed))
    cluster.settled(pg, database)
    known = cluster.events(pg, database)
    assert set(known) >= set(made) and all(known[event] == 1 for event in fed) and max(known.values()) == 1
    end(servers)
    sound(database)


try:
    if __name__ == "__main__":
        main(any_server_answers, any_server_knows_both_sides, any_server_knows_one_side, feedback_spread_over_servers_is_learnt_once, counters_add_up, a_follower_says_how_far_it_is_behind, a_learner_that_dies_is_replaced,
             a_learner_that_is_paused_is_replaced_and_writes_nothing_later, who_learns_is_chosen, the_database_comes_and_goes,
             wrong_databases_are_refused, other_keys_are_refused, passwords, a_stop_ends_no_session, a_rolling_restart_fails_no_request)
finally:
    end(started)
