"""A PostgreSQL of the tests' own: as user postgres, on a socket in a temporary folder, stopped at the end. Standard library alone."""
import atexit
import glob
import os
import shutil
import socket
import subprocess
import tempfile
import threading


class Postgres:
    def __init__(self, *settings, auth="trust", tcp=False, disk=0, initdb=()):
        """tcp: it also listens at 127.0.0.1, at self.port. disk: its data is on a file system of so many MB, which needs root."""
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        self.bin = found[-1] if found else ""
        self.folder = tempfile.mkdtemp(prefix="superarm-pg-", dir="/tmp")
        os.chmod(self.folder, 0o777)
        self.data, self.settings, self.mounts = self.folder + "/data", list(settings), []
        self.port, self.count = 5432, 0
        self.sessions, self.asking = {}, threading.Lock()
        atexit.register(self.remove)
        if tcp:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self.port = free.getsockname()[1]
            self.settings += ["listen_addresses=127.0.0.1", f"port={self.port}"]
        if disk:
            self.data = self.small(disk) + "/data"
        self.run("initdb", "-D", self.data, "-A", auth, "-U", "postgres", "-E", "UTF8", "--locale=C", "-N", *initdb, *(
            ["--pwfile=" + self.folder + "/password"] if auth != "trust" else []))
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

    def small(self, megabytes):
        """A folder of user postgres with a file system of its own, which can be filled."""
        folder = f"{self.folder}/small-{len(self.mounts)}"
        os.mkdir(folder)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0777", "none", folder], check=True)
        shutil.chown(folder, "postgres")
        self.mounts.append(folder)
        return folder

    @staticmethod
    def fill(folder):
        """To the last byte; the file that does it."""
        path = folder + "/filler"
        with open(path, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(65536))
            except OSError:
                pass
            try:
                while True:
                    file.write(bytes(512))
            except OSError:
                pass
        return path

    def stop(self, how="fast"):
        return self.run("pg_ctl", "-D", self.data, "-m", how, "-w", "stop", check=False)

    def restart(self, how="immediate"):
        self.stop(how)
        self.start()

    def sql(self, sql, database="postgres"):
        """Rows of text."""
        got = self.run("psql", "-h", self.folder, "-p", str(self.port), "-U", "postgres", "-d", database, "-qAt", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-c", sql)
        return [line.split("\t") for line in got.stdout.splitlines()]

    def ask(self, sql, database):
        """The same, of one psql that stays: a thousand times in a second. One thread at a time."""
        with self.asking:
            if database not in self.sessions:
                command = [f"{self.bin}/psql", "-h", self.folder, "-p", str(self.port), "-U", "postgres", "-d", database, "-qAt", "-F", "\t"]
                self.sessions[database] = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            session, rows = self.sessions[database], []
            try:
                print(sql + ";\n\\echo :SQLSTATE .", file=session.stdin, flush=True)
                while True:
                    line = session.stdout.readline().rstrip("\n")
                    if line.endswith(" ."):
                        assert line == "00000 .", (sql, line)
                        return rows
                    if not session.stdout or session.poll() is not None:
                        raise BrokenPipeError(sql)
                    rows.append(line.split("\t"))
            except BrokenPipeError:  # the database was restarted
                self.sessions.pop(database).kill()
                return self.sql(sql, database)

    def url(self, database, user="postgres"):
        return f"postgresql://{user}@/{database}?host={self.folder}&port={self.port}"

    def dump(self, database, *options):
        """All that it has, as SQL; without the random word of newer pg_dumps."""
        sql = self.run("pg_dump", "-h", self.folder, "-p", str(self.port), "-U", "postgres", *options, database).stdout
        return [line for line in sql.splitlines() if not line.startswith(("\\restrict", "\\unrestrict"))]

    def database(self, program=None, options=""):
        """A new one; with its tables, if a program is given that makes them."""
        self.count += 1
        name = f"shop{self.count}"
        self.sql(f"CREATE DATABASE {name} {options}")
        if program:
            subprocess.run([program, "serve", "--store", self.url(name), "--migrate"], check=True, stdout=subprocess.DEVNULL)
        return name

    def remove(self):
        if not os.path.exists(self.folder):
            return
        for session in self.sessions.values():
            session.kill()
        self.stop("immediate")
        for folder in self.mounts:
            subprocess.run(["umount", "-l", folder], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)
