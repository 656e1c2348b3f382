#!/usr/bin/env python3
"""Prints the view of every state directory that is named, as JSON: freehold.py [--instance ID] STATE...

It needs the standard library alone and was written from reader/FORMAT.md. It takes no lock, writes nothing, and shows an atomic snapshot or none."""
import base64, copy, datetime, decimal, hashlib, json, math, os, re, stat, sys

COUNT, NAME, NONCE, TEXT, SOME = "(0|[1-9][0-9]{0,15})", "[a-z][a-z0-9_]{0,47}", "[0-9a-v]{13}", "(?s:.*)", "(?s:.+)"
VERSION = rf"{COUNT}\.{COUNT}\.{NONCE}"
UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
decimal.getcontext().prec = 200

class Number(str): "A JSON number, in the digits in which it stands."
class Bad(ValueError): "Says why, and if it is not invalid, the status."
class Gone(Bad): "The incarnation of a key that an operation means is no more."
CLASSES = {"bool": bool, "list": list, "record": dict, "int": Number, "uint": Number, "float": Number}

def check(right, *why):
    if not right: raise Bad(*why)

# The bytes of a file: sections 2 to 4.

def members(pairs):
    check(len(dict(pairs)) == len(pairs) <= 16384, "a name stands there twice, or too many do")
    return dict(pairs)

def depth(v):
    if type(v) not in (dict, list): return 0
    return 1 + max(map(depth, v.values() if type(v) is dict else v), default=0)

def parse(data):
    v = json.loads(data.decode(), object_pairs_hook=members, parse_int=Number, parse_float=Number,
                   parse_constant=lambda name: check(False, name))
    json.dumps(v, ensure_ascii=False).encode()  # fails for a lone surrogate
    check(depth(v) <= 64, "it is nested too deep")
    return v

def shaped(shape, v):
    "Checks v by a function, a pattern, the shape of a list's elements, or those of the members that an object has."
    if callable(shape): return shape(v)
    if type(shape) is str:
        counts = v.split(".")[:2] if VERSION in shape and v else []
        return check(type(v) is str and re.fullmatch(shape, v, re.A) and (not counts or int(counts[0]) <= 2**52 and int(counts[1]) < 2**53), f"{v} is not {shape}")
    check(type(v) is type(shape), f"{v} is of another type")
    if type(shape) is list: return [shaped(shape[0], e) for e in v]
    names = {*v, *(name.rstrip("?") for name in shape if name != "$sidecar")}  # those that might be there too
    check(len(set(map(folded_case, names))) == len(names) and len(v) <= 4096, "names that differ in case alone, or too many")
    for name in shape:
        if name[-1] != "?" or name[:-1] in v: shaped(shape[name], v[name.rstrip("?")])

def folded_case(name): return "".join(c.casefold() if len(c.casefold()) == 1 else c.lower() if len(c.lower()) == 1 else c for c in name)
def each(names, shape): return lambda v: [shaped(names, name) or shaped(shape, e) for name, e in v.items()]
def number(most): return lambda v: check(type(v) is Number and re.fullmatch("0|[1-9][0-9]{0,19}", v) and int(v) <= most, v)
def several(most, shape): return lambda v: shaped([shape], v) or check(len(v) <= most, "too many")

def moment(v):
    shaped(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{0,8}[1-9])?Z", v)
    datetime.datetime.fromisoformat(v[:19])

def release(v):
    check(type(v) is not Number or v == "1" or not re.fullmatch("[1-9][0-9]{0,38}", v), "a later format", "newer")
    check(type(v) is Number and v == "1", "another format")

def entry(e): shaped({"open": OPEN} if "open" in e and not WRITTEN.keys() & e.keys() else ENTRY, e)
def entries(v): shaped({}, v), each(TEXT, entry)(v)

EPOCH, COMMIT, PID, LONG, OPEN = number(2**52), number(2**53 - 1), number(2**31 - 1), number(2**64 - 1), each(NONCE, entry)
WRITTEN = {"version": VERSION, "at": moment, "program": TEXT, "pid": PID}
ENTRY = {**WRITTEN, "keys?": each(TEXT, VERSION), "observed?": each(NAME, VERSION + "|"), "open?": OPEN}
COMMON = {"format": release, "owner": SOME, "state": SOME,
          "writer": {"program": TEXT, "identity": {"pid": PID, "nonce": TEXT, "boot?": TEXT, **dict.fromkeys(("pid_ns?", "start?", "pidfd?"), LONG)}}, "sum": "[0-9a-f]{64}"}
CLAIM = {**COMMON, "field": SOME, "nonce": NONCE, "at": moment}
SIDECAR = {"$sidecar": {**COMMON, "owner": NAME, "epoch": EPOCH, "revision": COMMIT, "nonce": NONCE, "fields": entries,
                        "written_at": moment, "recent": several(256, NONCE), "folded?": several(8192, NONCE)}}
PATCH = {**COMMON, "id": NONCE, "at": moment, "ops": [{"field": NAME, "op": "add|raise|lower|insert"}]}
WRITER, PROCESS = {"program", "identity"}, {"boot", "pid_ns", "pid", "start", "nonce", "pidfd"}
OP = {"field", "op", "key", "member", "at", "value", "seen"}

def digest(data): return hashlib.sha256(data).hexdigest()

def decode(data, shape, **whose):
    doc = parse(data)
    shaped(shape, doc)
    head = doc.get("$sidecar", doc)
    once, zeroed = data.count(head["sum"].encode()) == 1, data.replace(head["sum"].encode(), b"0" * 64)
    check(once and digest(zeroed) == head["sum"], "its sum is wrong", "foreign")
    check(all(head[name] == value for name, value in whose.items()), "it belongs elsewhere", "foreign")
    if shape is PATCH:
        ours = re.fullmatch(rb'(?s).*,"sum":"\w{64}"}\n', data) and doc.keys() == PATCH.keys()
        ours = ours and doc["writer"].keys() <= WRITER and doc["writer"]["identity"].keys() <= PROCESS and depth(doc) <= 16
        check(ours and all(op.keys() <= OP for op in doc["ops"]), "a newer release's")
    return doc

def patch(data, name, owner, state):
    p = decode(data, PATCH, owner=owner, state=state)
    check(name == p["id"] + ".json", "it belongs elsewhere")
    return p

def judge(found, decode, *whose, **names):
    "Returns the status of a file that was read, and what decode makes of it or why it cannot."
    if found[0] != "ok": return found
    try: return "ok", decode(found[1], *whose, **names)
    except Bad as e: return (e.args + ("invalid",))[1], e.args[0]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, ArithmeticError) as e: return "invalid", repr(e)

# Values, and patches: sections 6 and 7.

def order(f, v):
    "Returns v, a value of the field f, as something that sorts. It is Bad if it is none."
    kind = f.get("type")
    if f.get("kind") == "set": return check(type(v) is list and len(v) <= 16384, "no set") or [order({**f, "kind": "value"}, e) for e in v]
    if kind == "json": return check(depth(v) <= 48, "nested too deep") or v
    check(type(v) is CLASSES.get(kind, str), f"no {kind}")
    if kind == "bool": return v
    if kind in ("int", "uint"):
        least = -(1 << 63) if kind == "int" else 0
        check(re.fullmatch(r"0|-?[1-9][0-9]*", v) and least <= int(v) < least + (1 << 64), f"no {kind}")
        return int(v)
    if kind == "float": return check(math.isfinite(float(v)), "no double") or float(v)
    if kind == "decimal":
        check(re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", v, re.A) and len(v) <= 160, "no decimal")
        sign, digits, exponent = decimal.Decimal(v).as_tuple()
        check(abs(exponent) <= 40 and exponent + len(digits) * any(digits) <= 40, "too many digits")
        return decimal.Decimal(v)
    if kind == "time":
        at = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:[0-5]\d)", v, re.A)
        check(at, "no instant")
        day = datetime.datetime.fromisoformat(at[1] + at[3].replace("Z", "+00:00")).astimezone(datetime.timezone.utc)
        fraction = (at[2] or "").ljust(9, "0")
        return check(int(fraction) or day.replace(tzinfo=None) > datetime.datetime.min, "no instant") or (day, fraction)
    if kind == "duration":
        check(re.fullmatch(r"[+-]?(0|((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)", v, re.A) and len(v.encode()) <= 64, "no duration")
        n = sum(int(decimal.Decimal(n) * UNITS[unit]) for n, unit in re.findall(r"([\d.]+)([a-zµμ]+)", v))
        n = -n if v[0] == "-" else n
        return check(-(1 << 63) <= n < 1 << 63, "too long") or n
    if kind == "list": return check(len(v) <= 16384, "too long") or [order(f["of"], e) for e in v]
    if kind == "record": return [order(f["fields"][name], e) for name, e in v.items() if name in f.get("fields", {})]
    return check(v in f["values"] if kind == "enum" else len(v.encode()) <= 1 << 16, f"no {kind}") or v

def fits(f, v):
    try: return [order(f, v)]
    except (ValueError, ArithmeticError): return []

def duration(n):
    "Writes nanoseconds as Go does."
    size, (hours, rest) = abs(n), divmod(abs(n), UNITS["h"])
    unit = next((u for u in ("ns", "µs", "ms") if 0 < size < 1000 * UNITS[u]), "s")
    minutes, rest = divmod(rest, UNITS["m"])
    whole = "-" * (n < 0) + f"{hours}h" * (hours > 0) + f"{minutes}m" * (size >= UNITS["m"])
    return f"{whole}{decimal.Decimal(rest) / UNITS[unit]:f}{unit}"

def combined(f, old, op):
    "Returns what a counter, max or min that is old is after op."
    verb, v, n = op["op"], op["value"], order(f, op["value"])
    check({"add": "counter", "raise": "max", "lower": "min"}[verb] == f.get("kind"), f"{verb} is not for it")
    if verb != "add": return v if old is None or (n > order(f, old) if verb == "raise" else n < order(f, old)) else old
    n += 0 if old is None else order(f, old)
    v = f"{n.normalize():f}" if f["type"] == "decimal" else duration(n) if f["type"] == "duration" else Number(n)
    return check(fits(f, v), "it is too much") or v

def version(text): return (tuple(map(int, text.split(".")[:2])), text[-13:]) if text else ((0, 0), "")

def carry_out(op, f, decides, doc, by):
    "Carries out one operation of a pending patch."
    name, verb, key, fields = op["field"], op["op"], op.get("key", ""), doc["$sidecar"]["fields"]
    e, old = fields.get(name, {}), doc.get(name)
    born, seen = dict(e.get("keys", {})), e.get("observed")
    if f.get("kind") == "set":
        check(verb == "insert", verb)
        new = [v for v in old or [] if v != op["value"]] + [op["value"]]
        new.sort(key=lambda v: order({**f, "kind": "value"}, v))
        if new == (old or []): return
    elif f.get("kind") == "map":
        new, at, have = dict(old or {}), op.get("at", ""), born.get(key, "")
        means = key in new and (at == have or at.startswith("0.0.") and at[4:] == have[-13:])
        newer = at if decides else key in new and version(have)[0] > version(at)[0]
        if newer and not means: raise Gone(key)
        if not decides and not means: new.pop(key, None), born.update({key: at})
        row, member = new.get(key, {}), op.get("member")
        if verb == "insert" and not member:
            check(decides, "not the owner of the keys")
            new.setdefault(key, {})
        elif "value" in f: new[key] = combined(f["value"], new.get(key), op)
        else: new[key] = {**row, member: combined(f["record"][member], row.get(member), op)}
        if new == (old or {}): return
        if decides and key not in (old or {}): born[key] = by["version"]
        e = {**e, "keys": {k: v for k, v in born.items() if k in new}}
    else:
        new = combined(f, old, op)
        if verb == "add" or new != old: seen = None
        if "seen" in op and (verb == "add" or new == op["value"]):
            seen = dict(s.split("=") for s in op["seen"].split(":")[1].split(","))
        if new == old and seen == e.get("observed"): return
    doc[name], fields[name] = new, {**e, **by, "observed": seen or {}}

# What a state is: package reader.

def read(path, most=1 << 20):
    "Returns a status, and what the file has or why it cannot be read. It waits for no pipe and follows no link."
    try: fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError: return "missing", b""
    except OSError as e: return "unreadable", str(e).encode()
    try:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode) or info.st_nlink > 1: return "unreadable", b"no plain file with one name"
        data = open(fd, "rb", closefd=False).read(most + 1)
        return ("ok", data) if len(data) <= most else ("invalid", b"")
    finally: os.close(fd)

def listed(path):
    "Returns the pending patches, by name, or None if they cannot be had."
    try: return {name: read(os.path.join(path, name), 64 << 10) for name in sorted(os.listdir(path)) if name[0] != "."}
    except OSError: return None

def locked(manifest, meta, owner):
    "Returns what the owner's lock file has, or nothing if it is not the one of the manifest."
    path = os.path.join(meta, owner + ".lock")
    try: return read(path)[1] if os.lstat(path).st_ino == int(manifest["locks"][owner + ".lock"]) else b""
    except OSError: return b""

def told(lock, at, size, form):
    "Returns the parts of a line of a lock file, or None for one that is blank or torn."
    line = lock[at:at + size]
    whole = re.fullmatch(form + rb',"sum":"([0-9a-f]{64})"} *\n', line)
    if len(line) == size and whole and digest(line[:-1].replace(whole.groups()[-1], b"0" * 64)) == whole.groups()[-1].decode():
        return [part.decode() for part in whole.groups()]

def defers(owner): return owner.get("busy", {}).get("then") == "defer"

def collect(state):
    "Reads every file of a state: of each owner the sidecar and pending patches, and the claims."
    meta, files = os.path.join(state, ".freehold"), {}
    manifest = parse(read(os.path.join(meta, "manifest.json"))[1])
    for owner, o in sorted(manifest["declaration"]["owners"].items()):
        pending = manifest.get("pending", {"sidecars": []})
        if defers(o): files[owner, "$pending"] = listed(os.path.join(meta, owner + ".pending"))
        files[owner, "$lock"] = locked(manifest, meta, owner)  # before the sidecar and the claims
        files[owner] = ("missing", b"")
        if owner in pending.get("sidecars", []):
            files[owner] = read(os.path.join(meta, "upgrade-" + pending["id"], owner + ".json"))
        if files[owner][0] == "missing": files[owner] = read(os.path.join(state, owner + ".json"))
        for field in sorted(field for field, f in o["fields"].items() if f.get("kind") == "once"):
            home = os.path.join(meta, "claims", owner)
            kept = os.path.isdir(home) and os.lstat(home).st_ino == int(manifest["claims"][owner])
            files[owner, field] = read(os.path.join(home, field), 8 << 10) if kept else ("unreadable", b"it is not the directory of before")
    return manifest, files

BOOT = read("/proc/sys/kernel/random/boot_id", 64)[1].strip()
NOTHING = {"$sidecar": {"fields": {}}}

def behind(o, seen):
    "Marks an owner that is older than a version that was seen of it, or gone."
    at, nonce = version(seen)
    if at == (0, 0) or o.get("status") not in ("ok", "missing"): return
    (have, mine), recent = version(o["at"]), o["doc"]["$sidecar"]["recent"] if o["at"] else []
    if have[0] != at[0]: older = at[0] > have[0]
    elif at[1] >= have[1]: older = (at, nonce) != (have, mine)
    else: older = have[1] - at[1] < min(128, len(recent)) and nonce not in recent
    if older: o.update(status="regressed", doc=None)

class View:
    def __init__(self, state, manifest, files):
        self.dir, self.id, self.name = state, manifest["state_id"], manifest["declaration"]["state"]
        self.owners, self.fields = dict(sorted(manifest["declaration"]["owners"].items())), {}
        for owner, o in self.owners.items():
            for field, f in o["fields"].items():  # the owner of the keys first
                whose = self.fields.setdefault(field, [])
                whose.insert(0 if f.get("keys") else len(whose), owner)
        self.by = {owner: self.found(owner, files[owner], files.get((owner, "$pending"), {})) for owner in self.owners}
        self.claims = {at: judge(files[at], decode, CLAIM, owner=at[0], field=at[1], state=self.id)
                       for at in files if type(at) is tuple and at[1][0] != "$"}
        for owner in self.owners: self.witnessed(owner, files[owner, "$lock"], manifest.get("slots", {}).get(owner, []))
        for owner, made in manifest.get("upgraded", {}).items(): behind(self.by.get(owner, {}), made)
        for by in self.by.values(): self.regress(by)
        self.snapshot = digest((self.id + "".join(self.marks(files))).encode())[:32]

    def marks(self, files):
        "Yields a line about everything that is there."
        for owner, o in self.by.items():
            if o["status"] != "missing": yield self.mark(owner, o["status"], o["at"], files[owner])
            if o["pending"] and o["status"] != "regressed": yield " ".join([f"\n{owner} pending"] + o["ids"])
        for at, (status, c) in self.claims.items():
            if status != "missing": yield self.mark("/".join(at), status, c["nonce"] if status == "ok" else digest(files[at][1]), files[at])

    def mark(self, name, status, at, file):
        return f"\n{name} {status} " + {"ok": at, "regressed": at, "unreadable": ""}.get(status, digest(file[1]))

    def found(self, owner, file, pile):
        "Judges an owner's sidecar and lays pending patches over it."
        status, doc = judge(file, decode, SIDECAR, owner=owner, state=self.id)
        o = {"status": status, "at": "", "saw": [], "doc": None, "pending": 0, "errors": [], "ids": []}
        head = NOTHING["$sidecar"]
        if status == "ok":
            head = doc["$sidecar"]
            saw = [pair for e in head["fields"].values() for pair in e.get("observed", {}).items()]
            o.update(doc=doc, at="{epoch}.{revision}.{nonce}".format(**head), saw=saw)
        if pile is None: o.update(status="unreadable", doc=None, at="")
        if not pile: return o
        judged = {name: judge(file, patch, name, owner, self.id) for name, file in pile.items() if file[0] != "missing"}
        odd = [name for name, (fit, _) in judged.items() if fit != "ok"]
        o.update(pending=len(judged), errors=odd[:], ids=odd)
        if status in ("ok", "missing"):
            counts = [p for fit, p in judged.values() if fit == "ok" and p["id"] not in head.get("folded", [])]
            for p in counts: o["doc"] = self.take_in(owner, o["doc"] or NOTHING, p, o["errors"])
            o.update(pending=len(counts) + len(odd), ids=[p["id"] for p in counts] + odd)
        return o

    def witnessed(self, owner, lock, slots):
        "Marks a sidecar that is behind what the lock file tells, and claims that are gone or others."
        line = told(lock, 512, 512, rb'{"published":"([^"]*)","durable":"([^"]*)","boot":"([^"]*)"')
        if line: behind(self.by[owner], line[0] if line[2] and line[2].encode() == BOOT else line[1])
        for i, field in enumerate(slots):
            line, (status, claim) = told(lock, 1024 + 128 * i, 128, rb'{"claim":"([0-9a-v]{13})"'), self.claims.get((owner, field), ("none", None))
            if line and (status == "missing" or status == "ok" and claim["nonce"] != line[0]): self.claims[owner, field] = "regressed", None

    def take_in(self, owner, doc, p, errors):
        "Returns the document with a patch in it. A patch that is rejected is among the errors."
        trial, fields = copy.deepcopy(doc), self.owners[owner]["fields"]
        writer = {"version": "0.0." + p["id"], **by(p, "at")}
        try:
            for op in p["ops"]:
                try: carry_out(op, fields[op["field"]], self.fields[op["field"]][0] == owner, trial, writer)
                except Gone: pass  # it came before the deletion of the key
            return trial
        except (ValueError, LookupError, TypeError) as e: errors.append(f"{p['id']}: {e}")
        return doc

    def regress(self, by):
        "Marks the owners that are older than what by has observed of them, or gone."
        for field, seen in by["saw"]:
            o = self.by[self.fields[field][0]] if field in self.fields else by
            if o is not by: behind(o, seen)

    def entry(self, owner, field): return (self.by[owner]["doc"] or NOTHING)["$sidecar"]["fields"].get(field, {})

    def value(self, field):
        "Returns the value in a list, or an empty one, and which owners' part of it is invalid."
        owner = self.fields[field][0]
        f, o = self.owners[owner]["fields"][field], self.by[owner]
        if f.get("kind") == "once":
            status, claim = self.claims[owner, field]
            return [claim["at"]] if status == "ok" else [], set()
        if not o["doc"] or field not in o["doc"]: return [], {owner} if o["status"] == "invalid" else set()
        v, bad = o["doc"][field], set()
        if f.get("kind") != "map": return ([v], bad) if fits(f, v) else ([], {owner})
        return ([self.joined(owner, field, bad)], bad) if type(v) is dict else ([], {owner})

    def joined(self, owner, field, bad):
        "Returns the rows of a map with the members that all its owners have."
        spec = {o: self.owners[o]["fields"][field] for o in self.fields[field]}
        if "value" in spec[owner]:
            rows = {key: v for key, v in self.by[owner]["doc"][field].items() if fits(spec[owner]["value"], v)}
            if len(rows) < len(self.by[owner]["doc"][field]): bad.add(owner)
            return rows
        rows, born = {}, self.entry(owner, field).get("keys", {})
        whose = {name: o for o in spec for name in spec[o].get("record", {})}
        for o in spec:
            part, at = (self.by[o]["doc"] or {}).get(field, {}), self.entry(o, field).get("keys", {})
            if self.by[o]["status"] == "invalid" or type(part) is not dict: bad.add(o)
            for key, row in part.items() if type(part) is dict else ():
                if o == owner: rows[key] = {}
                if key not in rows or at.get(key) != born.get(key): continue
                if type(row) is not dict: bad.add(o)
                for name, v in row.items() if type(row) is dict else ():
                    if whose.get(name, o) != o: continue
                    if name in whose and not fits(spec[o]["record"][name], v): bad.add(o)
                    else: rows[key].setdefault(name, v)
        return rows

    def freshness(self, field):
        "Returns a verdict and its reason."
        owner = self.fields[field][0]
        f, o = self.owners[owner]["fields"][field], self.by[owner]
        if o["status"] not in ("ok", "missing"): return "unknown", "unreadable"
        if not o["doc"] or field not in o["doc"]: return "unknown", "unset"
        observed = self.entry(owner, field).get("observed", {})
        each = [("fresh", "current")] + [self.against(of, observed.get(of)) for of in f["depends_on"]]
        verdict = max(each, key=lambda r: ["fresh", "unknown", "ambiguous", "stale"].index(r[0]))
        return ("unknown", "unreadable") if o["errors"] and verdict[0] == "fresh" else verdict

    def against(self, of, seen):
        owner = self.fields[of][0]
        if self.by[owner]["status"] not in ("ok", "missing"): return "unknown", "dependency-unreadable"
        e = self.entry(owner, of)
        have, known = version(e.get("version", "")), version(seen)
        if seen is not None and (have[0] > known[0] or have[0] == (0, 0) and have[1]): return "stale", "overtaken"
        if e.get("open"): return "ambiguous", "begun"
        if self.by[owner]["errors"]: return "unknown", "dependency-unreadable"
        if seen is None: return "unknown", "not-observed"
        if have == known: return "fresh", "current"
        return "unknown", "dependency-behind" if known[0] > have[0] else "dependency-forked"

    def provenance(self, owner, field, bad):
        f, e, p = self.owners[owner]["fields"][field], self.entry(owner, field), {"owner": owner}
        if f.get("kind") == "once":
            status, c = self.claims[owner, field]
            p.update(file=os.path.join(self.dir, ".freehold", "claims", owner, field), status=status)
            if status == "ok": p.update(claim=c["nonce"], **by(c, "changed_at"))
        else:
            status = "invalid" if owner in bad else self.by[owner]["status"]
            p.update(file=os.path.join(self.dir, owner + ".json"), status=status)
        if "version" in e:
            p.update(**commit(e["version"]), **by(e, "changed_at"))
            if e["version"].startswith("0.0."): p["pending_patch"] = e["version"][4:]
        if e.get("open"):
            p["open"] = [{"token": f"{self.id}:{field}:{token}", **commit(o["version"]), **by(o, "begun_at")}
                         for token, o in e["open"].items()]
        if f.get("depends_on"):
            p["freshness"], p["reason"] = self.freshness(field)
            if e.get("observed"): p["observed"] = e["observed"]
        return p

    def show(self):
        fields, provenance, owners = {}, {}, {}
        for field, (first, *others) in self.fields.items():
            value, bad = self.value(field)
            if value: fields[field] = value[0]
            provenance[field] = self.provenance(first, field, bad)
            if others: provenance[field]["parts"] = {o: self.provenance(o, field, bad) for o in others}
        for name, o in self.by.items():
            owners[name] = {"status": o["status"], **(commit(o["at"]) if o["at"] else {})}
            if o["status"] in ("ok", "missing", "regressed"): owners[name]["version"] = o["at"]
            if o["status"] not in ("ok", "missing"): owners[name]["error"] = o["status"]
            if defers(self.owners[name]): owners[name]["pending"] = Number(o["pending"])
            if o["errors"]: owners[name]["pending_error"] = "; ".join(o["errors"])
        return {"state": self.name, "dir": self.dir, "snapshot": {"consistency": "atomic", "id": self.snapshot},
                "fields": fields, "provenance": provenance, "owners": owners}

def by(e, at):
    "Who wrote e and when, which stands in it or under writer."
    writer = e.get("writer", e)
    return {at: e["at"], "program": writer["program"], "pid": writer.get("identity", writer)["pid"]}

def commit(text): return dict(zip(("epoch", "revision"), map(Number, text.split("."))))

def text(v):
    "JSON with the digits that it came with."
    if type(v) is dict: return "{" + ",".join(json.dumps(name) + ":" + text(e) for name, e in v.items()) + "}"
    return "[" + ",".join(map(text, v)) + "]" if type(v) is list else str(v) if type(v) is Number else json.dumps(v)

def instance(id):
    "The directory of an instance, by its id."
    if re.fullmatch("[a-z0-9][a-z0-9_-]{0,63}", id): return id
    return "~" + base64.b32encode(hashlib.sha256(id.encode()).digest()).decode().lower().rstrip("=")

def view(state):
    for _ in range(8):
        before, after = collect(state), collect(state)
        if before == after: return View(state, *after).show()
    raise SystemExit(f"{state}: its writers are too fast; try again")

if __name__ == "__main__":
    states = sys.argv[1:]
    if states[0] == "--instance": states = [os.path.join(state, instance(states[1])) for state in states[2:]]
    for state in states:
        try: print(text(view(state)), flush=True)
        except (OSError, ValueError, LookupError) as e: sys.exit(f"{state}: no state to read: {e}")
