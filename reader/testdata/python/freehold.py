#!/usr/bin/env python3
"""Prints the view of every state directory that is named, as JSON: freehold.py [--instance ID] STATE...

It needs the standard library alone and was written from the documentation of the Go packages document and reader. It
takes no lock, writes nothing, and shows an atomic cut or none."""
import base64, hashlib, json, os, re, sys
from files import Number, claim, judge, parse, patch, read, sidecar, version
from values import order, take_in

def kind(f): return f.get("kind", "value")

def collect(state):
    "Reads every file of a state."
    meta = os.path.join(state, ".freehold")
    manifest = parse(read(os.path.join(meta, "manifest.json"))[1])
    pending, files, piles, latches = manifest.get("pending", {}), {}, {}, {}
    for owner, o in sorted(manifest["declaration"]["owners"].items()):
        if o.get("busy", {}).get("then") == "aside":
            pile = os.path.join(meta, owner + ".aside")
            try: piles[owner] = {name: read(os.path.join(pile, name), 64 << 10) for name in sorted(os.listdir(pile)) if name[0] != "."}
            except OSError as e: piles[owner] = str(e)
        files[owner] = read(os.path.join(meta, "upgrade-" + pending["id"], owner + ".json")) if owner in pending.get("sidecars", []) else ("missing", b"")
        if files[owner][0] == "missing": files[owner] = read(os.path.join(state, owner + ".json"))
        for field in sorted(field for field, f in o["fields"].items() if kind(f) == "once"):
            latches[owner, field] = read(os.path.join(meta, "claims", owner, field), 8 << 10)
    return manifest, files, piles, latches

class View:
    def __init__(self, state, manifest, files, piles, latches):
        self.dir, self.id, self.owners, self.by = state, manifest["state_id"], manifest["declaration"]["owners"], {}
        self.name, self.fields, self.claims = manifest["declaration"]["state"], {}, {}
        for owner in sorted(self.owners):
            for field in self.owners[owner]["fields"]: self.fields.setdefault(field, []).append(owner)
        for owner in sorted(self.owners): self.by[owner] = self.found(owner, files[owner], piles.get(owner))
        for o in list(self.by.values()): self.regress(o)
        text = self.id + "".join(o["mark"] for o in self.by.values())
        for (owner, field), file in latches.items():
            status, c = self.claims[field] = judge(file, claim, owner, field, self.id)
            detail = c["nonce"] if status == "ok" else "" if status == "unreadable" else hashlib.sha256(file[1]).hexdigest()
            text += f"\n{owner}/{field} {status} {detail}" * (status != "missing")
        self.cut = hashlib.sha256(text.encode()).hexdigest()[:32]

    def found(self, owner, file, pile):
        "Judges an owner's sidecar and lays what is set aside over it."
        status, doc = judge(file, sidecar, owner, self.id)
        o = {"owner": owner, "status": status, "aside": 0, "errors": [], "mark": "", "doc": doc if status == "ok" else None}
        head = doc["$sidecar"] if status == "ok" else None
        if head: o["at"] = f"{head['epoch']}.{head['revision']}.{head['nonce']}"
        o["saw"] = {f: e["observed"] for f, e in head["fields"].items() if "observed" in e} if head else {}
        detail = o["at"] if head else "" if status == "unreadable" else hashlib.sha256(file[1]).hexdigest()
        if type(pile) is str: o.update(status="unreadable", doc=None, mark=f"\n{owner} unreadable ")
        elif status != "missing": o["mark"] = f"\n{owner} {status} {detail}"
        if type(pile) is not dict: return o
        judged = {name: judge(file, patch, name, owner, self.id) for name, file in pile.items() if file[0] != "missing"}
        odd = [name for name, (fit, _) in judged.items() if fit != "ok"]
        o["errors"] = odd[:]
        if status not in ("ok", "missing"):
            o["aside"] = len(judged)
            o["mark"] += f"\n{owner} aside" + "".join(" " + name for name in odd) if judged else ""
            return o
        doc = o["doc"] or {"$sidecar": {"fields": {}}}
        taken, left = int(doc["$sidecar"].get("taken", 0)), [int(n) for n in doc["$sidecar"].get("left", [])]
        passed = lambda n: 0 < n <= taken and n not in left
        count = [p for fit, p in judged.values() if fit == "ok" and p["id"] not in doc["$sidecar"].get("folded", []) and not passed(p["number"])]
        if count: o["doc"], count = take_in(doc, count, self.owners[owner]["fields"], lambda field: self.decider(field) == owner, o["errors"])
        o["aside"] = len(count) + len(odd)
        if o["aside"]: o["mark"] += f"\n{owner} aside" + "".join(" " + i for i in [p["id"] for p in count] + odd)
        return o

    def decider(self, field):
        return ([o for o in self.fields[field] if self.owners[o]["fields"][field].get("keys")] or self.fields[field])[0]

    def regress(self, by):
        "Marks the owners that are older than what by has observed of them."
        for field, seen in ((field, seen) for observed in by["saw"].values() for field, seen in observed.items() if field in self.fields):
            o, (at, nonce) = self.by[self.decider(field)], version(seen, True)
            if nonce and at > (0, 0) and o["status"] == "missing": o.update(status="regressed", at="", mark=f"\n{o['owner']} regressed ", doc=None)
            if not nonce or o["status"] != "ok": continue
            (have, mine), recent = version(o["at"]), o["doc"]["$sidecar"]["recent"]
            behind = at[0] > have[0] if at[0] != have[0] else (at, nonce) != (have, mine) if at[1] >= have[1] else have[1] - at[1] < len(recent) and nonce not in recent
            if behind: o.update(status="regressed", doc=None, mark=f"\n{o['owner']} regressed {o['at']}")

    def entry(self, owner, field): return self.by[owner]["doc"]["$sidecar"]["fields"].get(field, {}) if self.by[owner]["doc"] else {}

    def value(self, field):
        "Returns the value, or None with the JSON null apart from it, and which owners' part is invalid."
        owner, bad = self.decider(field), set()
        f, doc = self.owners[owner]["fields"][field], self.by[owner]["doc"] or {}
        if kind(f) == "once":
            status, c = self.claims[field]
            return ([c["at"]] if status == "ok" else []), {owner} if status == "invalid" else bad
        if self.by[owner]["status"] == "invalid": bad.add(owner)
        if field not in doc: return [], bad
        if kind(f) == "map": return ([self.joined(owner, field, bad)] if type(doc[field]) is dict else []), bad if type(doc[field]) is dict else {owner}
        return ([doc[field]], bad) if fits(f, doc[field]) else ([], {owner})

    def joined(self, owner, field, bad):
        spec, rows, born = {o: self.owners[o]["fields"][field] for o in self.fields[field]}, {}, self.entry(owner, field).get("keys", {})
        if "value" in spec[owner]:
            rows = {key: v for key, v in self.by[owner]["doc"][field].items() if fits(spec[owner]["value"], v)}
            if len(rows) < len(self.by[owner]["doc"][field]): bad.add(owner)
            return rows
        whose = {name: o for o in spec for name in spec[o].get("record", {})}
        for o in [owner] + [o for o in spec if o != owner]:
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
        owner = self.decider(field)
        f, o, result = self.owners[owner]["fields"][field], self.by[owner], ("fresh", "current")
        if o["status"] not in ("ok", "missing"): return "unknown", "unreadable"
        if not o["doc"] or field not in o["doc"]: return "unknown", "unset"
        for of in f["depends_on"]:
            result = max(result, self.against(of, self.entry(owner, field).get("observed", {}).get(of)), key=lambda r: ["fresh", "unknown", "ambiguous", "stale"].index(r[0]))
        return result

    def against(self, of, seen):
        if self.by[self.decider(of)]["status"] not in ("ok", "missing"): return "unknown", "dependency-unreadable"
        e = self.entry(self.decider(of), of)
        have, known = version(e.get("version", ""), True), None if seen is None else version(seen, True)
        aside = have[0] == (0, 0) and have[1]
        if known and (have[0] > known[0] or aside): return "stale", "overtaken"
        if e.get("open"): return "ambiguous", "begun"
        if not known: return "unknown", "not-observed"
        return ("fresh", "current") if have == known else ("unknown", "dependency-behind" if known[0] > have[0] else "dependency-forked")

    def provenance(self, owner, field, bad):
        f, e, o = self.owners[owner]["fields"][field], self.entry(owner, field), self.by[owner]
        p = {"owner": owner, "file": os.path.join(self.dir, owner + ".json"), "status": o["status"]}
        if kind(f) == "once":
            p.update(file=os.path.join(self.dir, ".freehold", "claims", owner, field), status=self.claims[field][0])
            if p["status"] == "ok":
                c = self.claims[field][1]
                p.update(claim=c["nonce"], changed_at=c["at"], program=c["writer"]["program"], pid=c["writer"]["identity"]["pid"])
        elif "version" in e:
            (epoch, revision), nonce = version(e["version"])
            p.update(epoch=Number(epoch), revision=Number(revision), changed_at=e["at"], program=e["program"], pid=e["pid"])
            if (epoch, revision) == (0, 0): p["set_aside"] = nonce
        if owner in bad: p["status"] = "invalid"
        if e.get("open"): p["open"] = [opening(self.id, field, *item) for item in e["open"].items()]
        if f.get("depends_on"):
            p["freshness"], p["reason"] = self.freshness(field)
            if e.get("observed"): p["observed"] = e["observed"]
        return p

    def show(self):
        fields, provenance, owners = {}, {}, {}
        for field, names in self.fields.items():
            value, bad = self.value(field)
            if value: fields[field] = value[0]
            provenance[field] = self.provenance(self.decider(field), field, bad)
            if len(names) > 1: provenance[field]["parts"] = {o: self.provenance(o, field, bad) for o in names if o != self.decider(field)}
        for name, o in self.by.items():
            owners[name] = {"status": o["status"]}
            if o["status"] in ("ok", "regressed") and o["at"]: owners[name].update(zip(("epoch", "revision"), map(Number, o["at"].split("."))))
            if o["status"] in ("ok", "regressed", "missing"): owners[name]["version"] = o.get("at", "")
            else: owners[name]["error"] = o["status"]
            if o["status"] == "regressed": owners[name]["error"] = "an older copy was put back"
            if self.owners[name].get("busy", {}).get("then") == "aside": owners[name]["aside"] = Number(o["aside"])
            if o["errors"]: owners[name]["aside_error"] = "; ".join(o["errors"])
        return {"state": self.name, "dir": self.dir, "cut": {"consistency": "atomic", "id": self.cut}, "fields": fields, "provenance": provenance, "owners": owners}

def fits(f, v):
    try: order(f, v)
    except (ValueError, OverflowError): return False
    return True

def opening(id, field, token, e):
    (epoch, revision), _ = version(e["version"])
    return {"token": f"{id}:{field}:{token}", "epoch": Number(epoch), "revision": Number(revision), "begun_at": e["at"], "program": e["program"], "pid": e["pid"]}

def text(v):
    "JSON with the digits that it came with."
    if type(v) is dict: return "{" + ",".join(json.dumps(name) + ":" + text(e) for name, e in v.items()) + "}"
    return "[" + ",".join(map(text, v)) + "]" if type(v) is list else str(v) if type(v) is Number else json.dumps(v)

def instance(id):
    "The directory of an instance, by its id."
    return id if re.fullmatch("[a-z0-9][a-z0-9_-]{0,63}", id) else "~" + base64.b32encode(hashlib.sha256(id.encode()).digest()).decode().lower().rstrip("=")

def view(state):
    for _ in range(8):
        before, after = collect(state), collect(state)
        if before == after: return View(state, *after).show()
    raise SystemExit(f"{state}: its writers are too fast; try again")

if __name__ == "__main__":
    states = sys.argv[1:]
    if states[0] == "--instance": states = [os.path.join(state, instance(states[1])) for state in states[2:]]
    for state in states: print(text(view(state)))
