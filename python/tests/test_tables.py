"""Every number of every kind of table, read back and worked out again with NumPy: terminal = HTML = CSV = LaTeX = summary.json = Python."""

import csv
import html.parser
import json
import os
import re
import subprocess

import numpy as np
import pytest

import superarm

PROGRAM = os.environ.get("SUPERARM", "superarm")
STUDENT = {1: 12.706204736174698, 2: 4.302652729749464, 4: 2.7764451051977987}  # 97.5% quantiles, from printed tables
NAMES = ("agent runs mean sd interval worst difference difference-interval standing clicks clicks-interval seconds memory diverged "
         "certificate ratio").split()
TITLES = {"agent": "agent", "runs": "runs", "mean": "mean regret", "sd": "sd", "interval": "95% interval", "worst": "worst",
          "difference-interval": "95% interval", "standing": "standing", "clicks": "clicks", "clicks-interval": "95% interval",
          "seconds": "s/run", "memory": "memory", "diverged": "diverged", "certificate": "certificate", "ratio": "published / ours"}
LATEX = ["agent", "runs", "mean", "sd", "interval", "difference", "difference-interval", "standing"]
SMALL = ["--dim", "5", "--rounds", "60", "--runs", "5"]
THREE = ["--agent", "plain:algorithm=random", "--agent", "50%_of_{a}&b:algorithm=comblin-ucb", "--agent", "cn-ucb:algorithm=cn-ucb,hidden=8"]


def call(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---- the numbers again ----


def spread(ends):
    ends = np.asarray(ends, float)
    mean = float(ends.mean())
    if len(ends) < 2:
        return {"mean": mean, "sd": None, "low": None, "high": None, "worst": None}
    sd = float(ends.std(ddof=1))
    half = STUDENT[len(ends) - 1] * sd / len(ends) ** 0.5
    return {"mean": mean, "sd": sd, "low": mean - half, "high": mean + half, "worst": float(ends.max())}


def ends_of(folder, label, curve):
    """Of runs that are all alike in every curve, the first."""
    kept = {name: np.load(os.path.join(folder, label, f"{name}.npy")) for name in ("expected_regret", "realised_regret", "reward", "clicks")
            if os.path.exists(os.path.join(folder, label, f"{name}.npy"))}
    if curve not in kept:
        return None
    alike = all((runs == runs[0]).all() for runs in kept.values())
    return kept[curve][:1, -1] if alike else kept[curve][:, -1]


class Expected:
    """What a folder's table must say, from its curves."""

    def __init__(self, folder, shown="expected", against=None, chosen=None, published=()):
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            self.summary = json.load(file)
        self.folder, self.shown, self.published = folder, shown, dict(published)
        self.labels = chosen or list(self.summary["agents"])
        self.names = {label: label for label in self.labels}
        self.sweep = "grid" in self.summary
        means = {label: self.mean(label, f"{shown}_regret")["mean"] for label in self.labels}
        best = min(means, key=means.get)
        self.best = best
        self.to_best = self.sweep and not against
        self.reference = against or (best if self.sweep else self.labels[0])
        self.clicks = self.mean(self.labels[0], "clicks") is not None
        self.certified = any((self.about(label).get("certificate") or 0) > 1 for label in self.labels)

    def about(self, label):
        return self.summary["agents"][label]

    def mean(self, label, curve):
        ends = ends_of(self.folder, label, curve)
        return None if ends is None else spread(ends)

    def difference(self, label, to, curve):
        one, other = (np.load(os.path.join(self.folder, which, f"{curve}.npy"))[:, -1] for which in (label, to))
        alike = all(len(ends_of(self.folder, which, curve)) < len(one) for which in (label, to))
        return spread((one - other)[:1] if alike else one - other)

    def columns(self):
        left_out = set() if self.sweep else {"standing"}
        left_out |= set() if self.clicks else {"clicks", "clicks-interval"}
        left_out |= set() if self.certified else {"certificate"}
        left_out |= set() if self.published else {"ratio"}
        return [name for name in NAMES if name not in left_out]

    def rows(self):
        for label in self.labels:
            yield self.row(label)
            if label in self.published:
                yield self.published_row(label)

    def row(self, label):
        about, mean = self.about(label), self.mean(label, f"{self.shown}_regret")
        row = dict.fromkeys(NAMES, "")
        row.update(agent=self.names[label], runs=about["runs"], mean=mean["mean"], sd=mean["sd"], interval=(mean["low"], mean["high"]),
                   worst=mean["worst"], seconds=about["seconds_per_run"], memory=about["peak_bytes"], diverged=about["diverged_trainings"],
                   certificate=about.get("certificate"))
        if label != self.reference:
            apart = self.difference(label, self.reference, f"{self.shown}_regret")
            row.update({"difference": apart["mean"], "difference-interval": (apart["low"], apart["high"])})
        if self.sweep:
            to_best = self.difference(label, self.best, f"{self.shown}_regret")
            row["standing"] = "best" if label == self.best else "not worse" if to_best["low"] is not None and to_best["low"] <= 0 else ""
        if self.clicks:
            clicks = self.mean(label, "clicks")
            row.update({"clicks": clicks["mean"], "clicks-interval": (clicks["low"], clicks["high"])})
        return row

    def published_row(self, label):
        mean, sd, runs = self.published[label]
        half = STUDENT[runs - 1] * sd / runs ** 0.5
        row = dict.fromkeys(NAMES, "")
        row.update(agent=f"{label}, published", runs=runs, mean=mean, sd=sd, interval=(mean - half, mean + half),
                   ratio=mean / self.mean(label, f"{self.shown}_regret")["mean"])
        return row


# ---- a cell says a number ----


def says(cell, expected, where):
    if expected is None or expected == (None, None):
        assert cell in ("-", "--", ""), (where, cell, expected)
    elif isinstance(expected, tuple):
        parts = cell.split(" to ")
        assert len(parts) == 2, (where, cell, expected)
        for part, number in zip(parts, expected):
            says(part, number, where)
    elif isinstance(expected, str):
        assert cell == expected, (where, cell, expected)
    else:
        assert re.fullmatch(r"-?[0-9.]+(e[-+]?[0-9]+)?", cell), (where, cell, expected)
        mantissa, _, exponent = cell.partition("e")
        unit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
        assert abs(float(cell) - expected) <= unit * 0.5000001, (where, cell, expected)


def says_memory(cell, size, where):
    number, unit = cell.split(" ")
    scale = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}[unit]
    assert abs(float(number) * scale - size) <= 0.006 * size, (where, cell, size)


def check_rows(columns, rows, expected, where):
    wanted = list(expected)
    assert len(rows) == len(wanted), (where, rows)
    for cells, row in zip(rows, wanted):
        assert len(cells) == len(columns), (where, cells)
        for name, cell in zip(columns, cells):
            if name == "memory" and row[name] != "":
                says_memory(cell, row[name], (where, row["agent"], name))
            elif name == "seconds" and row[name] != "":
                assert abs(float(cell) - row[name]) <= 0.006 * row[name], (where, cell, row[name])
            else:
                says(cell, row[name], (where, row["agent"], name))


def titles(columns, expected):
    to = "the best" if expected.to_best else expected.names[expected.reference]
    return [f"minus {to}" if name == "difference" else TITLES[name] for name in columns]


# ---- reading the four ----


def terminal_tables(text):
    """Columns are where every line has two blanks."""
    found = []
    for block in text.split("\n\n"):
        lines = block.split("\n")
        if not re.search(r"regret after \d+ rounds$", lines[0]):
            continue
        width = len(lines[1])
        lines = [line for line in lines[1:] if len(line) == width]
        blank = [all(line[at] == " " for line in lines) for at in range(width)]
        cuts = [at for at in range(1, width) if blank[at - 1] and blank[at] and (at + 1 == width or not blank[at + 1])]
        edges = [0, *(cut + 1 for cut in cuts), width]
        found.append([[line[one:other].strip() for one, other in zip(edges, edges[1:])] for line in lines])
    return found


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tables, self.cell = [], None

    def handle_starttag(self, tag, attributes):
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.cell = ""

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.tables[-1][-1].append(self.cell)
            self.cell = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data


def html_tables(path):
    page = Page()
    with open(path, encoding="utf-8") as file:
        page.feed(file.read())
    return [table for table in page.tables if table[0][0] == "agent"]


def latex_tables(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    found = []
    for body in re.findall(r"\\begin{tabular}.*?\\end{tabular}", text, re.S):
        if "\\multicolumn" in body:  # that of all panels
            continue
        rows = re.findall(r"^(?!\\)(.*) \\\\$", body, re.M)
        found.append([[plain(cell) for cell in re.split(r" (?<!\\)& ", row)] for row in rows])
        assert len(re.match(r"\\begin{tabular}{([lr]+)}", body).group(1)) == len(found[-1][0])
    return found


def plain(cell):
    cell = re.sub(r"^{\\boldmath(.*)}$", r"\1", cell).replace("$", "")
    return re.sub(r"\\([%&{}_])", r"\1", cell)


def read_csv(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# ---- all of them beside each other ----


def near(text, expected, where):
    if expected is None or expected == "":
        assert text == "", (where, text, expected)
    else:
        assert abs(float(text) - expected) <= 1e-9 * max(1, abs(expected)), (where, text, expected)


def check_csv(path, panels):
    rows = read_csv(path)
    for row in rows:
        folder, label, where = row["panel"], row["label"], (row["panel"], row["label"], row["regret"])
        expected = panels[folder]
        if row["source"] == "published":
            wanted = expected.published_row(label)
            numbers = {"mean": wanted["mean"], "sd": wanted["sd"], "ci95_low": wanted["interval"][0], "ci95_high": wanted["interval"][1],
                       "published_by_ours": wanted["ratio"], "worst": "", "difference": "", "seconds_per_run": "", "peak_bytes": "",
                       "runs": wanted["runs"], "certificate": ""}
        else:
            curve = "clicks" if row["regret"] == "clicks" else f"{row['regret']}_regret"
            mean, about = expected.mean(label, curve), expected.about(label)
            to = expected.reference
            assert row["against"] == to, where
            apart = expected.difference(label, to, curve)
            numbers = {"mean": mean["mean"], "sd": mean["sd"], "ci95_low": mean["low"], "ci95_high": mean["high"], "worst": mean["worst"],
                       "difference": apart["mean"], "difference_low": apart["low"], "difference_high": apart["high"],
                       "runs": about["runs"], "round": about["rounds"], "peak_bytes": about["peak_bytes"],
                       "diverged_trainings": about["diverged_trainings"], "certificate": about.get("certificate"), "published_by_ours": ""}
            assert abs(float(row["seconds_per_run"]) - about["seconds_per_run"]) <= 1e-4 * about["seconds_per_run"], where
            assert row["algorithm"] == about["algorithm"], where
        for name, number in numbers.items():
            near(row[name], number, (*where, name))
    kinds = {"ours": 0, "published": 0}
    for row in rows:
        kinds[row["source"]] += 1
    assert kinds["ours"] == sum(len(panel.labels) * (3 if panel.clicks else 2) for panel in panels.values())
    assert kinds["published"] == sum(len(panel.published) for panel in panels.values())


def check_summary(expected):
    """summary.json and Python, both of the folder itself."""
    lines = superarm.load(expected.folder).summary(as_dict=True)
    for label in expected.summary["agents"]:
        about, line = expected.about(label), lines[label]
        for curve in ("expected_regret", "realised_regret", "clicks", "reward"):
            mean = expected.mean(label, curve)
            if mean is None:
                assert curve not in about and curve not in line
                continue
            told = {"mean": line[curve], "sd": line[f"{curve}_sd"], "low": line[f"{curve}_low"], "high": line[f"{curve}_high"]}
            if curve.endswith("regret"):
                told["worst"] = line[f"{curve}_worst"]
            for name, number in told.items():
                assert np.isnan(number) if mean[name] is None else abs(number - mean[name]) <= 1e-9 * max(1, abs(mean[name])), (label, name)
            if curve == "reward":
                continue
            written = about[curve]
            for name, number in (("mean", written["mean"]), ("sd", written["sd"]), ("low", written["ci95"][0]), ("high", written["ci95"][1]),
                                 ("worst", written.get("worst", mean["worst"]))):
                if mean[name] is None:
                    assert number is None, (label, curve, name)
                else:
                    assert abs(number - mean[name]) <= 1e-9 * max(1, abs(mean[name])), (label, curve, name)
        assert (line["runs"], line["rounds"]) == (about["runs"], about["rounds"])
        for name in ("peak_bytes", "diverged_trainings", "seconds_per_run"):
            assert line[name] == about[name], (label, name)


def check_all(folders, out, panels, *options):
    """One report in all its forms."""
    text = call("report", *folders, *options, "--out", f"{out}/page")
    wide = call("report", *folders, *options, "--out", f"{out}/wide", "--columns", ",".join(NAMES[1:]), "--format", "latex")
    call("report", *folders, *options, "--out", f"{out}/paper", "--format", "latex", "--quiet")
    check_csv(f"{out}/page/table.csv", panels)
    shown = {"terminal": terminal_tables(text), "page": html_tables(f"{out}/page/report.html")}
    chosen = {"wide terminal": terminal_tables(wide), "wide latex": latex_tables(f"{out}/wide/table.tex")}
    paper = latex_tables(f"{out}/paper/table.tex")
    for index, expected in enumerate(panels.values()):
        columns = expected.columns()
        for where, tables in shown.items():
            assert len(tables) == len(panels), where
            assert tables[index][0] == titles(columns, expected), where
            check_rows(columns, tables[index][1:], expected.rows(), where)
        for where, tables in chosen.items():
            filled = [{**row, "clicks": row["clicks"] if expected.clicks else "", "certificate": row["certificate"]} for row in expected.rows()]
            check_rows(NAMES, tables[index][1:], filled, where)
        if len(panels) > 1:
            check_joint(f"{out}/paper/table.tex", panels, index, expected)
        usual = [name for name in LATEX if name in columns]
        heads = [{"mean": "mean", "difference": "difference"}.get(name, TITLES.get(name)) for name in usual]
        assert paper[index][0] == heads
        check_rows(usual, paper[index][1:], expected.rows(), "latex")
        check_summary(expected)


def check_joint(path, panels, index, expected):
    """The last table has all panels: mean and sd of each, side by side."""
    with open(path, encoding="utf-8") as file:
        body = re.findall(r"\\begin{tabular}.*?\\end{tabular}", file.read(), re.S)[-1]
    assert body.startswith("\\begin{tabular}{l" + "rr" * len(panels) + "}")
    rows = [[plain(cell) for cell in re.split(r" (?<!\\)& ", row)] for row in re.findall(r"^(?!\\)(.*) \\\\$", body, re.M)]
    assert rows[1] == ["agent", *["mean", "sd"] * len(panels)], rows
    for cells, row in zip(rows[2:], expected.rows()):
        says(cells[0], row["agent"], "joint")
        says(cells[1 + 2 * index], row["mean"], "joint")
        says(cells[2 + 2 * index], row["sd"], "joint")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_plain(here):
    call("run", "--environment", "h1", "--preset", "paper", *SMALL, *THREE, "--out", "h1", "--quiet")
    expected = Expected("h1")
    expected.names["cn-ucb"] = "CN-UCB"
    check_all(["h1"], "out", {"h1": expected})


def test_chosen_and_panels(here):
    for name in ("h1", "h3"):
        call("run", "--environment", name, "--preset", "paper", *SMALL, *THREE, "--out", name, "--quiet")
    panels = {name: Expected(name, "realised", "plain", ["cn-ucb", "plain"]) for name in ("h1", "h3")}
    for panel in panels.values():
        panel.names["cn-ucb"] = "Ours"
    check_all(["h1", "h3"], "out", panels, "--panels", "--agent", "cn-ucb:Ours", "--agent", "plain", "--against", "plain", "--regret", "realised")


def test_one_run_and_alike(here):
    """What one run cannot tell is a dash; so are runs that are all the same."""
    call("run", "--environment", "h1", *SMALL, "--runs", "1", *THREE[:4], "--out", "one", "--quiet")
    check_all(["one"], "out", {"one": Expected("one")})
    np.save("contexts.npy", np.random.default_rng(1).normal(size=(30, 6, 4)))
    np.save("scores.npy", np.random.default_rng(2).normal(size=(30, 6)))
    call("run", "--environment", "npy", "--contexts", "contexts.npy", "--scores", "scores.npy", "--noise", "0", "--slate",
         "2", "--runs", "3", "--agent", "ucb:algorithm=comblin-ucb", "--agent", "plain:algorithm=random", "--out", "alike", "--quiet")
    check_all(["alike"], "alike-out", {"alike": Expected("alike")})


def test_clicks(here):
    call("run", "--environment", "formula", "--score", "0.5 + 0.2*x.a", *SMALL, "--clicks", "cascade", *THREE[:4], "--out", "clicked", "--quiet")
    expected = Expected("clicked")
    assert expected.clicks
    check_all(["clicked"], "out", {"clicked": expected})


def test_sweep(here):
    with open("sweep.yaml", "w", encoding="utf-8") as file:
        file.write("environment: h1\ndim: 5\nrounds: 60\nruns: 5\nalgorithm: comblin-ucb\ngrid: {gamma: [0.1, 1, 5], regularization: [1, 10]}\n")
    call("sweep", "sweep.yaml", "--out", "swept", "--quiet")
    check_all(["swept"], "out", {"swept": Expected("swept")})
    against = Expected("swept", against="gamma=1,regularization=1")
    check_all(["swept"], "against", {"swept": against}, "--against", "gamma=1,regularization=1")


def test_certificate(here):
    call("run", "--environment", "h1", "--preset", "paper", *SMALL, "--confidence", "sketch", "--sketch-size", "8", "--agent",
         "sketched:algorithm=cn-ucb,hidden=8", "--agent", "exact:algorithm=cn-ucb,hidden=8,confidence=exact", "--out", "sketched", "--quiet")
    expected = Expected("sketched")
    assert expected.certified
    check_all(["sketched"], "out", {"sketched": expected})


def test_published(here):
    call("run", "--environment", "h1", "--preset", "paper", *SMALL, *THREE, "--out", "h1", "--quiet")
    with open("published.csv", "w", encoding="utf-8") as file:
        file.write("figure,score,d,algorithm,round,mean_regret,sd_regret,runs,regret\n")
        for at in (30, 60):
            file.write(f"fig1,h1,5,cn-ucb,{at},{at / 3},{at / 30},3,expected\n")
    expected = Expected("h1", published={"cn-ucb": (20, 2, 3)})
    expected.names["cn-ucb"] = "CN-UCB"
    expected.published_row = named(expected, "CN-UCB")
    check_all(["h1"], "out", {"h1": expected}, "--reference", "published.csv")


def named(expected, name):
    """The published row under the name that people read."""
    plain_row = expected.published_row
    return lambda label: {**plain_row(label), "agent": f"{name}, published"}


def test_columns_refused(here):
    call("run", "--environment", "h1", *SMALL, *THREE[:2], "--out", "h1", "--quiet")
    for value, sentence in (("mean,median", "--columns median is not one of agent, runs, mean"), ("sd,sd", "--columns has sd twice"),
                            ("", "--columns \"\" is not one of")):
        done = subprocess.run([PROGRAM, "report", "h1", f"--columns={value}"], capture_output=True, text=True)
        assert done.returncode == 2 and sentence in done.stderr, done.stderr
    assert not os.path.exists("h1/report.html")


def test_a_column_of_runs(tmp_path):
    """`switches`, by hand from the trace, in all the places that a column of the list in results/table.h reaches."""
    runs, rounds = 3, 30
    call("run", "--algorithm", "comblin-ucb,random", "--runs", str(runs), "--rounds", str(rounds), "--arms", "5", "--slate", "2", "--dim", "3", "--quiet",
         "--out", f"{tmp_path}/out", "--trace", f"{tmp_path}/trace.jsonl")
    slates = {}
    with open(f"{tmp_path}/trace.jsonl", encoding="utf-8") as file:
        for line in map(json.loads, file):
            slates.setdefault((line["agent"], line["run"]), []).append(line["slate"])
    by_hand = {key: sum(one != other for one, other in zip(played, played[1:])) for key, played in slates.items()}
    assert len(by_hand) == 2 * runs and 0 < min(by_hand.values()) and max(by_hand.values()) < rounds
    call("report", f"{tmp_path}/out", "--out", f"{tmp_path}/page")
    shown = call("report", f"{tmp_path}/out", "--out", f"{tmp_path}/page", "--columns", "switches")
    for label in ("comblin-ucb", "random"):
        own = [by_hand[label, run] for run in range(runs)]
        assert list(np.load(f"{tmp_path}/out/{label}/runs.npz")["switches"]) == own
        mean = sum(own) / runs
        assert abs(superarm.load(f"{tmp_path}/out").summary(as_dict=True)[label]["switches"] - mean) < 1e-3
        assert abs(float(read_csv(f"{tmp_path}/page/table.csv")[0 if label == "comblin-ucb" else 2]["switches"]) - mean) < 1e-9
        assert any(line.split()[-1] == f"{mean:.1f}" for line in shown.splitlines()[2:4]), (shown, mean)
# ---- p-values, where they are asked for ----


def tail(t, freedom):
    """2 P(T > |t|) by the midpoint rule in atan(x / sqrt(nu))."""
    at = (np.arange(200000) + 0.5) / 200000
    start, end = np.arctan(abs(t) / freedom**0.5), np.pi / 2
    return float((np.cos(start + (end - start) * at) ** (freedom - 1)).sum() * (end - start) / ((np.cos(end * at) ** (freedom - 1)).sum() * end))


def test_p_values_and_marks(tmp_path):
    out = tmp_path / "out"
    agents = [word for i in range(3) for word in ("--agent", f"r{i}:algorithm=comblin-ucb,gamma={(0.1, 1, 30)[i]}")]
    call("run", "--environment", "h1", *SMALL, *agents, "--agent", "last:algorithm=random", "--quiet", "--out", str(out))
    ends = {label: np.load(out / label / "expected_regret.npy")[:, -1] for label in ("r0", "r1", "r2", "last")}
    p = {label: tail(d.mean() / (d.std(ddof=1) / 5**0.5), 4) for label in ("r1", "r2", "last") for d in [ends[label] - ends["r0"]]}
    holm, least = {}, 0
    for rank, label in enumerate(sorted(p, key=p.get)):
        least = max(least, min(1, (3 - rank) * p[label]))
        holm[label] = least
    assert min(holm.values()) < 0.001 < max(holm.values())  # there is something to mark
    text = call("report", str(out), "--columns", "mean,p,holm,marks")
    rows = [line.split() for line in text.split("\n") if re.match(r"(r\d|last|random)\b", line)]
    assert len(rows) == 4 and len(rows[0]) == 2 and "p (Holm)" in text
    for cells, label in zip(rows[1:], p):
        marks = "***" if holm[label] < 0.001 else "**" if holm[label] < 0.01 else "*" if holm[label] < 0.05 else ""
        assert (cells[4:] or [""]) == [marks]
        for cell, wanted in zip(cells[2:4], (p[label], holm[label])):
            assert cell == "<0.0001" and wanted < 0.00005 or abs(float(cell) - wanted) <= 0.000051
    with open(out / "table.csv", newline="", encoding="utf-8") as file:
        table = {row["label"]: row for row in csv.DictReader(file) if row["regret"] == "expected"}
    ours = superarm.load(out).differences()
    assert table["r0"]["p"] == ""
    for label in p:
        assert float(table[label]["p"]) == pytest.approx(p[label], rel=1e-6) and float(table[label]["p_holm"]) == pytest.approx(holm[label], rel=1e-6)
        assert ours[label]["p"] == pytest.approx(p[label], rel=1e-6) and ours[label]["holm"] == pytest.approx(holm[label], rel=1e-6)
    call("report", str(out), "--columns", "mean,holm,marks", "--format", "latex", "--out", str(tmp_path / "tex"))
    assert "***" in (tmp_path / "tex" / "table.tex").read_text()
    assert "p (Holm)" not in call("report", str(out))  # unless asked for
