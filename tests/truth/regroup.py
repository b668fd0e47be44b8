"""Arrays that belong together, and why others do not: regroup.py WHAT analysis.json. WHAT is an example or a case of
tests/programs/regroup_cases.c. Prints what is wrong."""
import json, sys

what, data = sys.argv[1], json.load(open(sys.argv[2]))
problems = 0


def check(holds, text):
    global problems
    if not holds:
        problems += 1
        print(f"{what}: {text}")


stencil = {a + b + c for a in "dcu" for b in "bcf" for c in "lcr"}
groups = {
    "diffusion": [{"value", "north", "south", "west", "east", "rate"}],
    "boxes": [{"places", "charges", "masses", "radii", "spins", "heats", "depths"}],
    "stencil": [], "neuron": [], "neighbours": [], "tree": [], "nochange": [],
}
apart = {"order": {"order"}, "shuffled": {"order"}, "range": {"range"}, "time": {"time"}, "scheme": {"scheme"}, "lifetime": {"lifetime"},
         "location": {"location"}, "affinity": {"affinity"}}

regroups = data["regroups"] or []
found = [set(group["names"]) for group in regroups]
if what in groups:
    check(found == groups[what], f"advises {found}")
elif what == "together":
    check(len(found) == 1 and len(found[0]) == 2, f"advises {found}")
else:
    check(found == [], f"advises {found}")
    reasons = {pair["reason"] for pair in data.get("kept_apart") or []}
    check(reasons == apart[what], f"kept apart because of {reasons or 'nothing'}")
if what in apart or what == "together":
    pairs, wanted = data["arrays"]["pairs"], apart.get(what, {"joined"})
    check(len(pairs) == 1 and {pair["reason"] for pair in pairs} == wanted, f"gives for the pair {pairs}")
    classes = {array["class"] for array in data["arrays"]["arrays"]}
    check(len(classes) == (2 if what in ("scheme", "lifetime", "location") else 1), f"makes classes {classes}")
    for pair in pairs:
        if what in ("range", "time"):
            check(pair["conflict"] is True, f"sees no conflict by eq. 10: {pair}")
        elif what in ("together", "order", "shuffled"):
            check(pair["conflict"] is False and pair["affinity"] > 0.9, f"sees a conflict by eq. 10: {pair}")
        elif what == "affinity":
            check(pair["affinity"] < 0.5, f"sees affinity: {pair}")
# Walked in order, joining them saves no line; but they all begin at one place of a page.
conflicts = data["conflicts"]
if what == "stencil":
    arrays = conflicts[0]["arrays"] if conflicts else []
    check(stencil <= {array["name"] for array in arrays}, f"moves only {[array['name'] for array in arrays]}")
    check(len({array["move"] for array in arrays}) == len(arrays), "moves several by as much")
    check(data["findings"] and data["findings"][0]["kind"] == "conflict", "does not say it first")
else:
    check(conflicts == [], f"sees lines collide: {conflicts}")
for group in regroups:
    low, high = group["expected_speedup"]
    check(1 < low <= high, f"promises {low} to {high}")
    for name in group["names"]:
        check(name in group["declaration"], f"the declaration lacks {name}")
    # diffusion's loops go over the columns: interchanging them gains more than the group, and then comes instead of it
    check(any(f["kind"] == "regroup" and f["refs"]["regroup"] == regroups.index(group) or what == "diffusion" and f["id"].startswith("interchange")
              for f in data["findings"]), "no finding leads to the group")
split = {data["objects"][o]["name"] for s in data["splits"] or [] for o in s.get("objects", [s["object"]])}
check(not split & set().union(*found, set()), f"advises to split and to join {split & set().union(*found, set())}")
sys.exit(problems > 0)
