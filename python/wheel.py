"""make wheel: one wheel for all Pythons from 3.9, that carries all it needs but NumPy and cffi.

    wheel.py DIST

pip builds the package; then what its binding and the program link to goes into superarm/_bundled, under names of its own (so
that they never meet the system's or NumPy's libraries of the same name), with the licences of the packages that they are from.
The C library and the kernel's are left to the system: that the wheel says in its name. The oracle ilp and `serve --store` are not in it:
CBC, libpq and what they link to would be several times its size."""

import glob
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SYSTEM = re.compile(r"^(linux-vdso|ld-linux.*|libc|libm|libdl|librt|libpthread|libgcc_s)\.so")


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def build(folder):
    """The wheel as `pip install .` would have it."""
    environment = dict(os.environ, CMAKE_ARGS="-DSUPERARM_ILP=OFF -DSUPERARM_POSTGRES=OFF " + os.environ.get("CMAKE_ARGS", ""))
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "-w", folder, ROOT]
    subprocess.run(command, check=True, env=environment)
    subprocess.run([sys.executable, "-m", "wheel", "unpack", "-d", folder, *glob.glob(f"{folder}/*.whl")], check=True,
                   stdout=subprocess.DEVNULL)
    return glob.glob(f"{folder}/superarm-*/")[0]


def needed(path):
    """The libraries that a file links to, directly or not: name -> where it is."""
    lines = output("ldd", path).splitlines()
    missing = [line for line in lines if "not found" in line]
    if missing:
        sys.exit(f"wheel.py: {path}: {missing[0].strip()}")
    found = dict(match.groups() for match in (re.match(r"\s*(\S+) => (/\S+)", line) for line in lines) if match)
    return {name: path for name, path in found.items() if not SYSTEM.match(name)}


def own_name(name, path):
    """libz.so.1 as libz-superarm-1a2b3c4d.so.1"""
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()[:8]
    stem, rest = name.split(".so", 1)
    return f"{stem}-superarm-{digest}.so{rest}"


def patch(path, names, rpath):
    """One change a call: older patchelfs spoil the file when they are asked for several."""
    for name in output("patchelf", "--print-needed", path).split():
        if name in names:
            subprocess.run(["patchelf", "--replace-needed", name, names[name], path], check=True)
    subprocess.run(["patchelf", "--force-rpath", "--set-rpath", rpath, path], check=True)


def licence(path, folder):
    """The copyright file of the Debian package that a library is from."""
    candidates = [path, os.path.realpath(path), os.path.realpath(path).replace("/usr/lib", "/lib", 1)]
    for candidate in candidates:
        found = subprocess.run(["dpkg-query", "-S", candidate], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if found.returncode == 0:
            package = found.stdout.split(":")[0]
            shutil.copy(f"/usr/share/doc/{package}/copyright", os.path.join(folder, f"{package}.txt"))
            return
    print(f"wheel.py: no licence found for {path}: add it before you give the wheel away", file=sys.stderr)


def bundle(package):
    folder = os.path.join(package, "_bundled")
    licences = os.path.join(folder, "licences")
    os.makedirs(licences)
    binding, program = f"{package}/_superarm.abi3.so", f"{package}/bin/superarm"
    libraries = {**needed(binding), **needed(program)}
    names = {name: own_name(name, path) for name, path in libraries.items()}
    for name, path in libraries.items():
        copy = shutil.copy(path, os.path.join(folder, names[name]))
        os.chmod(copy, 0o755)
        subprocess.run(["patchelf", "--set-soname", names[name], copy], check=True)
        patch(copy, names, "$ORIGIN")
        licence(path, licences)
    patch(binding, names, "$ORIGIN/_bundled")
    patch(program, names, "$ORIGIN/../_bundled")
    os.chmod(program, 0o755)  # which unpacking forgets


def rewrite(path, pattern, replacement):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(re.sub(pattern, replacement, text, flags=re.MULTILINE))


def main(dist):
    if sys.platform != "linux":
        sys.exit("wheel.py: this collects Linux's libraries (ldd, patchelf); elsewhere: pip wheel . --no-deps, and delocate-wheel on macOS")
    if not shutil.which("patchelf"):
        sys.exit("wheel.py: patchelf is missing, and a wheel cannot carry its libraries without it")
    glibc = platform.libc_ver()[1].replace(".", "_")
    with tempfile.TemporaryDirectory() as folder:
        tree = build(folder)
        bundle(os.path.join(tree, "superarm"))
        info = glob.glob(f"{tree}/*.dist-info")[0]
        rewrite(f"{info}/WHEEL", r"-linux_(\w+)$", rf"-manylinux_{glibc}_\1")
        os.makedirs(dist, exist_ok=True)
        told = output(sys.executable, "-m", "wheel", "pack", "-d", dist, tree)
        return re.search(r"as (\S+\.whl)", told)[1]


def check(wheel):
    """Installs the wheel into an empty folder, and looks at what a process that uses it has loaded."""
    program = """if True:
        import sys
        import superarm, numpy
        agent = superarm.Agent("cn-ucb", dim=3)
        decision = agent.select(numpy.eye(3), slate=2)
        agent.update(decision, [1, 0])
        agent.save(sys.argv[1])
        files = {line.split()[-1] for line in open("/proc/self/maps") if "/" in line}
        for file in sorted(files):
            print(file)
    """
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", folder, wheel], check=True)
        environment = dict(os.environ, PYTHONPATH=folder)
        done = subprocess.run([sys.executable, "-c", program, f"{folder}/agent.npz"], env=environment, stdout=subprocess.PIPE, text=True,
                              check=True, cwd=folder)
        files = done.stdout.split()
        if not any("/_bundled/libzip" in file for file in files):
            sys.exit("wheel.py: the wheel works, but with the system's libzip:\n" + done.stdout)
        said = subprocess.run([f"{folder}/bin/superarm", "list", "algorithms"], env=environment, stdout=subprocess.PIPE, text=True, check=True)
        if "cn-ucb" not in said.stdout:
            sys.exit("wheel.py: the command superarm of the wheel says: " + said.stdout)


if __name__ == "__main__":
    os.environ["PIP_ROOT_USER_ACTION"] = "ignore"
    made = os.path.join(sys.argv[1], os.path.basename(main(os.path.abspath(sys.argv[1]))))
    check(os.path.abspath(made))
    print(f"{made}: {os.path.getsize(made) / 1e6:.1f} MB")
