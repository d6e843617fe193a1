"""Off-policy estimators against NumPy, written out; by enumeration; and on logs that are wrong."""

import itertools
import json
import math

import numpy as np
import pytest

import superarm

SIX = ["ips", "snips", "iips", "sniips", "rips", "snrips"]


def write(path, lines):
    with open(path, "w", encoding="utf-8") as file:
        for line in lines:
            print(json.dumps(line), file=file)
    return path


def random_log(rng, n, arms, slates, dim=3):
    """Decisions with probabilities of any size, some of the target's 0; slates' lengths from `slates`."""
    lines = []
    for i in range(n):
        k = int(rng.choice(slates))
        logged, target = rng.uniform(0.1, 1, k), rng.uniform(0, 1, k) * (rng.uniform(size=k) > 0.1)
        feedback = [None if rng.uniform() < 0.1 else float(x) for x in rng.normal(1, 1, k)]
        lines.append({"event": str(i), "contexts": rng.normal(size=(arms, dim)).tolist(), "slate": rng.permutation(arms)[:k].tolist(),
                      "propensity": float(np.prod(logged)), "prefix_propensities": np.cumprod(logged).tolist(),
                      "position_propensities": rng.uniform(0.1, 1, k).tolist(), "target_propensity": float(np.prod(target)),
                      "target_prefix_propensities": np.cumprod(target).tolist(),
                      "target_position_propensities": rng.uniform(0, 1, k).tolist(), "feedback": feedback})
    return lines


def weights(lines, name):
    return [np.atleast_1d(np.array(line["target_" + name]) / np.array(line[name])) for line in lines]


def rewards(lines):
    return [np.array([0 if r is None else r for r in line["feedback"]]) for line in lines]


def linear(terms):
    terms = np.array(terms)
    return terms.mean(), terms.std(ddof=1) / math.sqrt(len(terms))


def self_normalised(w, r):
    """Value, and by the delta method the standard error."""
    n, value, influence = len(w), 0.0, np.zeros(len(w))
    for k in range(max(map(len, w))):
        have = np.array([len(x) > k for x in w])
        wk = np.array([x[k] if len(x) > k else 0 for x in w])
        rk = np.array([x[k] if len(x) > k else 0 for x in r])
        ratio = (wk * rk).sum() / wk.sum()
        value += have.mean() * ratio
        influence += have.mean() * wk * (rk - ratio) / wk.mean() + ratio * (have - have.mean())
    return value, math.sqrt((influence**2).sum() / (n - 1) / n)


def effective(w):
    sizes = []
    for k in range(max(map(len, w))):
        wk = np.array([x[k] for x in w if len(x) > k])
        sizes.append(wk.sum() ** 2 / (wk**2).sum())
    return min(sizes)


def by_numpy(lines):
    r = rewards(lines)
    total = [np.atleast_1d(x.sum()) for x in r]
    joint, position, prefix = (weights(lines, name) for name in ("propensity", "position_propensities", "prefix_propensities"))
    return {"ips": (linear([w[0] * x[0] for w, x in zip(joint, total)]), joint), "snips": (self_normalised(joint, total), joint),
            "iips": (linear([(w * x).sum() for w, x in zip(position, r)]), position), "sniips": (self_normalised(position, r), position),
            "rips": (linear([(w * x).sum() for w, x in zip(prefix, r)]), prefix), "snrips": (self_normalised(prefix, r), prefix)}


@pytest.mark.parametrize("slates", [[3], [1], [1, 2, 4]])
@pytest.mark.parametrize("seed", range(5))
def test_numpy(tmp_path, slates, seed):
    lines = random_log(np.random.default_rng(seed), 300, 6, slates)
    got = superarm.evaluate(write(tmp_path / "log.jsonl", lines), estimators=SIX + ["cascade-dr", "dr"], model="zero")
    assert got.events == 300
    for name, ((value, error), w) in by_numpy(lines).items():
        found = got.estimators[name]
        assert found["value"] == pytest.approx(value, rel=1e-12)
        assert found["standard_error"] == pytest.approx(error, rel=1e-10)
        assert found["ci95"] == pytest.approx([value - 1.95996398454 * error, value + 1.95996398454 * error], rel=1e-9)
        assert found["effective_sample_size"] == pytest.approx(effective(w), rel=1e-12)
        assert found["largest_weight"] == pytest.approx(max(x.max() for x in w), rel=1e-12)
        assert found["no_overlap"] == pytest.approx(np.mean([not x.any() for x in w]))
    assert got.estimators["cascade-dr"]["value"] == got.estimators["rips"]["value"]
    assert got.estimators["dr"]["value"] == got.estimators["ips"]["value"]


def test_pi_with_one_position_is_ips(tmp_path):
    path = write(tmp_path / "log.jsonl", random_log(np.random.default_rng(3), 200, 5, [1]))
    for logging in ("uniform", "product"):
        got = superarm.evaluate(path, estimators="ips,pi", logging=logging).estimators
        # the position's own probabilities are used for pi: they are another list in this log
        assert set(got) == {"ips", "pi"}
    lines = random_log(np.random.default_rng(3), 200, 5, [1])
    for line in lines:
        del line["position_propensities"], line["target_position_propensities"]
    got = superarm.evaluate(write(path, lines), estimators="ips,pi").estimators
    assert got["pi"]["value"] == pytest.approx(got["ips"]["value"], rel=1e-12)


def test_pi_of_product_is_unbiased(tmp_path):
    """Every slate of three positions, each from arms of its own, as often as it is likely: the mean is the target's value."""
    rng = np.random.default_rng(5)
    logged, target, gains = (rng.dirichlet([1, 1], 3) for _ in range(3))
    slates = list(itertools.product(range(2), repeat=3))
    lines = [{"contexts": [[float(i)] for i in range(6)], "slate": [2 * k + a for k, a in enumerate(slate)],
              "propensity": float(np.prod([logged[k][a] for k, a in enumerate(slate)])),
              "position_propensities": [logged[k][a] for k, a in enumerate(slate)],
              "target_position_propensities": [target[k][a] for k, a in enumerate(slate)],
              "feedback": [gains[k][a] for k, a in enumerate(slate)]} for slate in slates]
    value = 0.0
    for line in lines:  # one at a time, for its own term
        term = superarm.evaluate(write(tmp_path / "one.jsonl", [line]), estimators="pi", logging="product").estimators["pi"]["value"]
        value += line["propensity"] * term
    assert value == pytest.approx((target * gains).sum(), rel=1e-12)


def test_pi_of_uniform_logs(tmp_path):
    """The target is uniform, too: every weight is 1, whatever the slate, also where all arms are shown."""
    rng = np.random.default_rng(6)
    for arms, slate in ((5, 3), (4, 4)):
        chance = 1 / math.perm(arms, slate)
        lines = [{"contexts": [[0.0]] * arms, "slate": rng.permutation(arms)[:slate].tolist(), "propensity": chance,
                  "feedback": rng.uniform(size=slate).tolist()} for _ in range(50)]
        got = superarm.evaluate(write(tmp_path / "log.jsonl", lines), "uniform", "pi,ips").estimators
        assert got["pi"]["value"] == pytest.approx(np.mean([sum(line["feedback"]) for line in lines]), rel=1e-12)
        assert got["pi"]["largest_weight"] == pytest.approx(1, rel=1e-12)


def test_logged_needs_no_probabilities(tmp_path):
    lines = [{"contexts": [[0.0], [1.0], [2.0]], "slate": [0, 2], "propensity": None, "feedback": [1, i % 3]} for i in range(30)]
    got = superarm.evaluate(write(tmp_path / "log.jsonl", lines), "logged", SIX)
    assert all(found["value"] == pytest.approx(2) for found in got.estimators.values())


def test_left_out(tmp_path):
    lines = random_log(np.random.default_rng(1), 20, 4, [2])
    lines[3]["feedback"] = None
    del lines[4]["feedback"]
    lines[5]["final"] = False
    got = superarm.evaluate(write(tmp_path / "log.jsonl", lines), estimators="ips")
    assert got.events == 17 and got.left_out == {"without_feedback": 2, "not_final": 1}
    kept = lines[:3] + lines[6:]
    assert got.estimators["ips"]["value"] == pytest.approx(by_numpy(kept)["ips"][0][0], rel=1e-12)


def test_the_control_is_measured(tmp_path):
    rng = np.random.default_rng(7)
    lines = random_log(rng, 400, 5, [2, 3])
    sides = rng.choice(["agent", "control", "shadow", "shown", None], 400, p=[0.5, 0.2, 0.1, 0.1, 0.1])
    for line, side in zip(lines, sides):
        if side:
            line["side"] = str(side)
    control = [line for line, side in zip(lines, sides) if side == "control"]
    control[0]["feedback"] = None
    control[1]["final"] = False
    own = [line for line, side in zip(lines, sides) if side in ("agent", None)]
    got = superarm.evaluate(write(tmp_path / "log.jsonl", lines), estimators=["ips", "snrips"], policy=["given", "logged"])
    assert got.events == len(own)
    assert got.left_out == {"without_feedback": 1, "not_final": 1, "other_sides": sum(side in ("shadow", "shown") for side in sides)}
    value, error = linear([x.sum() for x in rewards(control[2:])])
    assert got.control["events"] == len(control) - 2
    assert got.control["value"] == pytest.approx(value, rel=1e-12)
    assert got.control["standard_error"] == pytest.approx(error, rel=1e-10)
    assert got.control["ci95"] == pytest.approx([value - 1.95996398454 * error, value + 1.95996398454 * error], rel=1e-9)
    for name in ("ips", "snrips"):
        (found, found_error), _ = by_numpy(own)[name]
        assert got.estimators[name]["value"] == pytest.approx(found, rel=1e-12)
        minus, both = got.estimators[name]["minus_control"], math.hypot(found_error, error)
        assert minus["value"] == pytest.approx(found - value, rel=1e-9)
        assert minus["standard_error"] == pytest.approx(both, rel=1e-10)
        assert minus["ci95"] == pytest.approx([found - value - 1.95996398454 * both, found - value + 1.95996398454 * both], rel=1e-8)
    assert "control      measured" in repr(got)
    assert got.policies["logged"]["ips"]["minus_control"]["value"] == pytest.approx(
        np.mean([x.sum() for x in rewards(own)]) - value, rel=1e-9)


def test_no_control_or_nothing_but_it(tmp_path):
    lines = random_log(np.random.default_rng(8), 30, 4, [2])
    got = superarm.evaluate(write(tmp_path / "log.jsonl", lines), estimators="ips")
    assert got.control is None and "minus_control" not in got.estimators["ips"]
    lines[0]["side"] = "control"
    got = superarm.evaluate(write(tmp_path / "log.jsonl", lines), estimators="ips")
    assert got.control["events"] == 1 and got.control["standard_error"] is None and "minus_control" not in got.estimators["ips"]
    for line in lines:
        line["side"] = "control"
    with pytest.raises(superarm.InputError, match="that the agent chose: 30 are of other sides"):
        superarm.evaluate(write(tmp_path / "log.jsonl", lines))
    for wrong in (3, "", True, ["control"]):
        lines[4]["side"] = wrong
        with pytest.raises(superarm.FormatError, match="log.jsonl:5: side is"):
            superarm.evaluate(write(tmp_path / "log.jsonl", lines))


def test_totals(tmp_path):
    lines = random_log(np.random.default_rng(11), 80, 5, [3])
    for line in lines:
        line["total"] = sum(r or 0 for r in line.pop("feedback"))
    lines[0]["total"] = None
    lines[1]["side"] = "control"
    path = write(tmp_path / "log.jsonl", lines)
    got = superarm.evaluate(path, estimators=["ips", "snips"])
    w = np.array([line["target_propensity"] / line["propensity"] for line in lines[2:]])
    r = np.array([line["total"] for line in lines[2:]])
    assert got.events == 78 and got.left_out["without_feedback"] == 1 and got.control["value"] == pytest.approx(lines[1]["total"])
    assert got.estimators["ips"]["value"] == pytest.approx((w * r).mean(), rel=1e-12)
    assert got.estimators["snips"]["value"] == pytest.approx((w * r).sum() / w.sum(), rel=1e-12)
    got = superarm.evaluate(path)  # those that can be had
    assert list(got.estimators) == ["ips", "snips"] and any("one number for a whole slate" in warning for warning in got.warnings)
    for name in ("iips", "rips", "cascade-dr", "dr"):
        with pytest.raises(superarm.InputError, match="one number for a whole slate"):
            superarm.evaluate(path, estimators=name, model="zero")


def uniform_log(rng, n, arms, slate, dim, click):
    lines = []
    for _ in range(n):
        contexts = rng.normal(size=(arms, dim))
        chosen = rng.permutation(arms)[:slate]
        lines.append({"contexts": contexts.tolist(), "slate": chosen.tolist(), "propensity": 1 / math.perm(arms, slate),
                      "prefix_propensities": [1 / math.perm(arms, k + 1) for k in range(slate)],
                      "position_propensities": [1 / arms] * slate, "feedback": click(contexts[chosen])})
    return lines


def test_several_policies(tmp_path):
    """Differences are of the decisions' terms, so that what both share does not count."""
    rng = np.random.default_rng(2)
    lines = random_log(rng, 200, 5, [2])
    got = superarm.evaluate(write(tmp_path / "log.jsonl", lines), ["logged", "given"], "ips,snips")
    assert set(got.policies) == {"logged", "given"} and got.estimators == got.policies["logged"]
    r = np.array([x.sum() for x in rewards(lines)])
    w = np.array([x[0] for x in weights(lines, "propensity")])
    terms = w * r - r
    found = got.differences["given"]["ips"]
    assert found["value"] == pytest.approx(terms.mean(), rel=1e-10)
    assert found["standard_error"] == pytest.approx(terms.std(ddof=1) / math.sqrt(200), rel=1e-10)


def ridge(phi, y):
    return np.linalg.solve(phi.T @ phi + np.eye(phi.shape[1]), phi.T @ y)


def test_reward_models(tmp_path):
    """dm, dr and cascade-dr of the uniform policy with ridge regressions, against NumPy."""
    rng = np.random.default_rng(4)
    n, arms, slate, dim, folds = 60, 4, 2, 3, 5
    lines = uniform_log(rng, n, arms, slate, dim, lambda x: [float(v) for v in x[:, 0] + x[:, 1] ** 2])
    for line in lines:  # logged by a policy that is not quite uniform
        line["prefix_propensities"] = [0.3, 0.1]
        line["propensity"] = 0.1
    got = superarm.evaluate(write(tmp_path / "log.jsonl", lines), "uniform", "dm,dr,cascade-dr", model="ridge").estimators
    x = np.array([line["contexts"] for line in lines])
    chosen = np.array([line["slate"] for line in lines])
    r = np.array([line["feedback"] for line in lines])
    shown = np.take_along_axis(x, chosen[:, :, None], 1)
    ones, fold = np.ones((n, 1)), np.arange(n) % folds
    slate_q, policy_q, cascade = np.zeros(n), np.zeros(n), np.zeros(n)
    for g in range(folds):
        fit, own = fold != g, fold == g
        for k in range(slate):
            theta = ridge(np.hstack([ones, shown[:, k]])[fit], r[fit, k])
            slate_q += own * (np.hstack([ones, shown[:, k]]) @ theta)
            policy_q += own * (np.hstack([ones, x.mean(1)]) @ theta)
        rest = (x.sum(1) - shown[:, 0]) / (arms - 1)
        second = ridge(np.hstack([ones, shown[:, 1], shown[:, 0]])[fit], r[fit, 1])
        after = np.hstack([ones, rest, shown[:, 0]]) @ second
        first = ridge(np.hstack([ones, shown[:, 0], 0 * shown[:, 0]])[fit], (r[:, 0] + after)[fit])
        w1, w2 = 1 / arms / 0.3, 1 / arms / (arms - 1) / 0.1
        q1, q2 = np.hstack([ones, shown[:, 0], 0 * rest]) @ first, np.hstack([ones, shown[:, 1], shown[:, 0]]) @ second
        e1 = np.hstack([ones, x.mean(1), 0 * rest]) @ first
        cascade += own * (w1 * (r[:, 0] - q1) + e1 + w2 * (r[:, 1] - q2) + w1 * after)
    w = 1 / arms / (arms - 1) / 0.1
    assert got["dm"]["value"] == pytest.approx(policy_q.mean(), rel=1e-10)
    assert got["dr"]["value"] == pytest.approx((w * (r.sum(1) - slate_q) + policy_q).mean(), rel=1e-10)
    assert got["cascade-dr"]["value"] == pytest.approx(cascade.mean(), rel=1e-10)
    assert got["cascade-dr"]["standard_error"] == pytest.approx(cascade.std(ddof=1) / math.sqrt(n), rel=1e-10)


def test_bootstrap(tmp_path):
    """Near the normal interval where there are many decisions, and the same for the same seed."""
    path = write(tmp_path / "log.jsonl", random_log(np.random.default_rng(8), 2000, 5, [2]))
    one, again, other = (superarm.evaluate(path, estimators="ips,snrips", bootstrap=400, seed=seed).estimators for seed in (1, 1, 2))
    assert one == again and one != other
    for found in one.values():
        width = found["ci95"][1] - found["ci95"][0]
        assert np.allclose(found["bootstrap95"], found["ci95"], atol=0.15 * width)


def test_bootstrap_of_differences(tmp_path):
    """Paired: a policy's difference to itself is 0, and one to another is as NumPy's, with the same decisions for both."""
    lines = random_log(np.random.default_rng(8), 2000, 5, [2])
    got = superarm.evaluate(write(tmp_path / "log.jsonl", lines), ["logged", "given"], "ips", bootstrap=400)
    found = got.differences["given"]["ips"]
    r = np.array([x.sum() for x in rewards(lines)])
    terms = np.array([w[0] for w in weights(lines, "propensity")]) * r - r
    rng = np.random.default_rng(1)
    resampled = [terms[rng.integers(2000, size=2000)].mean() for _ in range(2000)]
    width = found["ci95"][1] - found["ci95"][0]
    assert found["value"] == pytest.approx(terms.mean(), rel=1e-12)
    assert np.allclose(found["bootstrap95"], np.quantile(resampled, [0.025, 0.975]), atol=0.15 * width)
    for line in lines:
        for name in ("propensity", "prefix_propensities", "position_propensities"):
            line["target_" + name] = line[name]
    got = superarm.evaluate(write(tmp_path / "log.jsonl", lines), ["logged", "given"], "ips", bootstrap=400)
    assert got.differences["given"]["ips"]["bootstrap95"] == [0, 0]
    assert "bootstrap95" not in superarm.evaluate(tmp_path / "log.jsonl", ["logged", "given"], "ips").differences["given"]["ips"]


@pytest.mark.parametrize("joint, prefix, position", [(0.5, [1.0, 0.5], [1.0, 1.0]), (1.0, [0.6, 1.0], [1.0, 1.0]), (1.0, [1.0, 1.0], [1.0, 0.4])])
def test_mean_weights_that_are_not_one(tmp_path, joint, prefix, position):
    """Whichever weights have a mean that is not 1, all who rest on them are named, and no others; those who divide by it too."""
    rng, lines = np.random.default_rng(3), []
    for _ in range(400):
        off = 1 + 0.1 * rng.choice([-1, 1])  # a mean of 1, and an error
        lines.append({"slate": [0, 1], "contexts": [[0.0], [1.0], [2.0]], "propensity": 0.5, "prefix_propensities": [0.5, 0.25],
                      "position_propensities": [0.5, 0.5], "target_propensity": 0.5 * joint * off,
                      "target_prefix_propensities": [0.5 * prefix[0] * off, 0.25 * prefix[1] * off],
                      "target_position_propensities": [0.5 * position[0] * off, 0.5 * position[1] * off], "feedback": [1, 0]})
    log = write(tmp_path / "log.jsonl", lines)
    told = [warning for warning in superarm.evaluate(log, "given", SIX).warnings if "the weights' mean is" in warning]
    named = [("ips, snips", joint), ("rips, snrips", min(prefix)), ("iips, sniips", min(position))]
    assert [warning.split(":")[0] for warning in told] == [f"policy given, {names}" for names, mean in named if mean < 1], told
    assert all("divides by it" in warning for warning in told)
    told = superarm.evaluate(log, "given", ["ips", "rips", "iips"]).warnings
    assert told and not any("divides by it" in warning for warning in told)


def test_warnings(tmp_path):
    lines = random_log(np.random.default_rng(9), 300, 5, [2])
    lines[7]["propensity"] = 1e-9
    lines[7]["target_propensity"] = 0.5
    got = superarm.evaluate(write(tmp_path / "log.jsonl", lines), estimators="ips")
    assert any("handful of decisions" in warning and "300 count as 1.0" in warning for warning in got.warnings)
    lines = [{"contexts": [[0.0], [1.0]], "slate": [0], "propensity": 0.5 if i > 2 else 0.0075, "target_propensity": 0.45, "feedback": [1]}
             for i in range(2000)]  # weights 0.9, and three of 60: (1797 + 180)^2 / (1618 + 10800) count, and for the error 4
    got = superarm.evaluate(write(tmp_path / "log.jsonl", lines), estimators="ips")
    assert 314 < got.estimators["ips"]["effective_sample_size"] < 315
    assert any("the standard error rests on a handful" in warning and "count as 4.0 equally" in warning for warning in got.warnings)
    lines = random_log(np.random.default_rng(9), 300, 5, [2, 3])
    first = next(i for i, line in enumerate(lines) if len(line["slate"]) != len(lines[0]["slate"])) + 1
    got = superarm.evaluate(write(tmp_path / "log.jsonl", lines), estimators="iips")
    assert any(f"log.jsonl:{first}: the slate is not as long" in warning for warning in got.warnings)


WRONG = [
    ({"propensity": 0}, {}, "log.jsonl:3: propensity is 0"),
    ({"propensity": 1.5}, {}, "log.jsonl:3: propensity is 1.5"),
    ({"propensity": None}, {}, "log.jsonl:3: propensity is missing"),
    ({"position_propensities": None}, {"estimators": "iips"}, "log.jsonl:3: position_propensities is missing"),
    ({"target_prefix_propensities": None}, {"estimators": "rips"}, "log.jsonl:3: target_prefix_propensities is missing"),
    ({"prefix_propensities": [0.2, 0.3]}, {"estimators": "rips"}, r"log.jsonl:3: prefix_propensities\[1\] is 0.3"),
    ({"target_prefix_propensities": [0.2, 0.3]}, {}, r"log.jsonl:3: target_prefix_propensities\[1\] is 0.3"),
    ({}, {"estimators": "cascade-dr"}, "cascade-dr needs the probabilities of all arms"),
    ({}, {"estimators": "pi"}, "log.jsonl:1: the slate was not drawn uniformly"),
    ({}, {"estimators": "iips", "lengths": "policy"}, "iips compares positions"),
    ({}, {"estimators": "ipps"}, "ipps"),
    ({}, {"policy": "best"}, "--policy best"),
    ({}, {"policy": ["given", "given"]}, "given twice"),
    ({}, {"model": "one"}, "--model one"),
    ({}, {"policy": "uniform", "estimators": "dm", "folds": 1}, "--folds 1"),
]


@pytest.mark.parametrize("change, options, words", WRONG)
def test_wrong(tmp_path, change, options, words):
    lines = random_log(np.random.default_rng(1), 6, 5, [2])
    lines[2].update(change)
    with pytest.raises(superarm.Error, match=words):
        superarm.evaluate(write(tmp_path / "log.jsonl", lines), **{"estimators": "ips", **options})


def test_no_overlap(tmp_path):
    lines = random_log(np.random.default_rng(1), 6, 5, [2])
    for line in lines:
        line["target_propensity"] = 0
    path = write(tmp_path / "log.jsonl", lines)
    with pytest.raises(superarm.InputError, match="every weight of ips is 0"):
        superarm.evaluate(path, estimators="ips")
    got = superarm.evaluate(path)  # those that can be computed
    assert "ips" not in got.estimators and "rips" in got.estimators
    assert any(warning.startswith("ips is left out") for warning in got.warnings)
