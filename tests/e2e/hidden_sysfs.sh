#!/bin/bash
# Where /sys has no caches, as in some virtual machines and sandboxes, their sizes are those that the C library knows.
set -u
cd "$TMP" || exit 1
ways=$(getconf LEVEL1_DCACHE_ASSOC 2> err)
[ "${ways:-0}" -gt 0 ] || { echo "the C library does not know the caches either"; exit 77; }
unshare -rm mount -t tmpfs none /sys 2> err || { echo "no name space can be made: $(head -n 1 err)"; exit 77; }
cat > hidden << 'S'
mount -t tmpfs none /sys && exec "$LWP" collect -q --no-analyze -e exact --window all -o result -- /bin/true
S
unshare -rm sh hidden || { echo "the exact engine does not do without /sys"; exit 1; }
/usr/bin/python3 - "$(getconf LEVEL1_DCACHE_SIZE)" "$ways" "$(getconf LEVEL1_DCACHE_LINESIZE)" << 'P'
import json, sys
machine = json.load(open("result/run.json"))["machine"]
first = machine["caches"][0]
found = [first["level"], first["bytes"], first["ways"], machine["line_bytes"]]
wanted = [1] + [int(word) for word in sys.argv[1:]]
sys.exit(found != wanted and f"{found}, not {wanted}")
P
