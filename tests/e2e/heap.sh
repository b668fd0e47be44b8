#!/bin/bash
# Every small block that a sampled address is said to lie in is one the program really has there, of that size and from
# that allocation; blocks of all kinds are found, also those of more sizes and places than have an entry of their own.
set -u
cd "$TMP" || exit 1
${CXX:-g++} -O1 -g -pthread -o heap "$SRC/tests/programs/heap.cc" || { echo "no C++ compiler"; exit 77; }
. "$SRC/tests/sampled.sh"
# Where other work makes allocations dear, few are recorded, and few accesses are in known blocks: it is tried again.
look() {
    collect_samples 1200 r 150 -F 2000 --max-overhead 95 -- ./heap truth @ || return 1 # so that each allocation may be recorded
    "$LWP" dump r/p*/process.lwps > process 2> err
    cat r/p*/t*.lwps > /dev/null
    for file in r/p*/t*.lwps; do "$LWP" dump "$file"; done > samples 2> err
    : > elsewhere
    awk '
        FILENAME == "truth" && $1 == "from" { from = $2; next }
        FILENAME == "truth" { size[$1] = $2; line[$1] = $3; next }
        FILENAME == "process" && $1 == "pool" { for (i = 1; i < NF; i++) if ($i == "size") pool[$2] = $(i + 1); next }
        FILENAME == "samples" && $1 == "sample" { for (i = 1; i < NF; i++) if ($i == "time") time = $(i + 1); next }
        FILENAME == "samples" && $1 == "access" && time >= from {
            id = base = address = ""
            for (i = 1; i < NF; i++) { if ($i == "pool") id = $(i + 1); if ($i == "base") base = $(i + 1); if ($i == "address") address = $(i + 1) }
            if (address == "" || address == "unknown") next
            if (id == "") { other++; print address > "elsewhere"; next }
            checked++
            if (!(base in size)) { wrong++; print "no such block: " $0; next }
            if (pool[id] != 0 && pool[id] != size[base]) { wrong++; print "size " size[base] ", not " pool[id] ": " $0; next }
            where = line[base] " " id
            lines[line[base]] = 1
            if (pool[id] != 0 && (id in from_line) && from_line[id] != line[base]) { wrong++; print "line " line[base] ", not " from_line[id] ": " $0 }
            from_line[id] = line[base]
        }
        END {
            for (l in lines) kinds++
            printf "%d accesses in blocks, %d elsewhere, %d wrong, %d kinds of block\n", checked, other, wrong, kinds
            exit wrong > 0 ? 1 : checked < 100 || kinds < 12 ? 2 : 0
        }' truth process samples > found
}
for _ in 1 2 3; do
    look
    status=$?
    [ $status = 2 ] || break
done
[ $status = 0 ] || { tail -n 20 found; head -n 3 samples; exit 1; }
cat found

# As every allocation is recorded, hardly an access to these blocks is of unknown memory.
"$LWP" report --json r > report.json || exit 1
/usr/bin/python3 - << 'EOF'
import json, sys
holds = {}
for line in open("truth"):
    if not line.startswith("from"):
        base, size = int(line.split()[0], 16), int(line.split()[1])
        for granule in range(base >> 4, (base + size - 1 >> 4) + 1):
            holds[granule] = (size, line.split()[2])
missed = [holds[int(line, 16) >> 4] for line in open("elsewhere") if int(line, 16) >> 4 in holds]
checked = int(open("found").read().split()[0])
thinned = [note for note in json.load(open("report.json"))["run"]["notes"] if "were not recorded" in note]
print(f"{len(missed)} accesses to blocks that are not known, of {checked + len(missed)}", thinned)
for size, line in sorted(set(missed))[:10]:
    print(f"    for example {size} bytes of line {line}")
sys.exit(not thinned and len(missed) > 0.02 * (checked + len(missed)))
EOF
[ $? = 0 ] || exit 1

# lwp's own functions stand between the program and the allocator's: no report shows them.
/usr/bin/python3 - << 'EOF'
import json, sys
report = json.load(open("report.json"))
own = [i for i, module in enumerate(report["modules"]) if "liblwp" in module["path"]]
shown = [loop for loop in report["loops"] if loop["module"] in own] + [
    frame for context in report["contexts"] for frame in context["frames"] if frame["module"] in own]
print(shown or "nothing of lwp's own in %d contexts" % len(report["contexts"]))
sys.exit(not own or bool(shown) or len(report["contexts"]) < 10)
EOF
