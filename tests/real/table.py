"""How the corpus is said: a few lines a program on the terminal, a table for docs/."""
import re
import subprocess

# Sentences of a kind. Hints may be wrong themselves: copies of whole structures hide a field's name, addr2line misnames functions.
MOST = {"hints": 3, "paths": 5}


def percent(part, whole):
    return None if not whole else part / whole


def rate(share):
    if not share:
        return "-" if share is None else "0"
    return "{:.{}} %".format(100 * share, "0f" if share >= 0.1 else "2g")


def rates(row):
    """What disagrees, as fractions; None: could not be checked."""
    paths, loops, engines, shares = (row.get(key) or {} for key in ("paths", "loops", "engines", "shares"))
    allocations = paths.get("allocations", 0) + paths.get("blocks", 0)
    return {
        "fields": row.get("fields"),
        "traced fields": row.get("traced_fields"),
        "allocations": percent(paths.get("wrong_allocations", 0) + paths.get("wrong_blocks", 0), allocations),
        "sites": percent(paths.get("wrong_sites", 0), paths.get("objects", 0)),
        "paths": percent(paths.get("wrong_paths", 0), paths.get("objects", 0)),
        "loops": percent(loops.get("wrong", 0), loops.get("loops", 0)),
        "lines": percent(loops.get("outside", 0), loops.get("weight", 0)),
        "engines": percent(sum(engines.get(key, 0) for key in ("sizes", "types", "fields")), engines.get("objects", 0)),
        "hot": percent(engines.get("cold_there", 0), engines.get("hot", 0)),
        "shares": percent(shares.get("wrong", 0), shares.get("checked", 0)),
    }


# From which rate on a program fails.
BOUNDS = {"fields": 0.005, "traced fields": 0.005, "allocations": 0.005, "sites": 0, "paths": 0, "loops": 0, "engines": 0, "shares": 0}


def is_wrong(row):
    found = rates(row)
    return bool(row["told"].get("unharmed") or row["told"].get("analysis") or any((found[key] or 0) > BOUNDS[key] for key in BOUNDS))


def say(row):
    found = rates(row)
    print(f"{'FAIL' if is_wrong(row) else 'ok  '}  {row['name']} {row.get('version')}: {row.get('samples')} samples, "
          + ", ".join(f"{key} {rate(share)}" for key, share in found.items()) + f"; analysis {row['analysis_s']:.1f} s", flush=True)
    for what, sentences in row["told"].items():
        most = MOST.get(what, 12)
        for sentence in sentences[:most]:
            print(f"      {what}: {sentence}", flush=True)
        if len(sentences) > most:
            print(f"      {what}: and {len(sentences) - most} more")


HEAD = """# Real programs

`make check-real` builds these programs from Debian's source packages with `-g -O2` and runs each alone, sampled, with a library that
unwinds at every allocation, and traced. It checks what needs no truth known beforehand, and writes this page. Its rates are of what
*disagrees*; `-` is what could not be checked.

| column | what is compared |
|---|---|
| fields | the field by an access's address with the field by its code, of the accesses that have both; sampled, then traced |
| allocations | the callers recorded for each allocation with those that unwinding finds |
| sites, paths | objects with 0.5 % of the time or more whose allocation site, or whole path, is not that of all their allocations |
| loops, lines | loops most of whose samples and instructions the line table puts elsewhere, in any inlined frame; share of samples |
| engines | sizes of elements, types and names of fields that the sampled and the traced result give for the same object |
| shares | shares outside their interval, parts that are more than their whole, findings that contradict what they are based on |
| analysis | seconds of CPU time for the slowest of the three results, the least of five if that is above 2; without running patterns of accesses |

"""


def page(rows, skipped, late, lwp):
    version = subprocess.run([lwp, "--version"], stdout=subprocess.PIPE, text=True).stdout.split("\n")[0]
    out = [HEAD, f"Made with {re.sub('^lwp ', 'lwp ', version)}.\n\n"]
    columns = "program version language samples stalled unharmed fields allocations sites paths loops lines engines shares analysis".split()
    out.append("| " + " | ".join(columns) + " |\n|" + "|".join(["---"] * 3 + ["--:"] * 2 + ["---"] + ["--:"] * 9) + "|\n")
    for row in rows:
        found = rates(row)
        cells = [row["name"], row.get("version") or "-", row["language"], str(row.get("samples", "-")), rate(row.get("stall")),
                 "no" if row["told"].get("unharmed") else "yes", rate(found["fields"]) + ", " + rate(found["traced fields"])]
        cells += [rate(found[key]) for key in ("allocations", "sites", "paths", "loops", "lines", "engines", "shares")]
        out.append("| " + " | ".join(cells + [f"{row['analysis_s']:.1f} s"]) + " |\n")
    for name, reason in skipped:
        out.append(f"\n{name} was skipped: {reason}.\n")
    if late:
        out.append("\nNot done in the time given: " + ", ".join(late) + ".\n")
    return "".join(out)
