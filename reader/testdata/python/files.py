"""The files of a state: which bytes are one, and what is wrong with others. See package document."""
import datetime, hashlib, json, os, re, stat

COUNT, NAME, NONCE = "(?:0|[1-9][0-9]{0,15})", "[a-z][a-z0-9_]{0,47}", "[0-9a-v]{13}"
class Number(str): "A JSON number, in the digits in which it stands."
class Bad(ValueError): "Says why, and if it is not invalid, the status."

def check(right, why, *status):
    if not right: raise Bad(why, *status)

def like(pattern, v): return type(v) is str and re.fullmatch(pattern, v, re.A) is not None

def members(pairs):
    check(len(dict(pairs)) == len(pairs), "a name stands there twice")
    return dict(pairs)

def depth(v): return 1 + max(map(depth, v.values() if type(v) is dict else v), default=0) if type(v) in (dict, list) else 0

def parse(data):
    v = json.loads(data.decode("utf-8"), object_pairs_hook=members, parse_int=Number, parse_float=Number, parse_constant=lambda c: check(False, c))
    json.dumps(v, ensure_ascii=False).encode("utf-8")  # fails for a lone surrogate
    check(depth(v) <= 64, "nested too deep")
    return v

def distinct(*objects):
    for o in objects:
        folded = {"".join(c.casefold() if len(c.casefold()) == 1 else c.lower() for c in name) for name in o}
        check(len(folded) == len(o) <= 4096, "names that differ in case alone, or too many")

def version(text, empty=False):
    if empty and text == "": return (0, 0), ""
    check(like(rf"{COUNT}\.{COUNT}\.{NONCE}", text), f"no version: {text}")
    epoch, revision, nonce = text.split(".")
    return (int(epoch), int(revision)), nonce

def moment(v):
    check(like(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{0,8}[1-9])?Z", v), f"no instant in UTC: {v}")
    datetime.datetime.fromisoformat(v[:19])

def entry(e):
    if "open" not in e or {"version", "at", "program", "pid"} & set(e):
        version(e["version"]), moment(e["at"])
        check(type(e["program"]) is str and re.fullmatch(COUNT, e["pid"]) and int(e["pid"]) < 1 << 31, "no provenance")
    for v in e.get("keys", {}).values(): version(v)
    for name, v in e.get("observed", {}).items(): check(like(NAME, name) and version(v, True), "no observation")
    for token, o in e.get("open", {}).items(): check(like(NONCE, token) and entry(o) is None, "no token")
    distinct(e)

def sealed(data, head, whose, at):
    "Checks what sidecars and claims have in common."
    check(head["format"] == "1" and type(head["format"]) is Number, "another format")
    check(like(NONCE, head["nonce"]) and type(head["writer"]["program"]) is str and type(head["writer"]["identity"]["nonce"]) is str, "no writer")
    check(re.fullmatch(COUNT, head["writer"]["identity"]["pid"]) and like("[0-9a-f]{64}", head["sum"]), "no pid or no sum")
    moment(head[at]), distinct(head, head["writer"], head["writer"]["identity"])
    check(all(type(head[name]) is str and head[name] for name in whose), "whose it is, is missing")
    check(hashlib.sha256(data.replace(head["sum"].encode(), b"0" * 64)).hexdigest() == head["sum"], "its sum is wrong", "foreign")
    check(all(head[name] == value for name, value in whose.items()), "it belongs elsewhere", "foreign")

def sidecar(data, owner, state):
    doc = parse(data)
    head = doc["$sidecar"]
    distinct(doc, head["fields"])
    for e in head["fields"].values(): entry(e)
    version(f"{head['epoch']}.{head['revision']}.{head['nonce']}")
    check(all(type(head[n]) is Number and int(head[n]) < 1 << 53 for n in ("epoch", "revision")) and like(NAME, head["owner"]), "no version or no owner")
    for name, most in ("recent", 256), ("folded", 8192): check(len(head.get(name, [])) <= most and all(like(NONCE, i) for i in head.get(name, [])), name)
    check(type(head["recent"]) is list, "recent")
    counts = [head.get("taken", Number(0))] + head.get("left", [])
    check(all(type(n) is Number and re.fullmatch(COUNT, n) and int(n) < 1 << 53 for n in counts) and len(counts) <= 8193, "taken or left")
    sealed(data, head, {"owner": owner, "state": state}, "written_at")
    return doc

def claim(data, owner, field, state):
    head = parse(data)
    sealed(data, head, {"owner": owner, "field": field, "state": state}, "at")
    return head

def patch(data, name, owner, state):
    check(data.endswith(b'"}\n') and data[-75:-67] == b',"sum":"' and hashlib.sha256(data[:-67] + b"0" * 64 + data[-3:]).hexdigest() == data[-67:-3].decode(), "its sum is wrong")
    p, number = parse(data), re.fullmatch(re.escape(state) + r"\.([1-9][0-9]{0,15})\.json", name)
    check(set(p) | {"name"} == {"format", "owner", "state", "name", "id", "at", "writer", "ops", "sum"} and p["format"] == "1", "a newer release's")
    number = int(number[1]) if number and int(number[1]) < 1 << 53 else 0
    check((p["owner"], p["state"], p.setdefault("name", name if number else None)) == (owner, state, name) and like(NONCE, p["id"]), "it belongs elsewhere")
    p["number"] = number
    for op in p["ops"]: check(set(op) <= {"field", "op", "key", "member", "at", "value", "seen"} and op["op"] in ("add", "raise", "lower", "insert", "remove", "delete"), "a newer release's")
    return p


def read(path, most=1 << 20):
    "Returns a status, and what the file has or why it cannot be read. It waits for no pipe and follows no link."
    try: fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError: return "missing", b""
    except OSError as e: return "unreadable", str(e).encode()
    try:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode) or info.st_nlink > 1: return "unreadable", b"it is no plain file with one name"
        data = open(fd, "rb", closefd=False).read(most + 1)
        return ("ok", data) if len(data) <= most else ("invalid", b"")
    finally: os.close(fd)

def judge(found, decode, *whose):
    "Returns the status of a file that was read, and what decode makes of it or why it cannot."
    if found[0] != "ok": return found
    try: return "ok", decode(found[1], *whose)
    except Bad as e: return (e.args + ("invalid",))[1], e.args[0]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as e: return "invalid", repr(e)
