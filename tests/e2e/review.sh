#!/bin/bash
# What comes of an analysis full of hostile names in every format: text that cannot move a cursor; Markdown in which
# nothing is markup, link or mention; SARIF that obeys its schema; JUnit that parses; all of it below the size limits.
set -u
fail() { echo "FAILED: $*"; exit 1; }
cd "$TMP" || exit 1
lwp=$BUILD/lwp-san # with sanitizers, where it has been built
[ -x "$lwp" ] || lwp=$LWP
command -v cmark-gfm > /dev/null || { echo "cmark-gfm is not installed"; exit 77; }

/usr/bin/python3 - "$SRC/tests/web/analysis.json" <<'P' || fail "making the input"
import copy, json, sys
plain = json.load(open(sys.argv[1]))
hostile = ["<script>alert(1)</script>", "`tick` ``two`` ```three```", "|pipe|and|more|", "@torvalds", "see #1 and !2 or ~bug", "![i](http://evil.example/i.png)",
           "[link](javascript:alert(1))", "https://evil.example/x", "www.evil.example", "a\nb\r\nc", "\x1b[31mred\x1b]0;title\x07", "x\u202egnp.exe", "\u009b2Jclear",
           "nul\0inside", "&lt;b&gt; &amp;", "quote\" and '", "]]>", "*bold* _em_ ~~gone~~ $x$", ":tada: std::string::npos", "- item", "1. one", "# head", "me@example.org",
           "{0} {1}", "a](b) \\", "<!-- c --> </details></summary>", "zero\u200bwidth\u2066isolate", "e" + "\u0301" * 1000, "L" * 100000, "<img src=x onerror=alert(1)>",
           "\u2028line\u2029paragraph", "\ufeffbom", "\U000e0041tag", "=1+1", "%0A::error::x", "x' y=\"z", "\ufffe"]
at = 0
def name(extra=""):
    global at
    at += 1
    return hostile[at % len(hostile)] + extra
def poison(value, key=""):
    if isinstance(value, dict):
        return {k: poison(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [poison(v, key) for v in value]
    keep = ("schema", "version", "kind", "severity", "confidence", "engine", "weight_unit", "id", "reason", "debug_info", "cause", "unit", "event", "started", "link")
    return name() if isinstance(value, str) and key not in keep else value
data = copy.deepcopy(plain)
loop, context = 0, 0
data["regroups"] = [{"objects": [0, 1], "names": ["a", "b"], "affinity": [], "rejected": [{"object": 2, "name": "c", "reason": "order", "detail": "d"}], "confidence": "high",
                     "traffic": {"before": 2, "after": 1, "loops": [{"loop": 0, "before": 2, "after": 1}]}, "expected_speedup": [1.2, 1.5], "declaration": "struct x { int a; };\n"}]
data["redundancy_totals"] = {k: {"share": 0.5, "share_ci": [0.4, 0.6], "wasted": 5, "total": 10, "unit": "ns", "approximate": 0, "candidates": 9, "decided": 9, "undecided": 0.1}
                             for k in ("dead_store", "silent_store", "silent_load", "computation", "register", "spatial")}
data["redundancies"] = [{"kind": k, "approximate": 0, "share": 0.4, "share_ci": [0.3, 0.5], "amount": 3, "samples": 12, "first": 0, "second": 1, "others": [{}], "object": 0,
                         "bytes": 8, "cause": "unknown", "meaning": "m", "remedy": "r"} for k in ("dead_store", "silent_store", "spatial")]
data["sharing"] = [{"object": 0, "name": "s", "kind": "false", "offsets": [0, 8], "threads": [1, 2], "share": 0.3, "share_ci": [0.2, 0.4], "samples": 9, "lines": 1,
                    "sites": [{"thread": 1, "object": 0, "field": "f", "loaded": [], "stored": [{"offset": 0, "bytes": 8}], "context": 0, "samples": 5},
                              {"thread": 2, "object": 0, "field": "g", "loaded": [], "stored": [], "context": 1, "samples": 4}], "advice": "a"}]
data["communication"] = {"unit": "count", "threads": [{"tid": 1, "name": "t"}, {"tid": 2, "name": "u"}],
                         "regions": [{"name": "r", "loop": 0, "true": [[0, 1], [1, 0]], "communicated": 2, "reused": 1, "homogeneity": 1, "balance_percent": 0,
                                      "crd": {"median": 1, "p90": 2}, "pattern": "p", "advice": []}]}
data["locality"] = [{"object": 0, "loop": 0, "share": 0.2, "accesses": 10, "misses": {"L1": 1, "L2": 1, "L3": None}, "cycles_per_access": 3.0, "streams": 1,
                     "reuse_distance": {"median": 1}, "stride_lines": {"dominant": 1}, "numa_hit_ratio": None}]
def finding(kind, ref, id, gain):
    return {"id": id, "kind": kind, "title": "t", "severity": "high", "share": 0.3, "expected_speedup": gain, "refs": {kind: ref}, "next_step": "n"}
data["findings"] += [finding("regroup", 0, "regroup-x-1234", [1.2, 1.5]), finding("redundancy", 0, "dead-store-1234", None), finding("redundancy", 1, "silent-store-1", None),
                     finding("redundancy", 2, "spatial-1", None), finding("sharing", 0, "false-sharing-1", None), finding("communication", 0, "distance-1", None),
                     finding("locality", 0, "interchange-1", [1.1, 1.2]), finding("locality", 77, "unheard-of-1", None)]
json.dump(poison(data), open("hostile.json", "w"))
json.dump(data, open("sober.json", "w"))
for i in range(600): # more than fits in a comment
    more = finding("split", i % 2, "split-x-%d" % i, [1.2, 1.5])
    more["title"] = "Split number %d " % i + "x|" * 60
    data["findings"].append(more)
json.dump(data, open("many.json", "w"))
json.dump(hostile, open("names.json", "w"))
P

for input in hostile sober many; do
    for format in text markdown sarif junit; do
        "$lwp" report --format $format $input.json > $input.$format 2> err || { cat err; fail "report --format $format $input.json"; }
        "$lwp" check --min-samples 0 --format $format $input.json > $input.check.$format 2> err
        [ $? = 1 ] && ! [ -s err ] || { cat err; fail "check --format $format $input.json"; }
    done
    cmark-gfm --unsafe -e table -e autolink -e strikethrough -e footnotes $input.markdown > $input.html || fail "cmark-gfm"
    cmark-gfm --unsafe -e table -e autolink -e strikethrough -e footnotes $input.check.markdown > $input.check.html || fail "cmark-gfm"
done
"$lwp" report --format markdown --limit 3000 many.json > short.markdown || fail "a small limit"
"$lwp" report --format markdown --limit 1000000 many.json > long.markdown || fail "a large limit"
[ "$(wc -c < short.markdown)" -le 3000 ] && [ "$(wc -c < many.markdown)" -le 65000 ] && [ "$(wc -c < hostile.markdown)" -le 65000 ] || fail "Markdown is too long: $(wc -c ./*.markdown)"
for page in short many; do grep -Eq '^[0-9]+ findings left out' $page.markdown || fail "$page.markdown does not say how much is left out"; done
grep -Eq '^[0-9]+ findings left out' long.markdown && fail "something is left out of a large page"
"$lwp" report --format json sober.json | cmp - sober.json && "$lwp" report --json sober.json | cmp - sober.json || fail "--format json"

# The schema as OASIS publishes it comes in a package of npm's, which is looked at as it is: none of its code runs.
schema=@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json
if [ -s "$(npm root -g 2> err)/$schema" ]; then
    schema=$(npm root -g)/$schema
elif timeout 60 npm pack --silent @microsoft/jest-sarif@1.0.0-beta.0 > pack 2> err; then
    tar xf "$(cat pack)" && schema=package/${schema#@microsoft/jest-sarif/}
fi

/usr/bin/python3 - "$schema" <<'P' || fail "see above"
import html.parser, json, os, re, sys, xml.etree.ElementTree as tree
bad, names = [], json.load(open("names.json"))
moves = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e0fff]")
def need(holds, what):
    if not holds:
        bad.append(what)

class Page(html.parser.HTMLParser):
    """What a reader sees, and which elements made it."""
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.seen, self.prose, self.tags, self.attributes, self.code = "", "", set(), set(), 0
        self.feed(text)
    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes |= {a for a in attributes if a[0] != "align" and a != ("lang", "c") and a not in (("class", "language-c"), ("class", "language-mermaid"))}
        self.code += tag in ("code", "pre")
    def handle_endtag(self, tag):
        self.code -= tag in ("code", "pre")
    def handle_comment(self, data):
        self.tags.add("comment")
    def handle_data(self, data):
        self.seen += data
        self.prose += "" if self.code else data

ours = set("h2 h3 p table thead tbody tr th td code pre strong ul li details summary sub br".split())
for page in ("hostile", "hostile.check", "sober", "many"):
    shown = Page(open(page + ".html").read())
    need(not shown.tags - ours and not shown.attributes, f"{page}: Markdown made {shown.tags - ours} {shown.attributes}")
    need(not re.search(r"[@#!~][\w]", shown.prose), f"{page}: refers to something: {re.findall(r'.{10}[@#!~][^ ].{5}', shown.prose)[:3]}")
    need(not re.search(r"://\w|www\.", shown.prose), f"{page}: a link")
    need(not moves.search(shown.seen.replace("\u200b", "")), f"{page}: a character that is not seen: {moves.findall(shown.seen.replace(chr(0x200b), ''))[:5]}")
    seen = " ".join(shown.seen.replace("\u200b", "").split())
    if page == "hostile":
        absent = [n for n in names if not moves.search(n) and len(n) < 100 and "\0" not in n and "\ufffe" not in n and n not in seen]
        need(not absent, f"{page}: does not appear as it is: {absent}")
    need("L" * 2100 not in shown.seen, f"{page}: a name of 100 kB") # advice may have 2,000 characters

# drawings of an element: all its bytes in order, names without what could end them
for page in ("hostile", "sober"):
    drawings = re.findall(r"```mermaid\n(.*?)```", open(page + ".markdown").read(), re.S)
    need(drawings, f"{page}: no drawing of an element")
    for drawing in drawings:
        boxes = [re.fullmatch(r'(\d+)(?:-(\d+))?: "[\w.+ \[\]>%?-]+"', line) for line in drawing.split("title ")[1].splitlines()[1:]]
        need(all(boxes), f"{page}: {drawing}")
        reached = 0
        for box in filter(None, boxes):
            need(int(box[1]) == reached, f"{page}: a hole before {box[0]}")
            reached = int(box[2] or box[1]) + 1
    need(page == "hostile" or "It concerns" in open(page + ".markdown").read(), f"{page}: no reason to believe it")

for text in ("hostile.text", "hostile.check.text"):
    content = open(text, newline="").read()
    need(not moves.search(content.replace("\n", "")), f"{text}: {moves.findall(content)[:5]}")
    need("alert(1)" in content and "L" * 500 not in content, f"{text}: names")
    need(max(map(len, content.splitlines())) < 1300, f"{text}: a line of {max(map(len, content.splitlines()))}")

schema = json.load(open(sys.argv[1])) if os.path.exists(sys.argv[1]) else None
if not schema:
    print("note: SARIF's schema (npm: @microsoft/jest-sarif) could not be had: only some properties are looked at")
for name in ("hostile", "sober", "many", "hostile.check"):
    log = json.load(open(name + ".sarif"))
    if schema:
        import jsonschema
        errors = list(jsonschema.Draft4Validator(schema).iter_errors(log))
        need(not errors, f"{name}.sarif: {[e.message[:100] for e in errors[:3]]}")
    run = log["runs"][0]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    need(log["version"] == "2.1.0" and len(set(rules)) == len(rules) and all(r["help"]["text"] and r["shortDescription"]["text"] for r in run["tool"]["driver"]["rules"]), name)
    fingerprints = set()
    for result in run["results"]:
        need(rules[result["ruleIndex"]] == result["ruleId"], f"{name}: {result['ruleId']} is not rule {result['ruleIndex']}")
        need(result["message"]["text"] and len(result["message"]["text"]) < 5000, f"{name}: message")
        location = result["locations"][0]["physicalLocation"]
        uri = location["artifactLocation"]["uri"]
        need(re.fullmatch(r"(file:///)?[\w./~%-]+", uri) and (uri.startswith("file:///") or location["artifactLocation"]["uriBaseId"] == "SRCROOT"), f"{name}: uri {uri!r:.80}")
        need("region" not in location or 1 <= location["region"]["startLine"] <= location["region"]["endLine"], f"{name}: region")
        fingerprints.add(result["partialFingerprints"]["lwpFinding/v1"])
    need(len(fingerprints) == len(run["results"]), f"{name}: {len(fingerprints)} fingerprints of {len(run['results'])} results")

for name in ("hostile", "sober", "many", "hostile.check", "sober.check"):
    root = tree.parse(name + ".junit").getroot()
    suite = root[0]
    cases, failures = suite.findall("testcase"), suite.findall("testcase/failure")
    need(root.tag == "testsuites" and len(cases) == int(suite.get("tests")) and len(failures) == int(suite.get("failures")), f"{name}.junit: counts")
    need(len({(c.get("classname"), c.get("name")) for c in cases}) == len(cases), f"{name}.junit: two cases of one name")
    need(bool(failures) == name.endswith("check"), f"{name}.junit: {len(failures)} failures")
print("\n".join(bad))
sys.exit(bool(bad))
P

# --redact: nothing of where and by whom it was made; without it, paths alone become relative
/usr/bin/python3 - <<'P' || fail "making the input"
import json
data = json.load(open("sober.json"))
data["run"].update(command=["/home/anna/bin/particles", "--token=s3cr3t", "/home/bob/secret plans.txt", "1000000"], cwd="/home/anna/work", host="build-7.corp.example",
                   notes=["Read from /home/anna/work/run.json on build-7.corp.example (build-7) with --token=s3cr3t.", "main is a word, homes like /home/annabel are others."])
data["run"]["processes"][0]["command"] = "/home/anna/bin/particles --token=s3cr3t"
for loop in data["loops"]:
    if loop["file"]:
        loop["file"] = "/srv/build/../build/anna/src/particles.c"
data["loops"][0]["file"] = "/mnt/customer/header.h"
data["modules"][0]["path"] = "/home/anna/bin/particles"
json.dump(data, open("private.json", "w"))
P
mkdir -p private && cp private.json private/analysis.json
for format in text json markdown sarif junit; do
    "$lwp" report --redact --format $format private.json > redacted.$format 2> err || { cat err; fail "--redact --format $format"; }
    "$lwp" check --redact --min-samples 0 --format ${format/json/text} private.json >> redacted.$format
done
"$lwp" export --redact --force -o redacted.html private 2> err || { cat err; fail "export --redact"; }
"$lwp" export --force -o open.html private 2> err || { cat err; fail "export"; }
for file in redacted.*; do
    grep -Eo '.{20}(anna/|\<bob\>|s3cr3t|build-7|corp\.example|customer|secret plans).{0,20}' $file && fail "$file tells what is private"
    [ $file = redacted.junit ] || [ $file = redacted.sarif ] || grep -q particles $file || fail "$file lacks the program's name"
done
grep -q '"file":"particles.c"\|"file":"src/particles.c"' open.html || fail "paths are not relative in an export"
grep -q 's3cr3t' open.html || fail "an export without --redact leaves arguments out"

# on a terminal: colour where it is allowed, no other escape, and at most 80 columns where names are short
/usr/bin/python3 - "$lwp" <<'P' || fail "on a terminal"
import os, pty, re, sys
def on_terminal(*arguments, **environment):
    pid, terminal = pty.fork()
    if pid == 0:
        for name in ("NO_COLOR", "TERM"):
            os.environ.pop(name, None)
        os.environ.update(environment)
        os.execv(sys.argv[1], ["lwp", *arguments])
    shown = b""
    try:
        while part := os.read(terminal, 65536):
            shown += part
    except OSError: # the other end is closed
        pass
    os.waitpid(pid, 0)
    return shown.decode().replace("\r\n", "\n")
bad = []
for command in (["report"], ["check", "--min-samples", "0"], ["diff", "sober.json"]):
    for input in ("sober.json", "hostile.json"):
        shown = on_terminal(*command, input, TERM="xterm")
        escapes = set(re.findall(r"\x1b(?:\[[\d;]*[A-Za-z])?", shown))
        if not escapes or not all(re.fullmatch(r"\x1b\[[\d;]+m", e) for e in escapes) or shown.count("\x1b[0m") < 3:
            bad.append(f"{command} {input}: {escapes}")
        for environment in ({"TERM": "dumb"}, {"TERM": "xterm", "NO_COLOR": "1"}, {}):
            if "\x1b" in on_terminal(*command, input, **environment):
                bad.append(f"{command} {input}: colour with {environment}")
    long = [line for line in re.sub(r"\x1b\[[\d;]*m", "", on_terminal(*command, "sober.json", TERM="xterm")).split("\n") if len(line) > 80]
    if long:
        bad.append(f"{command}: more than 80 columns: {long}")
print("\n".join(bad))
sys.exit(bool(bad))
P

# what was not measured does not look like nothing found
for samples in 0 99 100; do
    /usr/bin/python3 -c 'import json, sys
a = json.load(open("sober.json")); a["run"]["samples"] = int(sys.argv[1]); a["findings"] = []; a.pop("silence", None); json.dump(a, open("none.json", "w"))' $samples
    for format in text markdown; do
        "$lwp" report --format $format none.json > none.$format || fail "report of $samples samples"
        case $samples in 0) says="no sample was taken" ;; 99) says="too few samples" ;; *) says="nothing was found that would be" ;; esac
        grep -q "$says" none.$format || fail "$samples samples, $format: $(head -n 8 none.$format)"
    done
done

# a folder's name, and bytes that are no UTF-8
dir=$(printf 'r\033[31m\n\377') && mkdir "$dir" && cp sober.json "$dir/analysis.json" && "$lwp" report "$dir" > out || fail "a folder with a strange name"
LC_ALL=C grep -q "$(printf '\033')" out && fail "the folder's name reached the terminal"
printf '{"schema": "lwp-analysis", "version": "1.0", "findings": [{"title": "\377"}]}' > broken.json
for bytes in broken.json names.json; do
    "$lwp" report $bytes > out 2> err; [ $? = 1 ] && [ "$(wc -l < err)" = 1 ] || { cat err; fail "report $bytes"; }
    "$lwp" check $bytes > out 2> err; [ $? = 2 ] && [ "$(wc -l < err)" = 1 ] || { cat err; fail "check $bytes"; }
done
exit 0
