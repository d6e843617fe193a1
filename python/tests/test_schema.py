"""Schemas: every kind against an encoder that is written out here, frames, and what is refused."""

import math
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
    elif word == "cyclic":
        angle = 2 * math.pi * (value or 0) / float(rest)
        out = np.zeros(2) if missing else np.array([math.cos(angle), math.sin(angle)])
    else:
        out = np.array([0 if missing else math.log1p(value) if word == "log" else float(value)])
    return out, float(missing)


def cross(name, left, right):
    products = np.outer(left, right).ravel()
    if len(products) <= 64:
        return products
    out = np.zeros(64)
    for index, product in enumerate(products):
        out += product * signed(name, str(index), 64)
    return out


def encode(schema, context, item):
    parts, row = {}, []
    for part, fields, values in (("context", schema["context"], context), ("item", schema["item"], item)):
        for name, kind in fields.items():
            parts[name], missing = encode_field(name, kind, values.get(name))
            row += [*parts[name], missing]
    for left, right in schema["cross"]:
        row += [*cross(f"{left} x {right}", parts[left], parts[right])]
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
