"""The JSON reader against Python's own: what is taken, what it says, and the hash by which retries are told."""

import hashlib
import json
import math
import random
import struct

from superarm._native import ffi, lib, text

NESTED = 64
SA_OK = 0


class Parsed:
    def __init__(self, document):
        self.bytes = document if isinstance(document, bytes) else document.encode("utf-8", "surrogatepass")
        self.kept = ffi.from_buffer(self.bytes)
        self.json = ffi.gc(ffi.new("sa_json *"), lib.sa_json_clear)
        self.good = lib.sa_json_parse(self.json, self.kept, len(self.bytes)) == SA_OK
        self.unique = self.good and lib.sa_json_check_keys(self.json) == SA_OK
        self.sentence = "" if self.unique else text(lib.sa_last_error())

    def value(self, at=0):
        """The value of a node, read with the reader's own functions."""
        node = self.json.nodes[at]
        if node.kind <= lib.SA_JSON_TRUE:
            return (None, False, True)[node.kind]
        if node.kind == lib.SA_JSON_NUMBER:
            return lib.sa_json_number(self.json, at)
        if node.kind == lib.SA_JSON_STRING:
            plain = ffi.new("char[]", node.size + 1)
            return ffi.buffer(plain, lib.sa_json_unescape(self.json, at, plain))[:].decode()
        found, is_object = [], node.kind == lib.SA_JSON_OBJECT
        child = at + 1
        while child < node.next:
            found.append((self.value(child), self.value(child + 1)) if is_object else self.value(child))
            child = self.json.nodes[child + is_object].next
        assert len(found) == lib.sa_json_count(self.json, at)
        return dict(found) if is_object else found

    def digest(self):
        out = ffi.new("uint8_t[32]")
        assert lib.sa_json_digest(self.json, out) == SA_OK
        return bytes(out)


def canonical(value):
    """The bytes that are hashed, written a second time."""
    if value is None or value is True or value is False:
        return {None: b"z", True: b"t", False: b"f"}[value]
    if isinstance(value, (int, float)):
        return b"n" + struct.pack("<d", float(value) + 0.0)
    if isinstance(value, str):
        return b"s" + struct.pack("<Q", len(value.encode())) + value.encode()
    if isinstance(value, list):
        return b"a" + struct.pack("<Q", len(value)) + b"".join(map(canonical, value))
    pairs = sorted((key.encode(), each) for key, each in value.items())
    return b"o" + struct.pack("<Q", len(pairs)) + b"".join(b"k" + struct.pack("<Q", len(key)) + key + canonical(each) for key, each in pairs)


class Refused(ValueError):
    pass


def python_reads(document):
    """Python's value, or Refused: with what RFC 8259 leaves open decided as our reader does."""

    def pairs(found):
        if len(dict(found)) < len(found):
            raise Refused("a key twice")
        return dict(found)

    def no_constant(word):
        raise Refused(word)

    def check(value, depth):
        if isinstance(value, str) and ("\0" in value or any(0xD800 <= ord(c) < 0xE000 for c in value)):
            raise Refused("a character that is none")
        if isinstance(value, (list, dict)):
            if depth == NESTED:
                raise Refused("deep")
            for each in value if isinstance(value, list) else [*value.keys(), *value.values()]:
                check(each, depth + 1)

    try:
        value = json.loads(document.decode("utf-8"), object_pairs_hook=pairs, parse_constant=no_constant, parse_int=float)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise Refused(str(error)) from None
    check(value, 0)
    return value


def same(one, other):
    if isinstance(one, float) and isinstance(other, float):
        return struct.pack("<d", one) == struct.pack("<d", other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    return type(one) is type(other) and one == other


def compare(document):
    parsed = Parsed(document)
    try:
        wanted = python_reads(document)
    except Refused as refused:
        assert not parsed.unique and parsed.sentence, (document[:200], refused)
        return False
    assert parsed.unique, (document[:200], parsed.sentence)
    assert same(parsed.value(), wanted), document[:200]
    assert parsed.digest() == hashlib.sha256(canonical(wanted)).digest(), document[:200]
    return True


CHARACTERS = ["a", "é", "世", "😀", '"', "\\", "/", "\n", "\x1f", "\x7f", "\u2028", "id", " "]


def random_text(draw):
    return "".join(draw.choice(CHARACTERS) for _ in range(draw.randrange(6)))


def random_number(draw):
    kind = draw.randrange(5)
    if kind == 0:
        return draw.randrange(-1000, 1000)
    if kind == 1:
        return draw.random() * 10.0 ** draw.randrange(-30, 30)
    if kind == 2:
        return struct.unpack("<d", struct.pack("<Q", draw.getrandbits(62)))[0]  # finite, of any size
    if kind == 3:
        return draw.getrandbits(70)
    return round(draw.random() * 100, 2)


def random_value(draw, depth):
    kind = draw.randrange(7 if depth else 5)
    if kind < 3:
        return (None, draw.random() < 0.5, random_text(draw))[kind]
    if kind < 5:
        return random_number(draw)
    size = draw.choice([0, 1, 2, 3, 5, 20])
    if kind == 5:
        return [random_value(draw, depth - 1) for _ in range(size)]
    return {random_text(draw) + str(i if draw.random() < 0.7 else ""): random_value(draw, depth - 1) for i in range(size)}


def shuffled(value, draw):
    if isinstance(value, list):
        return [shuffled(each, draw) for each in value]
    if isinstance(value, dict):
        keys = draw.sample(list(value), len(value))
        return {key: shuffled(value[key], draw) for key in keys}
    return value


def test_random_documents():
    """Values, and a digest that is the same however the document is written."""
    draw = random.Random(1)
    for _ in range(1500):
        value = random_value(draw, 4)
        document = json.dumps(value, ensure_ascii=draw.random() < 0.5, indent=draw.choice([None, 1])).encode()
        assert compare(document)
        again = json.dumps(shuffled(value, draw), ensure_ascii=draw.random() < 0.5, separators=(" , ", "\t:\r\n")).encode()
        assert Parsed(again).digest() == Parsed(document).digest()


def test_lists_of_alike_objects():
    """Whose order of keys is remembered from one to the next: each is still its own."""
    draw = random.Random(2)
    keys = ["id", "price", "brand", "b", "brands", "é"]
    for _ in range(300):
        items = []
        for _ in range(12):
            some = keys if draw.random() < 0.7 else draw.sample(keys, draw.randrange(len(keys)))
            items.append({key: draw.randrange(9) for key in some})
            if draw.random() < 0.2:
                items[-1]["more"] = {key: 1 for key in draw.sample(keys, 3)}
        assert compare(json.dumps({"items": items}, ensure_ascii=draw.random() < 0.5).encode())


def test_many_keys():
    draw = random.Random(3)
    for count in (13, 64, 65, 1000):
        keys = [f"k{i}" for i in range(count)]
        draw.shuffle(keys)
        assert compare(json.dumps({key: i for i, key in enumerate(keys)}).encode())
        assert not compare(("{" + ",".join(f'"{key}":1' for key in [*keys, keys[count // 2]]) + "}").encode())


def test_changed_documents():
    """One byte of a good document is another, or is missing, or is there twice: both readers say yes, or both no."""
    draw = random.Random(4)
    seeds = [b'{"a": [1, -2.5e3, true, null], "b\\n": {"c": "\\u00e9\\ud83d\\ude00"}}', '[0.1, "é😀", {"x": []}, false]'.encode(), b'{"k": 1E+2, "l": -0}']
    taken = 0
    for _ in range(20000):
        document = bytearray(draw.choice(seeds))
        for _ in range(draw.randrange(1, 3)):
            at = draw.randrange(len(document))
            change = draw.randrange(3)
            if change == 0:
                document[at] = draw.choice(b'"\\{}[],:0123456789eE+-.u dtrfn\x00\x1f\xc3\xa9\xed\xf4')
            elif change == 1:
                del document[at]
            else:
                document.insert(at, document[at])
        taken += compare(bytes(document))
    assert 1000 < taken < 19000  # both kinds were seen


def test_hostile_documents():
    deep = lambda depth: b"[" * depth + b"]" * depth  # noqa: E731
    for document, good in [
        (deep(NESTED), True), (deep(NESTED + 1), False), (b'{"a":' * 100000, False), (b"[" * 1000000, False),
        (b'"\\ud800"', False), (b'"\\ud800\\u0041"', False), (b'"\\udc00\\ud800"', False), (b'"\\ud83d\\ude00"', True),
        (b'"\\u0000"', False), (b'"\0"', False), (b'"\xed\xa0\x80"', False), (b'"\xc0\x80"', False), (b'"\xf4\x90\x80\x80"', False), (b'"\xe2\x28\xa1"', False),
        (b'{"a": 1, "\\u0061": 2}', False), (b'{"a": 1, "b": {"a": 2}}', True),
        (b"NaN", False), (b"-Infinity", False), (b"1e999", True), (b"1e-999", True), (b"01", False), (b"-", False), (b".5", False), (b"1.", False),
        (b"", False), (b" ", False), (b"1 2", False), (b"\xef\xbb\xbf1", False),
    ]:
        assert compare(document) == good, document[:60]


def test_numbers():
    """Right to the last bit, as Python's float, whatever their digits."""
    draw = random.Random(5)
    texts = ["0", "-0", "9007199254740993", "1e22", "1e23", "8.41e21", "9007199254740992.5", "2.2250738585072011e-308", "5e-324", "2e-324", "1.7976931348623159e308",
             "0." + "3" * 1500, "1" + "0" * 400, "1" + "0" * 300 + ".5", "123456789012345678901234567890e-20"]
    for _ in range(20000):
        digits = "".join(draw.choice("0123456789") for _ in range(draw.randrange(1, 25))).lstrip("0") or "0"
        fraction = "." + "".join(draw.choice("0123456789") for _ in range(draw.randrange(1, 20))) if draw.random() < 0.6 else ""
        power = draw.choice(["", f"e{draw.randrange(-330, 310)}", f"E+{draw.randrange(30)}"])
        texts.append(draw.choice(["", "-"]) + digits + fraction + power)
    for number in texts:
        got = Parsed(number).value()
        assert struct.pack("<d", got) == struct.pack("<d", float(number)), (number, got)
        assert math.isfinite(got) or abs(float(number)) == math.inf


def test_writing():
    """What is written, Python reads as it was meant; bytes that are no UTF-8 become U+FFFD."""
    draw = random.Random(6)
    buffer = ffi.gc(ffi.new("sa_buffer *"), lib.sa_buffer_clear)

    def written(write, *given):
        buffer.size = 0
        write(buffer, *given)
        assert buffer.status == SA_OK
        return json.loads(ffi.string(buffer.text).decode())

    for _ in range(3000):
        plain = random_text(draw).replace("\0", "")
        assert written(lib.sa_buffer_quote, plain.encode()) == plain
        number = random_number(draw)
        assert written(lib.sa_buffer_number, float(number), 0) == float(number)
    assert written(lib.sa_buffer_quote, b"a\xff\xe4b") == "a\ufffd\ufffdb"
    assert written(lib.sa_buffer_number, math.nan, 0) is None
