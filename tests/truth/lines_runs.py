#!/usr/bin/python3
"""What lwp says of cache lines that threads use together against programs of which it is known.

    lines_runs.py LWP PROGRAM SCRATCH [CASE...] [--runs N] [--seconds S] [--schema FILE]

PROGRAM is tests/programs/lines_shared.c. Prints for each case how many runs told it right. Exit status 1 when any did
not, 77 when nothing can be watched here."""
import argparse, json, os, shutil, subprocess, sys

# kind (None: nothing shared), what it is called, offsets, fields, words of the advice
CASES = {
    "fields": ("false", "counters", [16, 24], ["hits", "misses"], ["alignas(64)", "misses"]),
    "fields_apart": None,
    "read_mostly": ("false", "work", [0, 8], ["limit", "done"], ["alignas(64)", "done"]),
    "read_mostly_apart": None,
    "array": ("false", "counts", [0, 8], ["counts", "counts"], ["multiple of 64 bytes"]),
    "array_apart": None,
    "heap": ("false", "mine", [0, 8], ["mine", "mine"], ["aligned_alloc"]),
    "heap_apart": None,
    "stack": ("false", "the stack of thread ", [0, 8], None, ["multiple of 64 bytes"]),
    "same": ("true", "total", [0, 0], ["total", "total"], ["copy of its own"]),
    "read_only": None,
    "processes": None,
}

options = argparse.ArgumentParser()
options.add_argument("lwp"), options.add_argument("program"), options.add_argument("scratch")
options.add_argument("--runs", type=int, default=1), options.add_argument("--seconds", type=float, default=2)
options.add_argument("--schema")
options.add_argument("cases", nargs="*", default=list(CASES))
options = options.parse_args()
os.makedirs(options.scratch, exist_ok=True)
try:
    import jsonschema
    schema = options.schema and jsonschema.Draft202012Validator(json.load(open(options.schema)))
except ImportError:
    schema = None


def look(case):
    """What is wrong with what lwp says of the case."""
    result = os.path.join(options.scratch, "result")
    shutil.rmtree(result, ignore_errors=True)
    subprocess.run([options.lwp, "collect", "-q", "--no-analyze", "-o", result, "--", options.program, case, str(options.seconds)],
                   check=True)
    subprocess.run([options.lwp, "analyze", "-q", "--no-measure", result], check=True)
    with open(os.path.join(result, "analysis.json")) as file:
        analysis = json.load(file)
    if schema:
        schema.validate(analysis)
    if analysis["sharing"] is None:
        print("no watchpoints here")
        sys.exit(77)
    if case == "processes" and not any("between processes are not measured" in note for note in analysis["run"]["notes"]):
        return f"no word of what is not measured: {analysis['run']['notes']}"
    expected, items = CASES[case], analysis["sharing"]
    found = [(item["kind"], item["name"], item["offsets"], item["fields"]) for item in items]
    if expected is None:
        return f"{found} reported" if items else None
    kind, name, offsets, fields, words = expected
    if len(items) != 1 or items[0]["kind"] != kind or not items[0]["name"].startswith(name) or items[0]["offsets"] != offsets or \
       fields not in (None, items[0]["fields"]) or len(set(items[0]["threads"])) != 2:
        return f"{found} instead of {expected}, threads {[item['threads'] for item in items]}"
    if any(word not in items[0]["advice"] for word in words):
        return f"the advice: {items[0]['advice']}"
    if (kind == "false") != any(finding["kind"] == "sharing" for finding in analysis["findings"]):
        return "the findings do not agree"


failures = 0
for case in options.cases:
    problems = [problem for problem in (look(case) for _ in range(options.runs)) if problem]
    failures += len(problems)
    print(f"{case:18} {options.runs - len(problems)} of {options.runs} right")
    for problem in problems:
        print(f"    WRONG {problem}")
    sys.stdout.flush()
sys.exit(failures != 0)
