"""Schemas: every kind against an encoder that is written out here, frames, and what is refused."""

import math
import os
import pickle

import numpy as np
import pandas
import pytest

import superarm

SCHEMA = {"context": {"country": "hashed 16", "device": "category [phone, desktop]", "hour": "cyclic 24", "logged_in": "flag"},
          "item": {"category": "hashed 8", "price": "log", "age": "number", "tags": "tags 32"},
          "cross": [["device", "category"], ["country", "category"], ["category", "tags"]]}


def hash_of(field, value):
    number = 0xCBF29CE484222325
    for byte in field.encode() + b"\0" + value.encode():
        number = (number ^ byte) * 0x100000001B3 % 2**64
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        number = (number ^ number >> 33) * factor % 2**64
    return number ^ number >> 33


def signed(field, value, size):
    number, out = hash_of(field, value), np.zeros(size)
    out[number % size] = -1 if number >> 63 else 1
    return out


def ends(value, path=""):
    """All that is in a value of any shape: (text, number)."""
    if isinstance(value, dict):
        return [end for key, inner in value.items() for end in ends(inner, f"{path}.{key}")]
    if isinstance(value, list):
        return [end for i, inner in enumerate(value) for end in ends(inner, path + (f"[{i}]" if type(inner) in (int, float) else ""))]
    if isinstance(value, bool):
        return [(f"{path}={str(value).lower()}", 1)]
    if isinstance(value, str):
        return [(f"{path}={value}", 1)]
    return [] if value is None else [(path, math.copysign(math.log1p(abs(value)), value))]


def encode_field(name, kind, value):
    """The columns of a field without its missing flag, and the flag."""
    word, _, rest = kind.partition(" ")
    missing = value is None
    if word == "category":
        values = rest.strip("[]").split(", ")
        out = np.zeros(len(values) + 1)
        if not missing:
            out[values.index(value) if value in values else -1] = 1
    elif word == "hashed":
        out = np.zeros(int(rest)) if missing else signed(name, value, int(rest))
    elif word == "tags":
        out = np.zeros(int(rest))
        for tag in value or []:
            out += signed(name, tag, int(rest)) / math.sqrt(len(value))
    elif word == "any":
        out = np.zeros(int(rest))
        for text, number in ends(value):
            out += number * signed(name, text, int(rest)) / math.sqrt(len(ends(value)))
    elif word == "cyclic":
        angle = 2 * math.pi * (value or 0) / float(rest)
        out = np.zeros(2) if missing else np.array([math.cos(angle), math.sin(angle)])
    else:
        out = np.array([0 if missing else math.log1p(value) if word == "log" else float(value)])
    return out, float(missing)


def cross(name, left, right, most=64):
    products = np.outer(left, right).ravel()
    if len(products) <= most:
        return products
    out = np.zeros(most)
    for index, product in enumerate(products):
        out += product * signed(name, str(index), most)
    return out


def encode(schema, context, item):
    parts, row = {}, []
    for part, fields, values in (("context", schema["context"], context), ("item", schema["item"], item)):
        for name, kind in fields.items():
            parts[name], missing = encode_field(name, kind, values.get(name))
            row += [*parts[name], missing]
    for left, right, *most in schema["cross"]:
        row += [*cross(f"{left} x {right}", parts[left], parts[right], *most)]
    return np.array(row)


def random_item(rng):
    item = {"id": f"p{rng.integers(10**12)}", "category": f"c{rng.integers(20)}", "price": float(rng.exponential(50)),
            "age": float(rng.normal()), "tags": [f"t{n}" for n in rng.integers(50, size=rng.integers(5))]}
    for name in list(item)[1:]:
        if rng.uniform() < 0.2:
            item[name] = None
        if rng.uniform() < 0.1:
            del item[name]
    return item


def test_every_kind():
    rng = np.random.default_rng(3)
    schema = superarm.Schema(SCHEMA)
    for _ in range(50):
        context = {"country": rng.choice(["de", "fr", "日本"]), "device": rng.choice(["phone", "desktop", "fridge"]),
                   "hour": float(rng.uniform(0, 24)), "logged_in": bool(rng.integers(2))}
        items = [random_item(rng) for _ in range(7)]
        contexts, ids = schema.encode(items, context)
        assert ids == [item["id"] for item in items]
        wanted = np.array([encode(SCHEMA, context, item) for item in items])
        assert contexts.shape == wanted.shape == (7, schema.dim)
        np.testing.assert_allclose(contexts, wanted, rtol=0, atol=1e-14)


def random_value(rng, depth=0):
    kind = rng.integers(8 if depth < 4 else 6)
    if kind == 6:
        return {rng.choice(["a", "b.c", "d \"e\"", "ü", f"k{depth}"]): random_value(rng, depth + 1) for _ in range(rng.integers(4))}
    if kind == 7:
        return [random_value(rng, depth + 1) for _ in range(rng.integers(4))]
    return [None, True, False, f"v{rng.integers(30)}", float(rng.normal() * 1000), int(rng.integers(-5, 5))][kind]


def test_values_of_any_shape():
    rng = np.random.default_rng(5)
    plain = {"context": {"user": "any 12"}, "item": {"what": "any 7", "price": "log"}, "cross": [["user", "what", 30], ["user", "price", 64], ["what", "price", 3]]}
    schema = superarm.Schema(plain)
    assert schema.dim == 13 + 8 + 2 + 30 + 12 + 3
    some = 0
    for _ in range(300):
        context = {"user": [random_value(rng) for _ in range(8)]}
        items = [{"id": str(i), "what": random_value(rng), "price": 2.0} for i in range(3)]
        contexts, _ = schema.encode(items, context)
        np.testing.assert_allclose(contexts, [encode(plain, context, item) for item in items], rtol=0, atol=1e-12)
        some += len(ends(context["user"])) > 5
    assert some > 50  # they are not all small


def test_columns():
    columns = superarm.Schema(SCHEMA).columns
    assert [(column.part, column.field, column.kind) for column in columns[3:6]] == [
        ("context", "logged_in", "flag"), ("item", "category", "hashed"), ("item", "price", "log")]
    assert columns[-1] == ("cross", "category x tags", "cross", columns[-2].start + columns[-2].size, 64)
    assert sum(column.size for column in columns) == superarm.Schema(SCHEMA).dim


def test_frames():
    schema = superarm.Schema(SCHEMA)
    items = [{"id": "a", "category": "x", "price": 2.5, "age": 0.1 + 0.2}, {"id": "b", "price": None, "tags": ["u", "v"]}]
    frame = pandas.DataFrame(items)
    wanted, _ = schema.encode(items, {"hour": 3})
    got, ids = schema.encode(frame, {"hour": np.int64(3)})
    assert np.array_equal(got, wanted) and ids == ["a", "b"]
    whole = pandas.DataFrame({"price": [1, 2], "category": ["x", None]})
    assert np.array_equal(schema.encode(whole)[0], schema.encode([{"price": 1, "category": "x"}, {"price": 2}])[0])


def test_files_and_copies(tmp_path):
    path = tmp_path / "schema.yaml"
    path.write_text("context: {device: category [phone, desktop]}\nitem: {price: log}\n")
    schema = superarm.Schema.load(path)
    assert schema == superarm.Schema(path.read_text()) == pickle.loads(pickle.dumps(schema)) == superarm.Schema(str(schema))
    assert schema != superarm.Schema({"item": {"price": "number"}}) and schema.dim == 6
    assert len({schema, superarm.Schema(str(schema))}) == 1


@pytest.mark.parametrize("items, context, sentence", [
    ([{"price": "abc"}], None, r'items\[0\].price is "abc", and a number from 0 is wanted'),
    ([{}, {"price": float("nan")}], None, r"items\[1\].price is nan, and a finite number or None is wanted"),
    ([{"tags": [1, np.inf]}], None, r"items\[0\].tags\[1\] is inf, and a finite number or None is wanted"),
    ([{"price": object()}], None, "items: a object is no JSON"),
    ([], None, "items is empty"),
    ({"price": 1}, None, "items: a dict was given, and a list of dicts or a pandas frame is wanted"),
    ([{}], [1], "context: a list was given, and a dict is wanted"),
    ([{}], {"hour": "x"}, 'context.hour is "x", and a number is wanted'),
    ([{"id": "a"}, {"id": "a"}], None, r"items\[0\] and items\[1\] have the same id, a"),
])
def test_refused(items, context, sentence):
    with pytest.raises(superarm.InputError, match=sentence):
        superarm.Schema(SCHEMA).encode(items, context)


@pytest.mark.parametrize("schema, sentence", [
    ({"item": {"a": "lgo"}}, "schema: item.a is lgo, and one of number"),
    ({"item": {"a": 5}}, "schema: item.a is a number, and a kind is wanted"),
    ("", "schema is empty"),
])
def test_wrong_schemas(schema, sentence):
    with pytest.raises(superarm.InputError, match=sentence):
        superarm.Schema(schema)


SCHEMA_TEXT = {"context": {"hour": "cyclic 24"}, "item": {"price": "log", "kind": "hashed 8"}}
ITEMS = [{"id": f"p{number}", "price": number, "kind": f"k{number % 3}"} for number in range(6)]


def named_agent(**options):
    return superarm.Agent("cn-ts", schema=SCHEMA_TEXT, hidden=8, **options)


def test_agents_choose_by_name():
    """Named fields give what the encoded contexts give; decisions, exclusions and feedback go by id."""
    agent, other, frame = named_agent(), named_agent(), named_agent()
    schema = superarm.Schema(SCHEMA_TEXT)
    assert agent.schema == schema and agent.dim == schema.dim
    for hour in range(8):
        decision = agent.select(items=ITEMS, context={"hour": hour}, slate=3, exclude=["p1"])
        contexts, ids = schema.encode(ITEMS, {"hour": hour})
        plain = other.select(contexts, slate=3, exclude=[1])
        by_frame = frame.select(items=pandas.DataFrame(ITEMS), context={"hour": hour}, slate=3, exclude={"p1"})
        assert decision.ids == by_frame.ids == [ids[arm] for arm in plain.arms] and plain.ids is None and "p1" not in decision.ids
        assert np.array_equal(decision.score, plain.score)
        assert pickle.loads(pickle.dumps(decision)).ids == decision.ids
        agent.update(decision, {decision.ids[1]: 1.0, decision.ids[0]: 0.5})
        other.update(plain, [0.5, 1.0, 0.0], observed=[True, True, False])
        frame.update(by_frame, [0.5, 1.0, 0.0], observed=[True, True, False])
    first, second = agent.select_many([{"items": ITEMS}, {"items": ITEMS[:4], "context": {"hour": 2}}], slate=2)
    assert set(first.ids) <= {item["id"] for item in ITEMS} and repr(second) == f"Decision(id={second.id}, ids={second.ids})"
    assert agent.select(items=[{"price": 1}, {"price": 2}], slate=1).ids is None
    assert agent.select(items=ITEMS, slate=2, exclude=[0, 2]).ids is not None


def test_policies_choose_by_name():
    agent = named_agent()
    policy = agent.policy()
    decision = policy.select(items=ITEMS, context={"hour": 4}, slate=2, draw=7)
    again = policy.select(items=ITEMS, context={"hour": 4}, slate=2, draw=7)
    assert decision.ids == again.ids and decision.id is None and policy.estimate(items=ITEMS).width.shape == (6,)
    agent.record(decision)
    agent.update(decision, {decision.ids[0]: 1})
    agent.learn(items=ITEMS, context={"hour": 1}, arms=[3, 0], scores=[1, 0])
    assert agent.counts["observations"] == 3


def test_the_schema_is_saved(tmp_path):
    agent = named_agent()
    agent.update(agent.select(items=ITEMS, slate=2), [1, 0])
    agent.save(tmp_path / "agent.npz")
    loaded = superarm.Agent.load(tmp_path / "agent.npz")
    assert loaded.schema == agent.schema == pickle.loads(pickle.dumps(agent)).schema
    assert loaded.select(items=ITEMS, slate=2).ids == agent.select(items=ITEMS, slate=2).ids
    assert superarm.Agent("random", dim=2).schema is None
    path = tmp_path / "schema.yaml"
    path.write_text("item: {price: log}")
    assert superarm.Agent("random", schema=path).dim == superarm.Agent("random", schema=str(path)).dim == 2


@pytest.mark.parametrize("given, sentence", [
    ({"items": [{"price": -1}]}, r"items\[0\].price is -1, and a number from 0 is wanted"),
    ({"items": ITEMS, "contexts": [[1]]}, "items with named fields go with context alone"),
    ({"items": ITEMS, "shared": [1]}, "items with named fields go with context alone"),
    ({"items": ITEMS, "exclude": ["p1", "zz"]}, "exclude: there is 'zz', and no item has this id"),
    ({"items": ITEMS, "exclude": [7]}, "exclude: there is arm 7"),
    ({"items": ITEMS, "slate": 7}, "slate of 7 out of 6 arms"),
    ({"context": {"hour": 1}}, "items: a NoneType was given"),
])
def test_requests_refused(given, sentence):
    with pytest.raises(superarm.InputError, match=sentence):
        named_agent().select(**given)


def test_agents_refuse():
    with pytest.raises(superarm.InputError, match="--dim 4 is not that of the schema, 14"):
        named_agent(dim=4)
    with pytest.raises(superarm.InputError, match="schema is a int"):
        superarm.Agent("random", schema=5)
    with pytest.raises(superarm.InputError, match="the agent has no schema to read them with"):
        superarm.Agent("random", dim=3).select(items=ITEMS, slate=1)
    agent = named_agent()
    decision = agent.select(items=ITEMS, slate=2)
    for scores, observed, sentence in (({"zz": 1}, None, "there is 'zz', which is not in the slate"), ({decision.ids[0]: 1}, [True, True], "observed:")):
        with pytest.raises(superarm.InputError, match=sentence):
            agent.update(decision, scores, observed)
    with pytest.raises(superarm.InputError, match="they are by id, and the decision's items have none"):
        agent.update(decision.id, {"p1": 1})


def test_the_example_is_short():
    """What a shop has to write down of its fields: ten lines at most."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "python", "named_fields.py")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    schema = text.split('SCHEMA = """\n')[1].split('"""')[0]
    assert len(schema.splitlines()) <= 10 and "np.hstack" not in text
    assert len([column for column in superarm.Schema(schema).columns if column.part != "cross"]) == 9
