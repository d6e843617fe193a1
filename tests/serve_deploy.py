#!/usr/bin/env python3
"""What docs/SERVERS.md hands out: nginx with its config in front of two servers, the manifest for Kubernetes, and the steps of the container file."""
import http.server
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from service import main, until

PROGRAM = os.path.abspath(sys.argv[1])
SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EXAMPLES = SOURCE + "/examples/service/"
AGENT = {"options": {"algorithm": "cn-ucb", "dim": 2, "hidden": 4}, "slate": 2, "default_feedback": 0, "wait_seconds": 0}


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def ask(port, method, path, body=None, **headers):
    """Status and headers."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", None if body is None else json.dumps(body).encode(), {"Content-Type": "application/json", **headers}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.headers
    except OSError:
        return 0, {}


def call(*arguments):
    return ask(*arguments)[0]


def nginx_of(folder, ports, front, changes=()):
    """Its command, with the config that we hand out and these ports."""
    config = open(EXAMPLES + "nginx.conf").read()
    for given, own in (("8081", ports[0]), ("8082", ports[1]), ("listen 127.0.0.1:8080", f"listen 127.0.0.1:{front}"), *changes):
        assert given in config
        config = config.replace(given, str(own))
    os.chmod(folder, 0o755)
    open(folder + "/nginx.conf", "w").write(f"pid {folder}/pid; error_log {folder}/log;\n" + config)
    nginx = [shutil.which("nginx") or "/usr/sbin/nginx", "-c", folder + "/nginx.conf", "-e", folder + "/log"]
    checked = subprocess.run([*nginx, "-t"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
    return nginx


def nginx_sends_twice_what_is_one():
    """Both servers take every request and hang up: a POST is tried again where a second one changes nothing, and nowhere else."""
    ports, front, seen, listeners = [free_port(), free_port()], free_port(), [], []

    def serve(listener):
        while True:
            try:
                connection = listener.accept()[0]
            except OSError:  # closed: the end
                return
            seen.append(" ".join(connection.recv(65536).decode().split()[:2]))
            connection.close()
    for port in ports:
        listeners.append(socket.create_server(("127.0.0.1", port)))
        threading.Thread(target=serve, args=listeners[-1:], daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="superarm-nginx-") as folder:
        proxy = subprocess.Popen([*nginx_of(folder, ports, front, [("max_fails=3", "max_fails=0")]), "-g", "daemon off;"])
        try:
            until(lambda: call(front, "GET", "/readyz"))
            twice = ["POST /v1/agents/home/" + rest for rest in ("decide", "decide?dry=1", "feedback", "shown", "activate/e%2F1")] + [
                "POST /personalizer/v1.0/" + rest for rest in ("rank", "multislot/rank", "events/e/reward", "multislot/events/e/activate")] + [
                "GET /v1/agents/decide", "PUT /v1/agents/home", "DELETE /v1/agents/home/events/e"]
            once = ["POST /v1/agents/home/evaluations", "POST /v1/agents/rank/evaluations", "PATCH /v1/agents/decide/items"]
            for what in twice + once:
                seen.clear()
                method, path = what.split()
                status, headers = ask(front, method, path, {})
                assert status == 503 and int(headers["Retry-After"]) >= 1, (what, status)
                assert seen == [what] * (1 + (what in twice)), (what, seen)
        finally:
            proxy.terminate()
            proxy.wait()
            for listener in listeners:
                listener.close()


def nginx_leaves_no_server_alone_for_one_agent():
    """Both servers refuse one agent, which is asked often: each refusal reaches its client, in the service's words, and other agents are answered."""
    ports, front, listeners = [free_port(), free_port()], free_port(), []
    sentence = b'{"error": {"code": "unavailable", "message": "agent bad is broken"}}\n'

    class Service(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            bad = "/bad/" in self.path
            self.send_response(503 if bad else 201)
            self.send_header("Retry-After", "7")
            self.send_header("Content-Length", str(len(sentence)))
            self.end_headers()
            self.wfile.write(sentence)

        def log_message(self, *_):
            pass
    for port in ports:
        listeners.append(http.server.ThreadingHTTPServer(("127.0.0.1", port), Service))
        threading.Thread(target=listeners[-1].serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="superarm-nginx-") as folder:
        proxy = subprocess.Popen([*nginx_of(folder, ports, front), "-g", "daemon off;"])
        try:
            until(lambda: call(front, "POST", "/v1/agents/home/decide", {}) == 201)
            for path in ("decide", "evaluations"):
                for i in range(30):
                    status, headers = ask(front, "POST", "/v1/agents/bad/" + path, {})
                    assert status == 503 and headers["Retry-After"] == "7", (path, i, status)
                    assert call(front, "POST", "/v1/agents/home/" + path, {}) == 201, (path, i)
        finally:
            proxy.terminate()
            proxy.wait()
            for listener in listeners:
                listener.shutdown()
                listener.server_close()


def nginx_asks_who_is_there():
    from postgres import Postgres
    pg = Postgres()
    database = pg.database(PROGRAM)
    ports, front = [free_port(), free_port()], free_port()
    folder = tempfile.mkdtemp(prefix="superarm-nginx-")
    nginx = nginx_of(folder, ports, front)

    def start(port):
        return subprocess.Popen([PROGRAM, "serve", "--store", pg.url(database), "--port", str(port), "--quiet"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    servers = [start(port) for port in ports]
    proxy = subprocess.Popen([*nginx, "-g", "daemon off;"])
    try:
        for port in ports:
            until(lambda: call(port, "GET", "/readyz") == 200)
        until(lambda: call(front, "GET", "/readyz") == 200)
        assert call(front, "PUT", "/v1/agents/home", AGENT) == 201
        for port in ports:
            until(lambda: call(port, "POST", "/v1/agents/home/decide?dry=1", {"contexts": [[0, 1], [1, 0]]}) == 200)  # it is served there

        def decide(i):
            return ask(front, "POST", "/v1/agents/home/decide", {"event": f"e{i}", "contexts": [[0, 1], [1, 0], [0.5, 0.5]]})

        def refused(count):
            for _ in range(count):
                status, headers = decide("none")
                assert status == 503 and int(headers["Retry-After"]) >= 1, (status, headers)
        for i in range(20):
            assert decide(i)[0] == 201, i
        assert ask(front, "GET", "/v1/agents", Host="shop.example")[0] == 403  # without --keys this machine alone is served, behind nginx, too
        servers[0].send_signal(signal.SIGSTOP)  # it takes connections, and never answers
        took = []
        for i in range(20, 40):
            begin = time.monotonic()
            assert decide(i)[0] in (200, 201), i
            took.append(time.monotonic() - begin)
        assert max(took) < 10 and sum(one > 3 for one in took) <= 5, took  # three find out, and one in a while tries again
        servers[0].send_signal(signal.SIGCONT)
        for port in ports:
            until(lambda: call(port, "GET", "/readyz") == 200)
        until(lambda: call(front, "GET", "/readyz") == 200)
        pg.stop("immediate")  # both say so
        refused(10)
        pg.start()
        for port in ports:
            until(lambda: call(port, "GET", "/readyz") == 200)
        until(lambda: call(front, "GET", "/readyz") == 200)
        servers[0].kill()
        servers[0].wait()
        for i in range(40, 60):  # nginx's one retry goes to the other server
            assert decide(i)[0] in (200, 201), i
        assert pg.sql("SELECT count(*) FROM decisions", database) == [["60"]]
        servers[1].kill()
        servers[1].wait()
        refused(3)  # nobody is there: nginx's own words, in the form of the service
    finally:
        proxy.terminate()
        proxy.wait()
        for server in servers:
            server.kill()
            server.wait()
        pg.remove()
        shutil.rmtree(folder, ignore_errors=True)


def the_manifest_has_what_it_needs():
    read = "import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))"  # Debian's Python has it, whichever runs this
    deployment, service = json.loads(subprocess.run(["/usr/bin/python3", "-c", read, EXAMPLES + "kubernetes.yaml"], check=True, capture_output=True, text=True).stdout)
    assert (deployment["apiVersion"], deployment["kind"], service["apiVersion"], service["kind"]) == ("apps/v1", "Deployment", "v1", "Service")
    pod = deployment["spec"]["template"]
    assert deployment["spec"]["selector"]["matchLabels"] == pod["metadata"]["labels"] == service["spec"]["selector"] and deployment["spec"]["replicas"] >= 2
    [server], [migration] = pod["spec"]["containers"], pod["spec"]["initContainers"]
    port = server["ports"][0]["containerPort"]
    assert server["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": port} and server["livenessProbe"]["httpGet"] == {"path": "/healthz", "port": port}
    assert service["spec"]["ports"][0]["targetPort"] == port and str(port) in server["args"]
    mounts, volumes = {each["name"] for each in server["volumeMounts"]}, {each["name"] for each in pod["spec"]["volumes"]}
    assert mounts == volumes and migration["args"][-1] == "--migrate"
    assert all(each["env"][0]["valueFrom"]["secretKeyRef"]["key"] == "store" for each in (server, migration))
    options = [word for word in server["args"] if word.startswith("--")]
    known = subprocess.run([PROGRAM, "serve", "--help"], capture_output=True, text=True).stdout
    assert all(f"{option} " in known for option in options), options
    assert pod["spec"]["terminationGracePeriodSeconds"] > 20, "more than --stop-seconds"
    user, secret = pod["spec"]["securityContext"], pod["spec"]["volumes"][0]["secret"]
    assert f"USER {user['runAsUser']}\n" in open(EXAMPLES + "Containerfile").read() and user["runAsNonRoot"]
    assert server["args"][server["args"].index("--keys") + 1] == server["volumeMounts"][0]["mountPath"] + "/" + secret["items"][0]["path"]
    if os.getuid() == 0:
        the_keys_can_be_read(user, secret["defaultMode"])


def the_keys_can_be_read(user, mode):
    """As the kubelet mounts a Secret: a file of root, and of the group fsGroup where there is one."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        program, keys = shutil.copy(PROGRAM, folder), folder + "/keys"
        subprocess.run([program, "serve", "--new-keys", keys], check=True, capture_output=True)
        os.chown(keys, 0, user.get("fsGroup", 0))
        os.chmod(keys, mode)
        url = "postgresql://shop@127.0.0.1:1/shop"  # nobody listens: it starts, and waits
        command = ["setpriv", f"--reuid={user['runAsUser']}", f"--regid={user['runAsGroup']}", f"--groups={user.get('fsGroup', user['runAsGroup'])}",
                   program, "serve", "--store", url, "--port", "0", "--keys", keys]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            assert "serves 127.0.0.1:1/shop" in server.stdout.readline(), server.stderr.read()
        finally:
            server.kill()
            said = server.communicate()[1]
        assert "chmod" not in said, said
    assert not mode & 0o007


def the_steps_of_the_container_file_work():
    steps = [line for line in open(EXAMPLES + "Containerfile").read().replace("\\\n", " ").splitlines() if line and not line.startswith("#")]
    kinds = [step.split()[0] for step in steps]
    assert kinds.count("FROM") == 2 and kinds[0] == "FROM" and kinds[-1] == "ENTRYPOINT", kinds
    packages = [word for step in steps if "apt-get install" in step for word in re.split(r"\s+", step.split("install", 1)[1]) if word and not word.startswith("-")]
    known = subprocess.run(["apt-cache", "policy", *packages], capture_output=True, text=True).stdout
    assert all(f"{package}:\n" in known for package in packages), packages
    with tempfile.TemporaryDirectory() as folder:
        for step in steps:  # what needs no image: configure and build, from the places that it copies to
            if step.startswith("RUN cmake -S"):
                command = step[4:].replace("/source", SOURCE).replace("/build", folder)
                done = subprocess.run(command, shell=True, capture_output=True, text=True)
                assert done.returncode == 0 and "PostgreSQL" not in done.stderr and "libpq-dev is missing" not in done.stderr, done.stderr
        [build] = [step for step in steps if step.startswith("RUN cmake --build")]  # here of the tree that is built already
        assert os.path.samefile(re.search(r"CMAKE_HOME_DIRECTORY:INTERNAL=(.*)", open(os.path.dirname(PROGRAM) + "/CMakeCache.txt").read())[1], SOURCE)
        done = subprocess.run(build[4:].replace("/build", os.path.dirname(PROGRAM)), shell=True, capture_output=True, text=True)
        assert done.returncode == 0 and "--target superarm_program" in build, done
        [copied] = [step.split()[2:] for step in steps if step.startswith("COPY --from=build")]
        program = shutil.copy(copied[0].replace("/build", os.path.dirname(PROGRAM)), folder + "/installed")  # as it is, without the tree beside it
        assert subprocess.run([program, "serve", "--help"], capture_output=True).returncode == 0 and copied[1] == "/usr/bin/superarm"
        targets = subprocess.run(["cmake", "--build", folder, "--target", "help"], capture_output=True, text=True).stdout
        assert "superarm_program" in targets
    assert json.loads(steps[-1].split(None, 1)[1]) == ["superarm"]
    needed = subprocess.run(["ldd", PROGRAM], capture_output=True, text=True).stdout
    for library, package in (("libpq.so", "libpq5"), ("libsqlite3.so", "libsqlite3-0"), ("libjansson.so", "libjansson4"), ("libzip.so", "libzip4"), ("libyaml", "libyaml-0-2")):
        assert library not in needed or package in packages, package


if __name__ == "__main__":
    main(nginx_sends_twice_what_is_one, nginx_leaves_no_server_alone_for_one_agent, nginx_asks_who_is_there, the_manifest_has_what_it_needs, the_steps_of_the_container_file_work)
