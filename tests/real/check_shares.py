"""What must hold of any analysis: shares lie in their intervals, parts add up to no more than their whole, ids exist, and no headline
contradicts what it is based on."""
NEAR = 1e-6


class Told(list):
    checked = 0

    def must(self, right, sentence):
        self.checked += 1
        if not right:
            self.append(sentence)


def within(told, what, share, interval):
    told.must(interval[0] - NEAR <= share <= interval[1] + NEAR, f"{what}: share {share:.4f} is not in its interval {interval}")


def check_objects(analysis, told):
    told.must(sum(thing["share"] for thing in analysis["objects"]) <= 1 + NEAR, "the objects' shares add up to more than 1")
    for thing in analysis["objects"]:
        name = f"object {thing['name']}"
        within(told, name, thing["share"], thing["share_ci"])
        fields = sum(field["share"] for field in thing["fields"])
        most = thing["share"] * (1 + 1e-3) + NEAR * (1 + len(thing["fields"]))
        told.must(fields <= most, f"{name}: its fields' shares add up to {fields:.4f} of {thing['share']:.4f}")
        told.must(sum(use["share"] for use in thing["loops"]) <= 1 + 1e-3, f"{name}: its loops' shares add up to more than 1")
        end = 0
        for field in sorted(thing["fields"], key=lambda field: field["offset"]):
            told.must(field["offset"] >= end, f"{name}: field {field['name']} at {field['offset']} begins before the end of another, {end}")
            end = max(end, field["offset"] + field["bytes"])
        if thing["element_bytes"]:
            told.must(end <= thing["element_bytes"], f"{name}: fields reach to {end}, an element to {thing['element_bytes']}")
            if thing["bytes"] and thing["elements"] and thing["allocations"] == 1:
                held = thing["element_bytes"] * thing["elements"] + (thing.get("element_start") or 0)
                room = thing.get("allocated_bytes") or thing["bytes"]
                told.must(held <= room, f"{name}: {thing['elements']} elements take {held} of {room} bytes")
        for use in thing["loops"]:
            told.must(use["loop"] < len(analysis["loops"]), f"{name}: there is no loop {use['loop']}")
        told.must(thing["samples"] <= analysis["run"]["samples"], f"{name}: more samples than there are")


def check_loops(analysis, told):
    told.must(sum(loop["share"] for loop in analysis["loops"]) <= 1 + 1e-3, "the loops' own shares add up to more than 1")
    for loop in analysis["loops"]:
        if loop["first_line"] is not None:
            told.must(loop["first_line"] <= loop["last_line"], f"loop {loop['function']}: lines {loop['first_line']}-{loop['last_line']}")
        told.must(loop["samples"] <= analysis["run"]["samples"], f"loop {loop['function']}: more samples than there are")


def check_findings(analysis, told):
    stall, engine = analysis["run"].get("stall_share"), analysis["run"]["engine"]
    for finding in analysis["findings"]:
        name, speedup = f"finding \"{finding['title']}\"", finding["expected_speedup"]
        if speedup:
            told.must(speedup[0] <= speedup[1] and speedup[0] >= 1 - NEAR, f"{name}: expects {speedup}")
            if stall is not None and stall < 1:
                most = 1 / (1 - stall) * 1.01 + NEAR
                told.must(speedup[1] <= most, f"{name}: expects {speedup} of a program that stalls {stall:.0%} of its time")
        refs = finding["refs"]
        if "split" in refs:
            split = analysis["splits"][refs["split"]]
            thing = analysis["objects"][split["object"]]
            told.must(engine == "exact" or thing["samples"] >= 20, f"{name}: rests on {thing['samples']} samples")
            told.must(finding["share"] <= 1, f"{name}: share {finding['share']}")
            declared = {field["name"] for field in thing["fields"]}
            known = {name for group in split["groups"] + [split["cold"]] for name in group["fields"]}
            hot = {name for group in split["groups"] for name in group["fields"]}
            told.must(hot <= known and not (hot & set(split["cold"]["fields"])), f"{name}: a field is hot and cold")
            placed = sum(len(group["fields"]) for group in split["groups"] + [split["cold"]])
            told.must(placed == len(known), f"{name}: a field is in two groups")
            seen = not declared or hot & declared
            told.must(split["confidence"] != "high" or seen, f"{name}: confidence high in fields that were not seen")
            used = {field for use in thing["loops"] for field in use.get("fields", [])}
            cold = [field for field in thing["fields"] if field["name"] in split["cold"]["fields"]]
            hot_there = [field["name"] for field in cold if field["share"] > 0.1 * thing["share"]]
            told.must(not hot_there, f"{name}: {hot_there}, more than a tenth of the object's share, are put in the cold part")
            told.must(bool(used) or not hot, f"{name}: no loop uses a field")


def check_redundancy(analysis, told):
    for kind, total in (analysis["redundancy_totals"] or {}).items():
        if total:
            within(told, kind, total["share"], total["share_ci"])
            told.must(total["wasted"] <= total["total"] * (1 + 1e-6), f"{kind}: {total['wasted']} wasted of {total['total']}")
    for pair in analysis["redundancies"] or []:
        if pair.get("share_ci"):
            within(told, f"{pair['kind']} pair", pair["share"], pair["share_ci"])
    for shared in analysis["sharing"] or []:
        within(told, f"sharing of {shared['name']}", shared["share"], shared["share_ci"])


def check(analysis):
    told = Told()
    check_objects(analysis, told)
    check_loops(analysis, told)
    check_findings(analysis, told)
    check_redundancy(analysis, told)
    return {"checked": told.checked, "wrong": len(told)}, list(told)
