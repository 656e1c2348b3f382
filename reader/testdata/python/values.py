"""What a value of a declared type is, and what a patch that is set aside makes of it. See packages schema and sidecar."""
import copy, datetime, decimal, math, re
from files import Number, check, depth, like, version

decimal.getcontext().prec = 200
CLASSES = {"bool": bool, "list": list, "record": dict, "int": Number, "uint": Number, "float": Number}
UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
class Gone(Exception): "The incarnation that an operation means is no more."

def order(f, v):
    "Returns v, a value of the field f, as something that sorts. Bad if it is none."
    kind = f.get("type")
    if f.get("kind") == "set":
        check(type(v) is list, "no set")
        return [order({**f, "kind": "value"}, e) for e in v]
    if kind == "json": check(depth(v) <= 48, "nested too deep")
    if kind == "json" or kind == "bool" and type(v) is bool: return v
    check(type(v) is CLASSES.get(kind, str), f"no {kind}")
    if kind in ("int", "uint"):
        least = -(1 << 63) if kind == "int" else 0
        check(re.fullmatch(r"0|-?[1-9][0-9]*", v) and least <= int(v) < least + (1 << 64), f"no {kind}: {v}")
        return int(v)
    if kind == "float": check(math.isfinite(float(v)), "no double")
    if kind == "float": return float(v)
    if kind == "decimal":
        check(like(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", v) and len(v) <= 160, "no decimal")
        exponent, digits = decimal.Decimal(v).as_tuple().exponent, len(decimal.Decimal(v).as_tuple().digits)
        check(abs(exponent) <= 40 and exponent + (digits if decimal.Decimal(v) else 0) <= 40, "too many digits")
        return decimal.Decimal(v)
    if kind == "time":
        at = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)", v, re.A)
        check(at and not v.startswith("0001-01-01T00:00:00Z"), "no instant")
        return datetime.datetime.fromisoformat(at[1] + at[3].replace("Z", "+00:00")), (at[2] or "").ljust(9, "0")
    if kind == "duration":
        check(like(r"[+-]?(0|((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)", v), "no duration")
        n = sum(int(decimal.Decimal(n) * UNITS[unit]) for n, unit in re.findall(r"([\d.]+)([a-zµμ]+)", v))
        n = -n if v[0] == "-" else n
        check(-(1 << 63) <= n < 1 << 63, "too long")
        return n
    if kind == "list": return [order(f["of"], e) for e in v]
    if kind == "record": return {name: order(f["fields"][name], e) for name, e in v.items() if name in f.get("fields", {})}
    check(v in f["values"] if kind == "enum" else len(v.encode()) <= 1 << 16, f"no {kind}")
    return v

def added(f, a, b):
    kind, n = f["type"], order(f, a) + order(f, b)
    if kind == "decimal": v = f"{n.normalize():f}"
    elif kind == "duration":
        size, (hours, rest) = abs(n), divmod(abs(n), UNITS["h"])
        unit = next((u for u in ("ns", "µs", "ms") if size < 1000 * UNITS[u]), "s") if n else "s"
        minutes, rest = divmod(rest, UNITS["m"])
        v = "-" * (n < 0) + f"{hours}h" * (hours > 0) + f"{minutes}m" * (size >= UNITS["m"]) + f"{decimal.Decimal(rest) / UNITS[unit]:f}{unit}"
    else: v = Number(n)
    order(f, v)
    return v

def combined(f, old, op):
    v, verb = op["value"], op["op"]
    check({"add": "counter", "raise": "max", "lower": "min"}[verb] == f.get("kind"), f"{verb} is not for it")
    n = order(f, v)
    if verb == "add": return added(f, {"decimal": "0", "duration": "0s"}.get(f["type"], Number(0)) if old is None else old, v)
    return v if old is None or (n > order(f, old) if verb == "raise" else n < order(f, old)) else old

def carry_out(op, f, decides, doc, by):
    "Carries out one operation of a patch that is set aside on a sidecar."
    name, verb, key, entries = op["field"], op["op"], op.get("key", ""), doc["$sidecar"]["fields"]
    e = dict(entries.get(name, {}))
    old, born = doc.get(name), dict(e.get("keys", {}))
    seen = e.get("observed")
    if f.get("kind") == "set":
        check(verb in ("insert", "remove"), verb)
        element, have = {**f, "kind": "value"}, old or []
        order(element, op["value"])
        new = sorted([v for v in have if v != op["value"]] + [op["value"]] * (verb == "insert"), key=lambda v: order(element, v))
        if new == have: return
    elif f.get("kind") == "map":
        new, at, have = dict(old or {}), op.get("at", ""), born.get(key, "")
        means = key in new and (at == have or at.startswith("0.0.") and at[4:] == have[-13:])
        if decides and at and not means or not decides and not means and key in new and version(have, True)[0] > version(at, True)[0]: raise Gone(key)
        if not decides and not means: new.pop(key, None), born.update({key: at})
        if verb == "delete" or verb == "insert" and "member" not in op:
            check(decides, "not the owner of the keys")
            new.pop(key, None) if verb == "delete" else new.setdefault(key, {})
        elif "value" in f: new[key] = combined(f["value"], new.get(key), op)
        else: new[key] = {**new.get(key, {}), op["member"]: combined(f["record"][op["member"]], new.get(key, {}).get(op["member"]), op)}
        if new == (old or {}): return
        if decides and key not in (old or {}): born[key] = "0.0." + by["version"][4:]
        e["keys"] = {k: v for k, v in born.items() if k in new}
    else:
        new = combined(f, old, op)
        if verb == "add" or new != old: seen = None
        if "seen" in op and (verb == "add" or new == op["value"]): seen = dict(s.split("=") for s in op["seen"].split(":")[1].split(","))
        if new == old and seen == e.get("observed"): return
    doc[name], entries[name] = new, {**{k: e[k] for k in ("keys", "open") if k in e}, **by, **({"observed": seen} if seen else {})}

def take_in(doc, patches, fields, decides, errors):
    "Returns the document with the patches in it, and the patches in their order. What is left out is among the errors."
    patches = sorted(patches, key=lambda p: (p["number"], order({"type": "time"}, p["at"]), p["name"]))
    patches = [p for i, p in enumerate(patches) if p["id"] not in [q["id"] for q in patches[:i]]] # the rest are copies
    for p in patches:
        trial, by = copy.deepcopy(doc), {"version": "0.0." + p["id"], "at": p["at"], "program": p["writer"]["program"], "pid": p["writer"]["identity"]["pid"]}
        try:
            for op in p["ops"]:
                try: carry_out(op, fields[op["field"]], decides(op["field"]), trial, by)
                except Gone as gone: errors.append(f"{p['id']}: gone: {gone}")
        except (ValueError, LookupError, TypeError) as e: errors.append(f"{p['id']}: {e}")
        else: doc = trial
    return doc, patches
