#!/usr/bin/env python3
"""serve_client_node.py PROGRAM: the Node client, as the package that npm makes of it, against a service and against servers that fail; its types."""
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile

from service import home, main

PROGRAM = sys.argv[1]
HERE = os.path.dirname(os.path.abspath(__file__))
CLIENT = os.path.join(HERE, "..", "clients", "node")
TYPED = """import { Client, Decision, ServiceError } from "./superarm";
async function page(): Promise<(string | number)[]> {
  const shop = new Client("http://127.0.0.1:8080", { key: "k", timeout: 300 });
  const made: Decision = await shop.decide("home", { items: [{ id: "a", price: 2, tags: ["x"], features: [{ kind: { of: 1 } }] }], context: { hour: 3 }, fallback: ["a"] });
  await shop.feedback("home", made.event, { a: 1, b: null }, { id: "click-1" });
  await shop.shown("home", { contexts: [[1]], slate: [0], propensity: 0.5 });
  await shop.feedback("home", made.event, [{ click: 1 }, null]);
  for await (const line of shop.log("home")) void line;
  return made.slate;
}
page().catch((error: ServiceError) => error.status.toFixed());
"""


def run(command, folder, **more):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, **more)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def the_package_works():
    with tempfile.TemporaryDirectory() as folder, home(PROGRAM) as server:
        packed = json.loads(run(["npm", "pack", "--json", "--offline", "--pack-destination", folder, os.path.abspath(CLIENT)], folder, env={**os.environ, "HOME": folder}))[0]
        assert {file["path"] for file in packed["files"]} == {"package.json", "README.md", "superarm.js", "superarm.d.ts"}, packed
        with tarfile.open(os.path.join(folder, packed["filename"])) as archive:
            archive.extractall(folder)
        package = os.path.join(folder, "package")
        version = re.search(r"project\(superarm VERSION ([0-9.]+)", open(os.path.join(HERE, "..", "CMakeLists.txt")).read()).group(1)
        assert packed["version"] == version and packed["filename"] == f"superarm-client-{version}.tgz", packed["filename"]
        run(["node", os.path.join(HERE, "client.js"), package, f"http://127.0.0.1:{server.port}"], folder)
        assert run(["node", "--input-type=module", "-e", f"import {{ Client }} from '{package}/superarm.js'; console.log(typeof Client)"], folder) == "function\n"


def its_types_hold():
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.join(CLIENT, "superarm.d.ts"), os.path.join(folder, "superarm.d.ts"))
        for name, text, good in (("right.ts", TYPED, True), ("wrong.ts", TYPED.replace("context: { hour: 3 }", "context: 3"), False),
                                 ("void.ts", TYPED.replace("return made.slate", "return made.slates.length"), False)):
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
            done = subprocess.run(["tsc", "--noEmit", "--strict", "--target", "es2020", "--lib", "es2020", "--typeRoots", ".", name], cwd=folder, capture_output=True, text=True, timeout=120)
            assert (done.returncode == 0) == good, (name, done.stdout)


if __name__ == "__main__":
    main(the_package_works, its_types_hold)
