#!/usr/bin/python3
"""large.py FOLDER: a result as large as any is expected to be: 5,000 objects, 2,000 redundant pairs, 64 x 64 matrices of 200
regions. Made of the sample analysis; shares fall like 1/n."""
import json, os, random, sys
from pathlib import Path

OBJECTS, PAIRS, LOOPS, CONTEXTS, REGIONS, THREADS, LOCAL = 5000, 2000, 3000, 6000, 200, 64, 1000
rand = random.Random(7)
here = Path(__file__).parent
analysis = json.loads((here / "analysis.json").read_text())
analysis["run"]["cwd"] = str(here)
share = lambda n, total: round(1 / (n + 1) / total, 9)
sum_of = lambda n: sum(1 / (i + 1) for i in range(n))
loop, frame, total = analysis["loops"][0], analysis["contexts"][0]["frames"][0], sum_of(OBJECTS)
analysis["loops"] = [dict(loop, function=f"work_{i}<std::vector<double>>", file=f"/srv/app/source/part_{i % 90}.cc", first_line=10 + i, last_line=14 + i, parent=None, share=share(i, sum_of(LOOPS))) for i in range(LOOPS)]
analysis["contexts"] += [{"frames": [dict(frame, function=f"function_{i}_{d}", file=f"/srv/app/source/part_{(i + d) % 90}.cc", line=i % 900 + d) for d in range(8)]} for i in range(CONTEXTS)]
first = analysis["objects"][0]
analysis["objects"] = [dict(first, name=f"data of make_{i}", type=f"struct kind_{i}", context=1 + i % CONTEXTS, share=share(i, total), share_ci=[share(i + 2, total), share(i, total) * 1.1],
                            fields=[dict(f, share=f["share"] / (i + 1)) for f in first["fields"]],
                            loops=[{"loop": rand.randrange(LOOPS), "share": share(i, total) / 4, "stride": 80, "offsets": [0, 32], "fields": ["x", "mass"], "samples": 20} for _ in range(4)]) for i in range(OBJECTS)]
kinds = ["dead_store", "silent_store", "silent_load"]
analysis["redundancy_totals"] = {k: {"share": 0.4, "share_ci": [0.3, 0.5], "wasted": 4.0, "total": 10.0, "unit": "ns", "approximate": 0, "candidates": 900, "decided": 120, "undecided": 0} for k in kinds} | {k: None for k in ("computation", "register", "spatial")}
analysis["redundancies"] = [{"kind": kinds[i % 3], "approximate": 0, "share": share(i, sum_of(PAIRS)), "share_ci": [0, share(i, 1)], "amount": 2.5, "samples": 37, "first": 1 + rand.randrange(CONTEXTS), "second": 1 + rand.randrange(CONTEXTS),
                             "object": rand.randrange(OBJECTS), "bytes": 8, "places": {"again": 1, "moved": 35}, "cause": "overwritten_whole", "meaning": "The value is overwritten before anything reads it, in all of its bytes.",
                             "remedy": "Compute only the results that are used: leave out the passes whose results are not read, or store only in the last one.", "others": []} for i in range(PAIRS)]
def region(i):
    cells = lambda most: [[0 if a == b else rand.randrange(most) for b in range(THREADS)] for a in range(THREADS)]
    crr = [[round(rand.random() * 90, 6) for _ in range(THREADS)] for _ in range(THREADS)]
    buckets = [{"up_to": 2 ** k - 1, "count": rand.randrange(10 ** 7)} for k in range(22)]
    return {"kind": "loop" if i else "program", "name": f"loop at part_{i}.cc:{i}-{i + 9} in work_{i}" if i else "whole program", "loop": i or None, "true": cells(90000), "true_ci": None, "samples": None, "reuse": cells(4000000), "crr": crr,
            "communicated": 10 ** 9 // (i + 1), "reused": 10 ** 10 // (i + 1), "homogeneity": 812.5, "balance_percent": 12.25, "pattern": None, "advice": [], "pieces": None,
            "crd": {"buckets": buckets, "count": 10 ** 7, "median": 7, "p90": 511, "element_bytes": 8.0, "min_cutoff": 1000, "max_cutoff": 32768, "above_min": 0.1, "above_max": 0.01}}
analysis["communication"] = {"granularity_bytes": 4, "threads": [{"tid": 1000 + i, "name": "worker"} for i in range(THREADS)], "others": 0, "unwatched": 0, "unit": "count", "scaled": False, "watched": None, "decided": None,
                             "read_by_others": 0.5, "alone_bytes": 4096, "accesses": 10 ** 9, "regions": [region(i) for i in range(REGIONS)]}
analysis["locality"] = [{"object": i, "loop": i, "share": share(i, sum_of(LOCAL)), "accesses": 100000, "stores": 100, "reuse_distance": {"median": 7, "beyond": 100, "buckets": [{"up_to": 2 ** k - 1, "count": rand.randrange(9999)} for k in range(14)]},
                         "stride_lines": {"dominant": 1.25, "share": 0.75, "outer": None, "buckets": [{"up_to": 1, "count": 250}, {"up_to": 3, "count": 750}]}, "misses": {"L1": 900, "L2": 500, "L3": 90},
                         "reuse_factor": {"L1": 1.5, "L2": 0.5, "L3": 2.5}, "cycles_per_access": 12.5, "streams": 2.0, "numa_hit_ratio": None, "conflicts": 0.01, "restarted": 0.0, "elsewhere": None} for i in range(LOCAL)]
os.makedirs(sys.argv[1], exist_ok=True)
Path(sys.argv[1], "analysis.json").write_text(json.dumps(analysis))
