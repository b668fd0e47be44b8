#!/bin/bash
# What lwp maps in a process lies within one region of 512 GiB: the kernel pays for each in every process, and again at each fork.
set -u
cd "$TMP" || exit 1
"$LWP" collect -q --no-analyze -o r -- cat /proc/self/maps > maps || exit 1
python3 - <<'P'
regions = {}
for line in open("maps"):
    low = int(line.split("-")[0], 16)
    if 0x35 <= low >> 40 <= 0x36:
        regions.setdefault(low >> 39, []).append(line.strip())
print({hex(region): len(lines) for region, lines in regions.items()})
raise SystemExit(len(regions) != 1)
P
