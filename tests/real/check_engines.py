"""The sampled result against the traced one: the same sizes of elements, types and fields, and the same hot data."""
import collections
import re

import lines

LEAST, HOT = 30, 0.1
NUMBERS = set("signed unsigned char short int long float double _Bool bool".split())


def key(thing):
    site = thing.get("site") or {}
    name = thing["name"] if thing["kind"] != "heap" else None
    return thing["kind"], lines.base(site.get("file")), site.get("line"), lines.plain(site.get("function")), name


def place(thing):
    """Where in each block of its site the only element of an object lies, as (start, end), or None."""
    if thing["single"] and thing["element_bytes"] and thing["element_start"] is not None:
        return thing["element_start"], thing["element_start"] + thing["element_bytes"]
    return None


def elsewhere(thing, other):
    """Both are parts of the same blocks that have nothing in common, or may be: one says nothing of the other."""
    one, two = place(thing), place(other)
    if None in (thing["element_start"], other["element_start"]) and thing["type"] and other["type"] and thing["type"] != other["type"]:
        return True
    return one and two and (one[1] <= two[0] or two[1] <= one[0])


def same_type(thing, other):
    """A number may have a typedef's name in one of them and its own in the other, after the pointers that were used most."""
    one, two = thing["type"], other["type"]
    if one == two or None in (one, two):
        return True
    plain = thing["element_bytes"] == other["element_bytes"] and not thing["fields"] and not other["fields"]
    return plain and not one.endswith("*") and not two.endswith("*") and (set(one.split()) <= NUMBERS) != (set(two.split()) <= NUMBERS)


def check(sampled, traced):
    told, sums = [], collections.Counter()
    known = collections.defaultdict(list)
    for thing in traced["objects"]:
        known[key(thing)].append(thing)
    for thing in sampled["objects"]:
        if thing["kind"] not in ("heap", "static") or thing["samples"] < LEAST:
            continue
        name = f"{thing['name']} ({thing['share']:.1%})"
        others = known.get(key(thing))
        if thing["share"] >= HOT:
            sums["hot"] += 1
            if not others or max(other["share"] for other in others) < 0.01:
                sums["cold_there"] += 1
                there = f"traced it has {max(other['share'] for other in others):.1%}" if others else "the trace has no such object"
                told.append(f"{name} is hot; {there}")
        others = [other for other in others or [] if not elsewhere(thing, other)]
        if not others:
            continue
        sums["objects"] += 1
        if thing["element_bytes"] and not any(other["element_bytes"] in (None, thing["element_bytes"]) for other in others):
            sums["sizes"] += 1
            told.append(f"{name}: elements of {thing['element_bytes']} bytes; traced {[other['element_bytes'] for other in others]}")
        if thing["type"] and not any(same_type(thing, other) for other in others):
            sums["types"] += 1
            told.append(f"{name}: type {thing['type']}; traced {[other['type'] for other in others]}")
        same = [other for other in others if other["type"] == thing["type"]]
        for field in thing["fields"]:
            if re.fullmatch(r"(field|unseen)_\d+", field["name"]):
                continue # lwp's own: no type is known
            there = [other_field for other in same for other_field in other["fields"] if other_field["offset"] == field["offset"]]
            if there and field["name"] not in [other_field["name"] for other_field in there]:
                sums["fields"] += 1
                told.append(f"{name}: at {field['offset']} {field['name']}; traced {[other_field['name'] for other_field in there]}")
    return dict(sums), told
