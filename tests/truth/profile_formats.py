"""One amount of memory stall in all formats of other profilers: each read by a parser of its own."""
import json, re, subprocess, sys
lwp, folder = sys.argv[1:]
def export(name):
    subprocess.run([lwp, "export", "--force", "--format", name, "-o", "out." + name, folder], check=True, stderr=subprocess.DEVNULL)
    return open("out." + name, "rb").read()
def fields(raw):
    """(number, value) of a protobuf message."""
    at = 0
    def varint():
        nonlocal at
        value = shift = 0
        while True:
            value |= (raw[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if raw[at - 1] < 128:
                return value
    while at < len(raw):
        key = varint()
        size = varint()
        if key & 7 == 2:
            yield key >> 3, raw[at:at + size]
            at += size
        else:
            yield key >> 3, size
def packed(raw):
    value = shift = 0
    for byte in raw:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0
analysis = json.load(open(folder + "/analysis.json"))
weight, paths = analysis["run"]["weight"], analysis["stalls"]["paths"]
whole = sum(round(path[2] * weight) for path in paths)
near = lambda value: abs(value - whole) <= 2 * len(paths)
scope = json.loads(export("speedscope"))
profile = scope["profiles"][0]
assert profile["endValue"] == sum(profile["weights"]) and near(profile["endValue"]), "speedscope"
assert all(frame < len(scope["shared"]["frames"]) for stack in profile["samples"] for frame in stack), "speedscope frames"
message = list(fields(export("pprof")))
texts = [value for number, value in message if number == 6]
names = {dict(fields(value))[1]: texts[dict(fields(value))[2]].decode() for number, value in message if number == 5}
samples = [dict(fields(value)) for number, value in message if number == 2]
assert texts[0] == b"" and near(sum(list(packed(s[2]))[1] for s in samples)), "pprof"
stacks = {tuple(names[i] for i in reversed(list(packed(s[1])))) for s in samples}
assert stacks == {tuple(scope["shared"]["frames"][i]["name"] for i in stack) for stack in profile["samples"]}, "pprof and speedscope have other stacks"
events = re.findall(rb": +(\d+) memory-stall:\n", export("perf-script"))
assert abs(sum(map(int, events)) - whole) <= 2 * (len(events) + len(paths)), "perf-script"
export("callgrind")
told = subprocess.run(["callgrind_annotate", "--auto=no", "out.callgrind"], capture_output=True, text=True, check=True).stdout
assert near(int(re.search(r"([\d,]+) \(100\.0%\)  PROGRAM TOTALS", told)[1].replace(",", ""))), told
own = sum(int(n.replace(",", "")) for n in re.findall(r"^ *([\d,]+) \( *[\d.]+%\)  \S+:", told, re.M))
assert own >= 0.98 * whole, told  # of 99 % that it lists
