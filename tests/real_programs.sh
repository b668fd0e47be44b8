#!/bin/bash
# Usage: real_programs.sh MEGABYTES [NAME...]: programs (all, or those) as found on the system give the same output and status with
# and without lwp, and a report comes out.
set -u
cd "$TMP" || exit 1
megabytes=$1 names=${*:2}
failed=0 missing=

make_input() { # text that is neither random nor all the same
    awk -v bytes=$((megabytes * 1000000)) 'BEGIN {
        srand(1)
        while (n < bytes) { s = ""; for (i = 0; i < 12; i++) s = s sprintf("%x ", int(rand() * rand() * 99999)); print s; n += length(s) + 1 }
    }' > input
}

# same NAME COMMAND...
same() {
    name=$1; shift
    [ -z "$names" ] || [[ " $names " = *" $name "* ]] || return
    command -v "$1" > /dev/null || { missing="$missing $name"; return; }
    "$@" > plain.out 2> plain.err < /dev/null; plain=$?
    "$LWP" collect --force --no-measure -o "r-$name" -- "$@" > lwp.out 2> lwp.err < /dev/null; with=$?
    if [ $plain != $with ]; then echo "FAILED: $name: status $with instead of $plain"; tail -n 5 lwp.err; failed=1; fi
    cmp -s plain.out lwp.out || { echo "FAILED: $name: another output"; failed=1; }
    "$LWP" report "r-$name" > report.out 2> report.err || { echo "FAILED: $name: no report"; cat report.err; failed=1; }
    samples=$(sed -n 's/.*engine, \([0-9]*\) samples.*/\1/p' report.out | head -n 1)
    [ "${samples:-0}" -gt 0 ] || { echo "FAILED: $name: no samples"; head -n 5 report.out; failed=1; }
    echo "$name: status $with, ${samples:-0} samples"
    rm -rf "r-$name"
}

make_input
same xz xz -0 -c -T1 input
same zstd zstd -q -6 -c input
same sort sort --parallel=4 input
same sqlite3 sqlite3 :memory: 'create table a(x integer, y text);
    with recursive c(i) as (select 1 union all select i + 1 from c where i < 200000) insert into a select i * 7919 % 200003, "v" || i from c;
    create index ai on a(x); select count(*), sum(a.x * b.x) from a join a b on b.x = (a.x * 31) % 200003;'
same python3 /usr/bin/python3 -c 'import random
random.seed(1)
table = {}
for i in range(400000):
    key = random.randrange(50000)
    table[key] = table.get(key, 0) + i
print(sum(k * v for k, v in table.items()) % 1000003)'
awk 'BEGIN { for (i = 0; i < 700; i++) printf "struct s%d { int a, b; double c[%d]; }; int f%d(struct s%d *p, int n) { int t = 0; for (int i = 0; i < n; i++) { t += p[i].a * %d + p[i].b; if (t & 1) t ^= (int)p[i].c[0]; } return t; }\n", i, i % 7 + 1, i, i, i }' > big.c
same gcc gcc -O2 -S -o - big.c
cat > Hot.java <<'J'
public class Hot {
    public static void main(String[] a) {
        int[] x = new int[1 << 20]; long s = 0;
        for (int r = 0; r < 200; r++) for (int i = 0; i < x.length; i++) { x[i] += i ^ r; s += x[i]; }
        System.out.println(s);
    }
}
J
if command -v javac > /dev/null; then same java java Hot.java; else missing="$missing java"; fi
same node node -e 'let a = []; for (let i = 0; i < 1e6; i++) a.push({ x: i % 1000, y: i }); let s = 0; for (let r = 0; r < 20; r++) for (const o of a) s += o.x; console.log(s)'
[ -z "$missing" ] || echo "not on this machine:$missing"
exit $failed
