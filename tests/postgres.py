"""A PostgreSQL of the tests' own: as user postgres, on a socket in a temporary folder, stopped at the end. Standard library alone."""
import atexit
import glob
import os
import shutil
import subprocess
import tempfile


class Postgres:
    def __init__(self, *settings, auth="trust"):
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        self.bin = found[-1] if found else ""
        self.folder = tempfile.mkdtemp(prefix="superarm-pg-", dir="/tmp")
        os.chmod(self.folder, 0o777)
        self.data, self.settings = self.folder + "/data", list(settings)
        self.port, self.count = 5432, 0
        self.run("initdb", "-D", self.data, "-A", auth, "-U", "postgres", "-E", "UTF8", "--locale=C", "-N", *(
            ["--pwfile=" + self.folder + "/password"] if auth != "trust" else []))
        atexit.register(self.remove)
        self.start()

    def run(self, program, *arguments, check=True):
        """As user postgres where we are root, who may not run it."""
        command = [f"{self.bin}/{program}", *arguments]
        if os.getuid() == 0:
            command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command]
        return subprocess.run(command, check=check, capture_output=True, text=True, cwd=self.folder)

    def start(self):
        options = ["-c", "listen_addresses=", "-c", f"unix_socket_directories={self.folder}", "-c", "unix_socket_permissions=0777", "-c", "logging_collector=off"]
        for setting in self.settings:
            options += ["-c", setting]
        self.run("pg_ctl", "-D", self.data, "-l", self.folder + "/log", "-w", "-o", " ".join(options), "start")
        return self

    def stop(self, how="fast"):
        return self.run("pg_ctl", "-D", self.data, "-m", how, "-w", "stop", check=False)

    def restart(self, how="immediate"):
        self.stop(how)
        self.start()

    def sql(self, sql, database="postgres"):
        """Rows of text."""
        got = self.run("psql", "-h", self.folder, "-U", "postgres", "-d", database, "-qAt", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-c", sql)
        return [line.split("\t") for line in got.stdout.splitlines()]

    def url(self, database, user="postgres"):
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def database(self, program=None):
        """A new one; with its tables, if a program is given that makes them."""
        self.count += 1
        name = f"shop{self.count}"
        self.sql(f"CREATE DATABASE {name}")
        if program:
            subprocess.run([program, "serve", "--store", self.url(name), "--migrate"], check=True, stdout=subprocess.DEVNULL)
        return name

    def remove(self):
        if not os.path.exists(self.folder):
            return
        self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)
