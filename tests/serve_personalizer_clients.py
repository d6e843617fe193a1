#!/usr/bin/env python3
"""serve_personalizer_clients.py PROGRAM: Azure Personalizer's two clients from npm, unchanged but for endpoint and key, against the service. They are installed beside the
program, with the versions of tests/personalizer/package-lock.json; without a network, and without CI, the test is skipped with a sentence."""
import os
import shutil
import signal
import subprocess
import sys

from service import home, main, until

PROGRAM = sys.argv[1]
HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "personalizer")
FOLDER = os.path.join(os.path.dirname(os.path.abspath(PROGRAM)), "personalizer-clients")


def install():
    """The folder of modules; None where they cannot be had."""
    lock = os.path.join(FOLDER, "package-lock.json")
    done = os.path.join(FOLDER, "installed")
    if os.path.exists(done) and open(lock).read() == open(os.path.join(HERE, "package-lock.json")).read():
        return os.path.join(FOLDER, "node_modules")
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(os.path.join(HERE, name), FOLDER)
    if not shutil.which("npm"):
        return None
    made = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-timeout", "60000", "--fetch-retries", "2"], cwd=FOLDER, capture_output=True, text=True, timeout=400)
    if made.returncode:
        print(made.stderr[-400:])
        return None
    open(done, "w").close()
    return os.path.join(FOLDER, "node_modules")


def every_call_passes():
    modules = install()
    if not modules:
        assert not os.environ.get("CI"), "Personalizer's clients cannot be installed from npm, and CI is set"
        print("skipped: Personalizer's clients cannot be installed from npm")
        return
    with home(PROGRAM) as server:
        keys = server.folder + ".keys"
        made = subprocess.run([PROGRAM, "serve", "--new-keys", keys], capture_output=True, text=True, check=True).stdout.split()
        admin, client = [word for word in made if len(word) == 64]
        server.kill()
        server.options += ["--keys", keys]
        server.start()
        boss = {"Ocp-Apim-Subscription-Key": admin}
        own = subprocess.run([PROGRAM, "serve", "--add-key", "client:shop", "--keys", keys], capture_output=True, text=True, check=True).stdout.split()[1]
        server.process.send_signal(signal.SIGHUP)
        until(lambda: server.call("GET", "/metrics", headers={"Ocp-Apim-Subscription-Key": own})[0] == 200)
        for name in ("home", "shop"):
            status, answer, _ = server.call("PUT", f"/{name}/personalizer/v1.0/configurations/service", {}, boss)
            assert status == 200 and answer["rewardWaitTime"] == "PT10M" and answer["explorationPercentage"] == 0.2, answer
        # the agent that is made by itself; one that the endpoint names; one that the key names
        for name, path, keys, ranks in (("personalizer", "", (admin, client), 4), ("home", "/home", (admin, client), 2), ("shop", "", ("-", own), 2)):
            ran = subprocess.run(["node", os.path.join(HERE, "clients.js"), modules, f"http://127.0.0.1:{server.port}{path}", *keys], capture_output=True, text=True, timeout=120)
            assert ran.returncode == 0 and ran.stdout.endswith("ok\n"), (ran.stdout, ran.stderr)
            counts = server.call("GET", "/v1/agents/" + name, headers=boss)[1]["counts"]
            assert counts["decisions"] == counts["feedback"] == ranks, counts  # the script's own ledger: a retry, and what was refused, count for nothing


main(every_call_passes)
