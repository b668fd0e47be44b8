"""Changes to the sample analysis of tests/web, so that it holds what every view shows; all of it valid by the schema."""

HOSTILE = [
    "</script><script>window.bad = 1</script>", "<!-- <script>", "<img src=x onerror='window.bad = 1'>", "\"'><b>bold</b>", "a\u202egnp.c",
    "zero\u200bwidth", "line\u2028end", "\x1b[31mred", "javascript:alert(1)", "__proto__", "constructor", "${7*7}", "<!-- lwp:data -->",
    "&lt;b&gt;&amp;", "%3Cscript%3E", "\ufffd\ufffd", "x" * 100_000, "",
]


def make_hostile(analysis):
    """Puts hostile text wherever the profiled program has a say; all of it valid by the schema."""
    texts = iter(HOSTILE * 100)
    loops, objects = analysis["loops"], analysis["objects"]
    analysis["run"]["command"] = list(HOSTILE)
    analysis["run"].update(host=next(texts), cwd=next(texts), event=next(texts), notes=[t for t in HOSTILE if t])
    analysis["run"]["processes"][0]["command"] = next(texts)
    analysis["run"]["machine"]["cpu"] = next(texts)
    for module in analysis["modules"]:
        module.update(path=next(texts), build_id=next(texts))
    for context in analysis["contexts"]:
        for frame in context["frames"]:
            frame.update(function=next(texts), file=next(texts))
    analysis["loops"] = loops = [dict(loops[0], function=text, file="/" + text) for text in HOSTILE] + loops
    for other in objects:
        other.update(name=next(texts), type=next(texts), site=dict(analysis["contexts"][0]["frames"][0]))
    main = objects[0]
    main["fields"] = [{"offset": 8 * i, "bytes": 8, "name": text, "share": 0.01, "samples": 9} for i, text in enumerate(HOSTILE)]
    main["element_bytes"] = 8 * len(HOSTILE)
    main["loops"] = [{"loop": i, "share": 0.02, "stride": 64, "offsets": [8 * i], "fields": [text]} for i, text in enumerate(HOSTILE)]
    split = analysis["splits"][0]
    split.update(type=HOSTILE[0], element_bytes=main["element_bytes"], declaration="\n".join(HOSTILE))
    split["groups"] = [{"fields": HOSTILE, "offsets": [8 * i for i in range(len(HOSTILE))], "bytes": 8 * len(HOSTILE)}]
    split["cold"] = {"fields": [], "offsets": [], "bytes": 0}
    split["affinity"] = [{"a": a, "b": b, "value": 0.5} for a, b in zip(HOSTILE, HOSTILE[1:])]
    split["traffic"]["loops"] = [{"loop": 0, "before": 1, "after": 0.5}]
    group_arrays(analysis, tuple(HOSTILE[:4]))
    watch_accesses(analysis, HOSTILE[0])
    analysis["findings"] = [dict(analysis["findings"][0], id=f"split-{i}", title=t, next_step=t) for i, t in enumerate(HOSTILE) if t]


def watch_accesses(analysis, text, meaning=None, remedy=None):
    """A dead store, and a cache line that two threads share."""
    total = {"share": 0.4, "share_ci": [0.3, 0.5], "wasted": 4.0, "total": 10.0, "unit": "ns", "approximate": 0, "candidates": 900, "decided": 120, "undecided": 0}
    analysis["redundancy_totals"] = {"dead_store": total, "silent_store": None, "silent_load": None, "computation": None, "register": None, "spatial": None}
    outer = analysis["contexts"][0]["frames"][-1]
    frame = lambda line: {"function": text, "file": "particles.c", "line": line, "module": 0, "inlined": False}
    first = len(analysis["contexts"])
    bare = {"function": None, "file": None, "line": None, "module": 0, "inlined": False, "address": 0x6e8c}
    analysis["contexts"] += [{"frames": [frame(15), bare, outer]}, {"frames": [frame(24), outer]}]
    analysis["redundancies"] = [{"kind": "dead_store", "approximate": 0, "share": 0.25, "share_ci": [0.2, 0.3], "amount": 2.5, "samples": 37, "first": first, "second": first + 1, "object": 0,
                                 "bytes": 8, "places": {"again": 1, "moved": 35}, "cause": "overwritten_whole", "meaning": meaning or text, "remedy": remedy or text,
                                 "others": [{"first": 0, "second": 0, "object": None, "share": 0.05, "samples": 7}]}]
    analysis["communication"] = {"granularity_bytes": 8, "threads": [{"tid": 11, "name": text}, {"tid": 12, "name": None}], "others": 0, "unit": "share", "scaled": True, "watched": 50,
                                 "decided": 40, "read_by_others": 0.1, "regions": [{"name": "whole program", "loop": None, "true": [[0, 0.75], [0.25, 0]],
                                 "true_ci": [[[0, 0], [0.6, 0.9]], [[0.1, 0.4], [0, 0]]], "samples": [[0, 30], [10, 0]], "reuse": None, "crr": None, "homogeneity": None,
                                 "balance_percent": None, "crd": None, "advice": []}]}
    analysis["sharing"] = [{"object": 0, "name": text, "kind": "false", "line_offset": 64, "line_bytes": 64, "lines": 1, "fields": [text, "rest"], "offsets": [8, 16], "threads": [11, 12],
                            "thread_count": 2, "share": 0.5, "share_ci": [0.4, 0.6], "samples": 300, "advice": remedy or text, "declaration": "struct pair {\n    alignas(64) long " + text + ";\n    alignas(64) long rest;\n};\n",
                            "sites": [{"thread": 11, "object": 0, "field": text, "loaded": [], "stored": [{"offset": 8, "bytes": 8}], "context": first, "samples": 200},
                                      {"thread": 12, "object": 0, "field": "rest", "loaded": [{"offset": 24, "bytes": 8}], "stored": [{"offset": 16, "bytes": 8}], "context": first + 1, "samples": 100}]}]


def group_arrays(analysis, names=("north", "south", "west")):
    """Adds arrays that make a group, and one that is left out."""
    objects = analysis["objects"]
    first = len(objects)
    objects += [dict(objects[0], name=name, type="float", bytes=4000, element_bytes=4, elements=1000, share=0.01, share_ci=[0.005, 0.02], samples=20, loads=70, stores=10,
                     fields=[], loops=[dict(objects[0]["loops"][0], share=0.01, stride=4, offsets=[], fields=[])]) for name in (*names, names[-1] + "_back")]
    analysis["regroups"] = [{"objects": list(range(first, first + len(names))), "names": list(names), "affinity": [{"a": names[0], "b": names[1], "value": 0.93}],
                             "rejected": [{"object": first + len(names), "name": names[-1] + "_back", "reason": "order"}], "confidence": "high",
                             "traffic": {"before": len(names), "after": 1, "loops": [{"loop": 0, "before": len(names), "after": 1}]},
                             "expected_speedup": [1.21, 1.48], "declaration": "struct compass { float north; float south; float west; };"}]
    analysis["findings"].insert(1, {"id": "regroup-compass-0001", "kind": "regroup", "title": "Make one array of north, south and west", "severity": "high", "share": 0.4,
                                    "expected_speedup": [1.21, 1.48], "refs": {"regroup": 0}, "next_step": "Allocate one array of the structure below."})


def count_communication(analysis, text="main", threads=4):
    """Communication of the whole program and of one loop, as the exact engine counts it."""
    cells = lambda scale: [[0 if a == b else scale * (1 + (a + b) % 5) for b in range(threads)] for a in range(threads)]
    region = lambda kind, name, loop: {"kind": kind, "name": name, "loop": loop, "true": cells(10), "true_ci": None, "samples": None, "reuse": cells(70), "crr": cells(7), "communicated": 10 * threads,
                                       "reused": 70 * threads, "homogeneity": 0.5, "balance_percent": 12.5, "pattern": "all to all", "advice": [text + ": block it"] if loop is not None else [],
                                       "pieces": {"count": 4, "lines": 8, "bytes": 256, "step": 128},
                                       "crd": {"buckets": [{"up_to": 0, "count": 500}, {"up_to": 7, "count": 300}, {"up_to": 511, "count": 200}], "count": 1000, "median": 0, "p90": 511,
                                               "element_bytes": 8.0, "min_cutoff": 100, "max_cutoff": 4096, "above_min": 0.2, "above_max": 0.0}}
    analysis["communication"] = {"granularity_bytes": 4, "threads": [{"tid": 100 + i, "name": text} for i in range(threads)], "others": 0, "unwatched": 0, "unit": "count", "scaled": False, "watched": None,
                                 "decided": None, "read_by_others": 0.5, "alone_bytes": 4096, "accesses": 100000, "regions": [region("program", "whole program", None), region("loop", text, 0)]}
    analysis["communication"]["regions"][0]["placement"] = {"groups": [[i for i in range(threads) if i % 2 == odd] for odd in (0, 1)], "within": 0.75, "before": 0.25}
    analysis["findings"].append({"id": "distance-1", "kind": "communication", "title": text + " comes too late", "severity": "medium", "share": 0.2, "expected_speedup": None,
                                 "refs": {"communication": 1}, "next_step": text})


def add_stalls(analysis):
    """Stall of two functions on three objects, over four bins of time."""
    frame = lambda name: {"function": name, "file": "particles.c", "line": None, "module": 0, "inlined": False}
    analysis["stalls"] = {"frames": [frame("main"), frame("total_mass"), frame("find")], "nodes": [[None, 0], [0, 1], [0, 2]], "left_out": 0.009,
                          "paths": [[1, 0, 0.52, 1061], [2, 1, 0.18, 367], [2, None, 0.004, 8]],
                          "times": {"bin_s": 1.048576, "rows": [{"object": 0, "shares": [0.13, 0.13, 0.13, 0.13]}, {"object": 1, "shares": [0, 0, 0.09, 0.09]}, {"object": None, "shares": [0.013, 0, 0, 0]}]},
                          "lines": [{"file": "particles.c", "line": 15, "share": 0.52, "samples": 1061, "loads": 4000, "stores": 0, "object": 0, "stride": 80}],
                          "assembly": [{"function": "total_mass", "file": "particles.c", "module": 0, "instructions": [
                              {"address": 4096, "text": "addsd xmm0, qword ptr [rax]", "line": 15, "share": 0.52, "samples": 1061}, {"address": 4100, "text": "add rax, 0x50", "line": 14}]}]}


def trace_locality(analysis, text="main"):
    """The first object in the first loop, through the model of the caches."""
    levels = {"L1": 900, "L2": 500, "L3": None}
    row = {"object": 0, "loop": 0, "share": 0.5, "accesses": 1000, "stores": 100, "reuse_distance": {"median": 7, "beyond": 100, "buckets": [{"up_to": 0, "count": 300}, {"up_to": 7, "count": 600}]},
           "stride_lines": {"dominant": 1.25, "share": 0.75, "outer": None, "buckets": [{"up_to": 1, "count": 250}, {"up_to": 3, "count": 750}]}, "misses": levels,
           "reuse_factor": {"L1": 1.5, "L2": 0.0, "L3": None}, "cycles_per_access": 12.5, "streams": 2.0, "numa_hit_ratio": None, "conflicts": 0.01, "restarted": 0.0, "elsewhere": None}
    analysis["locality"] = [row, dict(row, object=None, loop=None)]
    analysis["findings"].append({"id": "locality-1", "kind": "locality", "title": "Block " + text, "severity": "low", "share": 0.5, "expected_speedup": [1.1, 1.5], "refs": {"locality": 0}, "next_step": text})


def everything(analysis, text="worker"):
    """All views have something to show."""
    group_arrays(analysis)
    watch_accesses(analysis, text, "What is stored is overwritten before anything reads it.", "Store only the last value, or give each thread its own.")
    count_communication(analysis, text)
    trace_locality(analysis, text)
    add_stalls(analysis)
    analysis["run"]["options"] = {"engine": "exact", "detect": "layout,locality", "max-overhead": 3.0, "window": "all", "quiet": True, "region": None}
    split = analysis["splits"][0]
    split["replay"] = {"accesses": 8000, "before": {"L1": 4000, "L2": 3000, "L3": None, "cycles": 90000}, "after": {"L1": 1000, "L2": 600, "L3": None, "cycles": 30000}}
    split["memory"] = {"before": 8000000, "after": 2000000}
    analysis["findings"] += [
        {"id": "dead-1", "kind": "redundancy", "title": "25 % of all stores are dead", "severity": "low", "share": 0.3, "expected_speedup": None, "refs": {"redundancy": 0}, "next_step": "Store once."},
        {"id": "sharing-1", "kind": "sharing", "title": text + " is shared", "severity": "high", "share": 0.5, "expected_speedup": None, "refs": {"sharing": 0}, "next_step": "Pad it."}]


# view -> words that must be there when everything is
ALL_VIEWS = {
    "findings": ["comes too late", "25 % of all stores are dead", "Block worker", "counted, not sampled", "1,000 accesses traced", "95 % interval 40.0–60.0 %", "low confidence"],
    "split/0": ["Predicted gain and evidence", "Misses of L1", "4,000", "25.0 %", "8,000 accesses of the trace, simulated", "Memory traversed"],
    "split/1": ["was not simulated"],
    "regroup/0": ["north", "Predicted gain"],
    "objects": ["north", "By allocation site", "make_all"], "object/0": ["Loops that use it"],
    "stalls": ["71.3 % of the time", "Call tree", "Timeline of memory stall", "total_mass"], "stalls?by=allocation": ["Allocation tree", "make_all"], "stalls?inverted=1": ["Caller tree"],
    "loops": ["particles.c", "total_mass", "All loops", "samples: all"], "loop/0": ["Data it uses", "52.0 % stall, stride 80 B", "addsd xmm0, qword ptr [rax]"],
    "redundancies": ["Dead stores", "computations (repeated with the same operands)", "--detect values,registers,spatial"], "redundancy/0": ["Stored in", "Overwritten in"],
    "threads": ["words read for the first time", "all to all", "By code region", "minimum cutoff", "Shared cache lines", "false sharing", "T3: worker 103", "Where the threads should run", "25.0 % of the communication stays within a cache", "Proposed 75.0 %"],
    "region/1": ["block it", "Communication reuse distance", "of these reads come", "Details: distances, cutoffs", "4 pieces", "The numbers", "sum += all[i].mass;"],
    "region/7": ["There is no such code region"],
    "sharing/0": ["Padded", "stores 8–15", "a line for each thread", "40.0–60.0 %", "The padded declaration", "alignas(64) long worker;"], "sharing/3": ["There is no such"],
    "locality": ["all", "total_mass", "median 7 lines", "L1", "90.0 %", "other data"],
    "locality/0": ["L1 holds", "1.25 lines", "no line is reused", "Block worker", "sum += all[i].mass;"], "locality/1": ["other data"],
    "run": ["lwp collect --engine=exact --detect=layout,locality --window=all -- ./particles --count 1000000 'it'\\''s one'"],
}
