#!/bin/sh
# Usage: screenshot.sh LWP EXAMPLES_BIN SRC
# Profiles an example and writes docs/report.png, the picture in README: what chromium shows of its report.
set -eu
lwp=$1 bin=$2 src=$3
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
"$lwp" collect -q -o "$dir/neuron" -- "$bin/neuron" 1 > "$dir/output"
"$lwp" export --redact --root "$src" -o "$dir/neuron.html" "$dir/neuron"
chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$dir/profile" --window-size=1240,900 --virtual-time-budget=3000 \
    --screenshot="$src/docs/report.png" "file://$dir/neuron.html" 2> "$dir/log" || { cat "$dir/log" >&2; exit 1; }
bytes=$(stat -c %s "$src/docs/report.png")
echo "wrote docs/report.png ($((bytes / 1024)) KiB)"
[ "$bytes" -lt $((200 * 1024)) ]
