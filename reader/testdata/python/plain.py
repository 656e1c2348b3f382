"""Prints the plain view of every state directory that is named: plain.py STATE... Or paste it and call view(directory).
Plain readers, files and values are defined in reader/FORMAT.md of Freehold."""
import datetime, hashlib, json, os, pathlib, re, stat, sys

# Patterns of JSON: what Freehold writes, but for extremes, and nothing that a full reader would not take.
COUNT, TIME = "0|[1-9][0-9]{0,14}|[1-8][0-9]{15}", r'"(?!0001-)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{0,8}[1-9])?Z"'
CLAIM = {"format": "1", "nonce": '"[0-9a-v]{13}"', "sum": '"[0-9a-f]{64}"', "at": TIME}
SIDECAR = {**CLAIM, "at": "null", "written_at": TIME, "epoch": COUNT, "revision": COUNT}
VALUES = {"int": r"0|-?([1-9]\d{0,17}|[1-8]\d{18})", "uint": r"0|[1-9]\d{0,18}|1[0-7]\d{18}", "string": '".{0,16384}"',
          "float": r"-?\d{1,21}(\.\d+)?(e[+-]\d+)?", "decimal": r'"-?(0|[1-9]\d{0,39})(\.\d{1,40})?"', "time": TIME,
          "duration": r'"-?(\d{1,6}h)?(\d{1,6}m)?\d{1,6}(\.\d{1,9})?(ns|µs|ms|s)"', "bool": "true|false", "json": ".*"}
NEW, USABLE, LIVE = {"fields": {}, "recent": []}, ("ok", "missing"), ("ok", "missing", "deferring")

def check(right): return right or int("no")  # which raises ValueError

def distinct(pairs): return check(len(dict(pairs)) == len(pairs)) and dict(pairs)

def integer(digits): return -0.0 if digits == "-0" else int(digits)  # no integer is written as -0

def depth(v): return type(v) in (dict, list) and 1 + max(map(depth, v.values() if type(v) is dict else v), default=0)

def like(pattern, v):  # it fails for half a character, for infinity, and for a day that is none
    text = json.dumps(v, ensure_ascii=False, allow_nan=False).encode().decode()
    return re.fullmatch(pattern, text, re.A) and (pattern is not TIME or datetime.datetime.fromisoformat(v[:19]))

def holds(f, v):  # whether v is a value of the field f
    if f.get("kind") == "set": f = {"type": "list", "of": {**f, "kind": "value"}}
    if f["type"] == "list": return type(v) is list and len(v) <= 16384 and all(holds(f["of"], e) for e in v)
    if f["type"] == "record": return like("{.*", v) and all(holds(f["fields"][n], v[n]) for n in v if n in f["fields"])
    return v in f["values"] if f["type"] == "enum" else like(VALUES[f["type"]], v) and depth(v) <= 48

def load(path, form, whose):  # returns the status of a file and, if it is ok, the object in it
    try:
        if not stat.S_ISREG(path.lstat().st_mode) or path.lstat().st_nlink > 1: return "unreadable", {}
        data = path.read_bytes()
        doc = json.loads(data.decode(), object_pairs_hook=distinct, parse_int=integer, parse_constant=int)
        head = doc["$sidecar"] if form is SIDECAR else doc
        check(json.dumps(doc, ensure_ascii=False).encode() and depth(doc) <= 64 and len(data) <= 1 << 20)
        check(all(re.fullmatch("[$]?[a-z][a-z0-9_]*", name) for name in doc))  # so that no two differ in case alone
        if like("[2-9]|[1-9][0-9]{1,38}", head.get("format")): return "newer", {}
        check(all(like(form[name], head.get(name)) for name in form))
        before, after = data.split(head["sum"].encode())
        ours = hashlib.sha256(before + b"0" * 64 + after).hexdigest() == head["sum"] and whose.items() <= head.items()
        return ("ok", doc) if ours else ("foreign", {})
    except OSError as e: return "missing" if type(e) is FileNotFoundError else "unreadable", {}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError): return "invalid", {}

def told(lock, at, size, form):  # the parts of a line of a lock file; none if it is blank or torn
    line, whole = lock[at:at + size], re.fullmatch(form + rb',"sum":"(\w{64})"} *\n', lock[at:at + size], re.S)
    parts = [part.decode() for part in whole.groups()] if whole else ["0"]
    sum = parts.pop()
    return parts if hashlib.sha256(line[:-1].replace(sum.encode(), b"0" * 64)).hexdigest() == sum else []

def collect(state):  # reads what the manifest speaks of; pending patches, before the sidecar
    manifest, found, reached = json.loads((state / ".freehold/manifest.json").read_bytes()), {}, {}
    if manifest["format"] != 1 or "pending" in manifest: raise RuntimeError("it is newer, or being upgraded")
    for owner, o in manifest["declaration"]["owners"].items():
        pile, home = state / f".freehold/{owner}.pending", state / f".freehold/claims/{owner}"
        whose, pending = {"owner": owner, "state": manifest["state_id"]}, o.get("busy", {}).get("then") == "defer"
        listed = pile.is_dir() and not pile.is_symlink() and os.access(pile, os.R_OK)
        file = state / f".freehold/{owner}.lock"  # which tells of the sidecar and of claims
        lock = file.read_bytes() if file.is_file() and file.lstat().st_ino == manifest["locks"][file.name] else b""
        reached[owner] = told(lock, 512, 512, rb'{"published":"(.*)","durable":"(.*)","boot":"(.*)"')
        waits = pending and listed and any(name[0] != "." for name in os.listdir(pile))
        status, doc = load(state / f"{owner}.json", SIDECAR, whose)
        found[owner] = "unreadable" if pending > listed else "deferring" if waits and status in USABLE else status, doc
        for name in [name for name, f in o["fields"].items() if f.get("kind") == "once"]:
            status, doc = load(home / name, CLAIM, {**whose, "field": name})
            kept = home.is_dir() and home.lstat().st_ino == manifest["claims"][owner]
            slot = 1024 + 128 * manifest.get("slots", {}).get(owner, [name]).index(name)
            gone = status in USABLE and told(lock, slot, 128, rb'{"claim":"(.*)"') not in ([], [doc.get("nonce")])
            status, doc = ("regressed", {}) if gone else (status, doc)
            found[f"{owner}/{name}"] = status if kept else "unreadable", {name: doc["at"]} if doc else {}
    return manifest, found, reached

def at(version): return tuple(map(int, version.split(".")[:2])) if version else (0, 0)

def behind(head, seen):  # whether a sidecar, or none, is older than a version that was seen of it
    own, then = (head.get("epoch", 0), head.get("revision", 0)), at(seen)
    known = own[0] == then[0] and own[1] - then[1] < min(128, len(head["recent"]))
    return then[0] > 0 and (then > own or known and seen[-13:] not in head["recent"])

def against(e, seen):  # a verdict, after its weight, about a field that has the entry e and was seen in a version
    have = e.get("version", "")
    if seen is not None and at(have) > at(seen): return "4 stale overtaken"
    if e.get("open"): return "2 ambiguous begun"
    if seen is None or seen == have: return "1 unknown not-observed" if seen is None else "0 fresh current"
    return "1 unknown dependency-behind" if at(seen) > at(have) else "1 unknown dependency-forked"

def value(name, parts, found, heads):  # of a map the rows, joined by key and incarnation
    joined, born = {}, [heads[o]["fields"].get(name, {}).get("keys", {}) if o in heads else {} for o, _ in parts]
    for i, (o, f) in enumerate(parts):
        v, members = found[o][1].get(name, {}), f.get("record")
        if f.get("kind") != "map": return check(holds(f, v) and like(".*", v)) and v
        for key, row in v.items():
            if i == 0 or key in joined and born[i].get(key) == born[0].get(key):
                check(holds({"type": "record", "fields": members} if members else f["value"], row))
                joined[key] = joined.get(key, {}) | {n: row[n] for n in members if n in row} if members else row
    return joined

def view(directory):
    (manifest, found, reached), again = [collect(pathlib.Path(directory)) for _ in range(2)]
    if (manifest, found, reached) != again: raise RuntimeError("it was written meanwhile: try again")
    owners, parts, fields, unknown, freshness = manifest["declaration"]["owners"], {}, {}, {}, {}
    heads = {o: found[o][1].get("$sidecar", NEW) for o in sorted(owners)}
    for name, o, claim, f in [(name, o, f"{o}/{name}", f) for o in heads for name, f in owners[o]["fields"].items()]:
        parts.setdefault(name, []).insert(0 if "keys" in f else 256, (claim if claim in found else o, f))
    seen = [(o, s) for o in heads for e in heads[o]["fields"].values() for s in e.get("observed", {}).items()]
    made = [("", o, version) for o, version in manifest.get("upgraded", {}).items() if o in heads]
    boot = open("/proc/sys/kernel/random/boot_id").read().strip() if os.path.exists("/proc/sys/kernel") else None
    made += [("", o, line[line[2] != boot]) for o, line in reached.items() if line]
    for by, of, v in [(by, parts[f][0][0].split("/")[0], v) for by, (f, v) in seen if f in parts] + made:
        if of != by and found[of][0] in LIVE and behind(heads[of], v): found[of] = "regressed", {}
    for name, ((o, f), *_) in sorted(parts.items()):
        bad, doc = [found[o][0] for o, _ in parts[name] if found[o][0] not in USABLE], found[o][1]
        try:
            if name in doc and not bad: fields[name] = value(name, parts[name], found, heads)
        except (ValueError, LookupError, TypeError, AttributeError): bad = ["value"]
        unknown.update({name: why for why in bad[:1]})
        if "depends_on" in f:
            seen, each = heads[o]["fields"].get(name, {}).get("observed", {}), ["0 fresh current"]
            for of, on in [(of, parts[of][0][0]) for of in f["depends_on"]]:
                verdict = against(heads[on]["fields"].get(of, {}), seen.get(of))
                each.append(verdict if found[on][0] in USABLE else "5 unknown dependency-unreadable")
            if name not in fields: each = ["1 unknown unreadable" if bad else "1 unknown unset"]
            freshness[name] = dict(zip(("verdict", "reason"), max(each, key=lambda verdict: verdict[0]).split()[1:]))
    return {"state": manifest["declaration"]["state"], "snapshot": {"consistency": "atomic"},
            "owners": {o: found[o][0] for o in heads}, "fields": fields, "unknown": unknown, "freshness": freshness}

for directory in sys.argv[1:] if __name__ == "__main__" else []:
    try: print(json.dumps(view(directory)), flush=True)
    except (OSError, ValueError, LookupError, RuntimeError) as e: sys.exit(f"{directory}: no state to read now: {e}")
