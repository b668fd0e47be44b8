"""The corpus of docs/faults.md: programs as distributions have them, each doing real work whose result is known to be the same
each time. A script runs with all its children under lwp."""
import re

from driver import PROGRAMS, Case
from situations import HERE, own


def script(name, text, *needs, **more):
    return Case(name, ["sh", "-u", "-c", text], needs=needs, **more)


def unix_socket(command):
    """Waits for the server to answer, up to ten seconds."""
    return "for i in $(seq 100); do %s && break; sleep 0.1; done" % command


COREUTILS = r"""
seq 200000 | sha256sum; seq 300000 | sort -R --random-source=/dev/zero | sort -n | md5sum
seq 100000 | awk '{ n[$1 % 97] += $1 } END { for (i = 0; i < 97; i++) print i, n[i] }' | sort -k2,2n | tail -n 5 | cut -d' ' -f1 | tr '\n' ' '
seq 20000 > a; seq 0 3 30000 > b; sort a > c; sort b > d; join c d | wc -l; comm -12 c d | wc -l; tac a | head -n 3 | paste -sd+ | tr + -
split -n 7 a part.; cat part.* | cmp - a; od -An -tx1 a | tail -n 2; factor 1234567891011; expr 7 \* 6; printf '%08.3f\n' 3.14159
mkdir -p tree/one/two; cp -a a tree/one; ln -s ../a tree/one/link; find tree -type f -o -type l | sort; du -s --apparent-size tree/one/a | cut -f1
tar --sort=name --mtime=@0 --owner=0 --group=0 -cf t.tar tree; gzip -n9 < t.tar > t.gz; xz -T1 < t.tar > t.xz; gzip -dc t.gz | cmp - t.tar; xz -dc t.xz | sha1sum
grep -c 77 a; sed -n '1~5000p' a; dd if=/dev/zero bs=64k count=50 2>dd.err | sha1sum; rm dd.err; nl a | tail -n 1; base64 a | md5sum; env -i sh -c 'echo $HOME'
timeout 0.2 sleep 5; echo $?; stat no-such-file; ls no-such-folder; exit 3
"""
COMPILE = r"""
cp "$SOURCES"/*.c "$SOURCES"/*.h .
for file in limits files processes plain; do %s -std=gnu11 -O2 -g0 -Wall -Wextra -c $file.c || exit 1; done
%s -pthread -o plain plain.o && ./plain plain && %s -c no-such.c; echo $?; echo 'int f(void) { return x; }' > wrong.c; %s -c wrong.c
"""
SQL = r"""
cat > sql <<'E'
create table a(x integer primary key, y text, z real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 60000) insert into a select i, 'row ' || (i * 7919 % 60000), i / 7.0 from n;
create index b on a(y);
select count(*), sum(length(y)), round(sum(z), 3) from a;
select y from a where y like 'row 77%' order by y limit 5;
update a set z = z * 2 where x % 3 = 0; delete from a where x % 11 = 0; vacuum; pragma integrity_check;
select x.y, y.z from a x join a y on x.x = y.x * 2 order by y.z desc limit 3; select nothing;
E
sqlite3 base < sql; echo $?
"""
PYTHON = r"""
cat > a.py <<'E'
import hashlib, json, multiprocessing, os, re, signal, subprocess, sys, threading, zlib
def work(n):
    return hashlib.sha256(zlib.compress(b"".join(b"%d" % (i * n) for i in range(60000)))).hexdigest()
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(3) as pool: print(pool.map(work, range(6)))
    found = []
    threads = [threading.Thread(target=lambda i=i: found.append(work(i))) for i in range(4)]
    [t.start() for t in threads]; [t.join() for t in threads]; print(sorted(found))
    signal.signal(signal.SIGALRM, lambda *_: print("alarm")); signal.setitimer(signal.ITIMER_REAL, 0.05); signal.pause()
    print(subprocess.run(["sh", "-c", "kill -TERM $$"]).returncode, subprocess.check_output(["echo", "child"], close_fds=True))
    data = {str(i): [i, i ** 2] for i in range(50000)}; print(len(re.findall("77", json.dumps(data))))
    os.kill(os.getpid(), signal.SIGTERM)
E
python3 a.py; echo $?
"""
NODE = r"""
cat > n.js <<'E'
const {execSync} = require('child_process'), {Worker, isMainThread, parentPort} = require('worker_threads'), crypto = require('crypto');
function work(n) { const m = new Map(); for (let i = 0; i < n; i++) m.set(i % 5003, (m.get(i % 5003) || 0) + i % 7); let s = 0; for (const v of m.values()) s ^= v; return s; }
if (!isMainThread) parentPort.postMessage(work(2000000));
else { const w = new Worker(__filename); w.on('message', v => { console.log(v, work(1500000), crypto.createHash('sha256').update('x'.repeat(1e6)).digest('hex'));
  console.log(execSync('echo child').toString().trim()); try { null.x } catch (e) { console.error(String(e)) } process.exitCode = 5; }); }
E
node n.js
"""
JAVA = r"""
cat > J.java <<'E'
import java.util.*; import java.util.concurrent.*;
public class J {
  static int work(int n) { HashMap<Integer, Integer> m = new HashMap<>(); for (int i = 0; i < n; i++) m.merge(i % 5003, i % 7, Integer::sum); int s = 0; for (int v : m.values()) s ^= v; return s; }
  static int deep(int n) { return deep(n + 1) + 1; }
  public static void main(String[] a) throws Exception {
    ExecutorService e = Executors.newFixedThreadPool(4); List<Future<Integer>> f = new ArrayList<>();
    for (int i = 0; i < 8; i++) { final int k = i; f.add(e.submit(() -> work(400000 + k))); }
    for (Future<Integer> x : f) System.out.println(x.get());
    e.shutdown();
    try { deep(0); } catch (StackOverflowError x) { System.out.println("overflow"); }
    try { Object o = null; o.hashCode(); } catch (NullPointerException x) { System.out.println("null"); }
    for (int i = 0; i < 20; i++) { byte[] b = new byte[1 << 20]; if (b[i] != 0) System.out.println("?"); }
    System.gc();
    Process p = new ProcessBuilder("echo", "child").start(); System.out.println(new String(p.getInputStream().readAllBytes()).trim() + p.waitFor());
    Runtime.getRuntime().addShutdownHook(new Thread(() -> System.err.println("hook"))); System.exit(6);
  }
}
E
javac J.java && java -XX:+UseG1GC -cp . J; echo $?; rm -f *.class hs_err*
"""
GO = r"""
cat > g.go <<'E'
package main

// static int twice(int x) { return 2 * x; }
import "C"
import ("fmt"; "os"; "os/exec"; "os/signal"; "sync"; "syscall")

func work(n int, out *int, wg *sync.WaitGroup) {
	defer wg.Done()
	m := map[int]int{}
	for i := 0; i < 2000000; i++ { m[i%5000] += i ^ n }
	for i := 0; i < 5000; i++ { *out ^= m[i] * i }
}

func main() {
	var wg sync.WaitGroup
	sums := make([]int, 8)
	for i := range sums { wg.Add(1); go work(i, &sums[i], &wg) }
	wg.Wait()
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	syscall.Kill(os.Getpid(), syscall.SIGUSR1)
	text, err := exec.Command("echo", "child").Output()
	fmt.Println(sums, C.twice(21), string(text), err, <-c)
	defer func() { fmt.Println(recover()); os.Exit(7) }()
	var p *int
	*p = 1
}
E
HOME=$PWD GOFLAGS= GO111MODULE=off GOCACHE=$PROGRAMS/go CGO_ENABLED=1 go build -o g g.go 2> log || cat log; ./g; echo $?; rm -rf g log .config .cache
"""
RUST = r"""
cat > r.rs <<'E'
use std::{collections::HashMap, process::Command, thread};
fn work(n: u64) -> u64 { let mut m = HashMap::new(); for i in 0..400000u64 { *m.entry(i % 5003).or_insert(0) += i ^ n; } m.values().fold(0, |a, b| a ^ b) }
fn main() {
    let t: Vec<_> = (0..6).map(|n| thread::spawn(move || work(n))).collect();
    println!("{:?}", t.into_iter().map(|t| t.join().unwrap()).collect::<Vec<_>>());
    println!("{:?}", Command::new("sh").args(["-c", "echo child; exit 4"]).output().unwrap());
    println!("{}", thread::spawn(|| { let v: Vec<i32> = vec![]; v[std::env::args().count()] }).join().is_err());
    std::process::exit(9);
}
E
rustc -O -o r r.rs 2>/dev/null && ./r; echo $?; rm -f r
"""
OPENMP = r"""
cat > o.c <<'E'
#include <omp.h>
#include <stdio.h>
static double a[1 << 20];
int main(void) { double s = 0; for (int r = 0; r < 40; r++) { 
#pragma omp parallel for
  for (int i = 0; i < 1 << 20; i++) a[i] += i % 7;
#pragma omp parallel for reduction(+ : s)
  for (int i = 0; i < 1 << 20; i++) s += a[i]; }
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 100; i++)
#pragma omp task
    a[i] *= 2;
  printf("%.0f %.0f %d\n", s, a[77], omp_get_max_threads()); return 2; }
E
cc -O2 -fopenmp -o o o.c && OMP_NUM_THREADS=4 ./o; echo $?; rm -f o
"""
MPI = r"""
cat > m.c <<'E'
#include <mpi.h>
#include <stdio.h>
static double a[1 << 16], b[1 << 16];
int main(int c, char **v) { int rank, size; MPI_Init(&c, &v); MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int r = 0; r < 200; r++) { for (int i = 0; i < 1 << 16; i++) a[i] += i % (rank + 2);
    MPI_Sendrecv(a, 1 << 16, MPI_DOUBLE, (rank + 1) % size, 0, b, 1 << 16, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    a[r] += b[r]; }
  double s = 0, t; for (int i = 0; i < 1 << 16; i++) s += a[i]; MPI_Reduce(&s, &t, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (!rank) printf("%d %.0f\n", size, t); MPI_Finalize(); return 0; }
E
mpicc -O2 -o m m.c && OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 3 ./m 2>/dev/null; echo $?; rm -f m
"""
REDIS = r"""
redis-server --port 0 --unixsocket $PWD/s --save '' --io-threads 2 --io-threads-do-reads yes --logfile $PWD/log > /dev/null & server=$!
""" + unix_socket("redis-cli -s s ping > /dev/null 2>&1") + r"""
redis-benchmark -s s -q -n 10000 -c 50 -r 5000 -t set,get,incr,lpush,zadd,mset > speed 2>&1; echo $?; grep -c 'requests per second' speed
for i in $(seq 500); do echo "SET k$i $((i * 31))"; echo "ZADD z $((i * 7 % 113)) m$i"; done | redis-cli -s s | sort | uniq -c
redis-cli -s s EVAL "local s = 0 for i = 1, 500 do s = s + redis.call('get', 'k' .. i) end return s" 0; redis-cli -s s ZRANGEBYSCORE z 5 6
redis-cli -s s SAVE; redis-cli -s s BGSAVE > /dev/null; for i in $(seq 100); do redis-cli -s s INFO persistence | grep -q bgsave_in_progress:0 && break; sleep 0.1; done
redis-cli -s s SHUTDOWN NOSAVE; wait $server; echo $?; rm -f log speed s dump.rdb
"""
NGINX = r"""
mkdir -p www logs; seq 2000 > www/a; seq 200000 > www/b
cat > conf <<E
worker_processes 2; daemon off; pid $PWD/pid; error_log $PWD/logs/error;
events { worker_connections 300; }
http { access_log off; client_body_temp_path $PWD/t1; proxy_temp_path $PWD/t2; fastcgi_temp_path $PWD/t3; uwsgi_temp_path $PWD/t4; scgi_temp_path $PWD/t5;
  gzip on; gzip_types *; server { listen unix:$PWD/s; root $PWD/www; } server { listen 127.0.0.1:18745; root $PWD/www; } }
E
chmod -R a+rX .; nginx -c $PWD/conf -p $PWD 2>/dev/null & server=$!
""" + unix_socket("curl -s --unix-socket s http://x/a -o /dev/null") + r"""
if command -v wrk > wrk; then wrk -t2 -c40 -d1 http://127.0.0.1:18745/b 2>&1 | grep -ciE 'socket errors|non-2xx'; fi
for i in $(seq 20); do curl -s --unix-socket s http://x/b | sha1sum; curl -s --compressed --unix-socket s http://x/a | sha1sum; done | sort | uniq -c
curl -s -o /dev/null -w '%{http_code}\n' --unix-socket s http://x/none; kill -HUP $server; sleep 0.5; curl -s --unix-socket s http://x/a | tail -n 1
kill -QUIT $server; wait $server; echo $?; rm -rf logs conf pid wrk t?
"""
POSTGRES = r"""
bin=$(dirname "$(readlink -f "$(command -v postgres || ls -d /usr/lib/postgresql/*/bin/postgres | tail -n 1)")")
export LC_ALL=C HOME=$PWD
$bin/initdb -D d -A trust -U me > init 2>&1 || { tail -n 3 init; exit 1; }
$bin/postgres -D d -k "$PWD" -h '' -c fsync=off > log 2>&1 & server=$!
q="$bin/psql -h $PWD -U me -qAt postgres"
""" + unix_socket("$q -c 'select 1' > /dev/null 2>&1") + r"""
$q -c "create table a as select i, md5(i::text) m from generate_series(1, 100000) i; create index on a(m); analyze a; select count(*), max(m) from a where m like 'ab%'"
$q -c "set max_parallel_workers_per_gather = 2; set min_parallel_table_scan_size = 0; set parallel_setup_cost = 0; select sum(i), count(distinct left(m, 3)) from a"
for k in 1 2 3 4; do for i in $(seq 10); do $q -c "select count(*) from a where i % $i = $k"; done & p="${p-} $!"; done > out; wait $p; sort out | uniq -c
kill -INT $server; wait $server; echo $?; rm -rf d init log out
"""
SCRIPTS = r"""
perl -e 'my %h; $h{$_ % 977} += $_ for 1..600000; print join(" ", map { $h{$_} } (1..5)), "\n"; fork or exit 3; wait; print $? >> 8, "\n"; kill "TERM", $$'; echo $?
"""


def without_thread_ids(text):
    """As Rust has them in its panics."""
    return re.sub(r"(thread '[^']*') \(\d+\)", r"\1", text)


PROGRAMS_OF_OTHERS = [
    script("coreutils", COREUTILS),
    *(script(compiler, ("export SOURCES='%s'\n" % HERE) + COMPILE.replace("%s", compiler), compiler)
      for compiler in ("gcc", "clang")),
    script("sqlite", SQL, "sqlite3"),
    script("python", PYTHON, "python3"),
    script("perl", SCRIPTS, "perl"),
    script("node", NODE, "node"),
    script("java", JAVA, "java", "javac"),
    script("go", "export PROGRAMS='%s'\n" % PROGRAMS + GO, "go"),
    script("rust", RUST, "rustc", keep=without_thread_ids),
    script("openmp", OPENMP, "libgomp.so"),
    script("mpi", MPI, "mpicc", "mpirun", timeout=200),
    script("redis", REDIS, "redis-server", "redis-benchmark", timeout=200),  # its threads spin: slow where others want the processors
    script("nginx", NGINX, "nginx", "curl", "root"),
    script("postgres", POSTGRES, "postgres", "psql", "setpriv", "root",
           shell="exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$@\""),  # it does not run as root
    own("processes", "threads_10000", samples=0, timeout=200),
]
