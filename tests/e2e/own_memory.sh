#!/bin/bash
# What lwp maps in a process lies within one region of 512 GiB: the kernel pays for each in every process, and again at each fork.
# A process that is never set up has nothing there but perf's page, and its image of lwp's library is small.
set -u
cd "$TMP" || exit 1
"$LWP" collect -q --no-analyze -o r -- cat /proc/self/maps > maps || exit 1
python3 - <<'P' || exit 1
regions = {}
for line in open("maps"):
    low = int(line.split("-")[0], 16)
    if 0x35 <= low >> 40 <= 0x36:
        regions.setdefault(low >> 39, []).append(line.strip())
print({hex(region): len(lines) for region, lines in regions.items()})
raise SystemExit(len(regions) != 1)
P
$CC -O1 -o own_smaps "$SRC/tests/programs/own_smaps.c" || exit 1
"$LWP" collect -q --no-analyze -o later -- sh -c './own_smaps; :' > smaps || exit 1
python3 - <<'P'
far, image, ours, end_before = [], 0, False, 0
for line in open("smaps"):
    first = line.split()[0]
    if "-" in first and not first.endswith(":"):
        low, high = (int(end, 16) for end in first.split("-"))
        if 0x35 <= low >> 40 <= 0x36 and "perf_event" not in line:
            far.append(line.strip())
        # what follows it without a gap is its .bss, with what is mapped into that
        ours = "liblwp-light.so" in line or (ours and low == end_before and ".so" not in line)
        image += high - low if ours else 0
        end_before = high
print("far:", far, "image:", image >> 10, "KiB")
raise SystemExit(bool(far) or not image or image >= 2 << 20) # from 2 MiB on it begins at a multiple of that: more page tables
P
