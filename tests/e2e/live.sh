#!/bin/bash
# lwp collect --serve: the program is as without; the page tells how far it is, then is the report; what ends it; wrong use.
set -u
fail() { echo "FAIL: $*"; exit 1; }
cd "$TMP" || exit 1
cat > turns.c <<'C'
#include <stdio.h>
#include <unistd.h>
/* Writes what it was given, then goes through memory until there is a file "stop". */
static struct { double x, y, z, w, rest[4]; } all[100000];
int main(void)
{
    volatile double sum = 0;
    int c;
    while ((c = getchar()) != EOF) putchar(c);
    while (access("stop", F_OK))
        for (int i = 0; i < 100000; i++) sum += all[i].x;
    fprintf(stderr, "sum %g\n", sum);
    return 7;
}
C
$CC -O1 -g -o turns turns.c || fail "compile"
cat > live.py <<'P'
import fcntl, glob, json, os, pty, re, signal, subprocess, sys, time, urllib.error, urllib.request
lwp = os.environ["LWP"]

def until(what, holds, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = holds()
        if found:
            return found
        time.sleep(0.05)
    sys.exit(f"FAIL: {what}: not within {seconds} s")

def check(holds, what):
    if not holds:
        sys.exit(f"FAIL: {what}")

def get(url, path=""):
    with urllib.request.urlopen(url + path, timeout=20) as answer:
        return answer.read().decode(), answer.headers["ETag"]

def page(url, path=""):
    return json.loads(re.search(r'id="lwp-data"[^>]*>(.*?)</script>', get(url, path)[0], re.S)[1])

def collect(name, *options, program="./turns"):
    """(process, url): started as a shell starts it in the foreground, at work."""
    process = subprocess.Popen([lwp, "collect", "-o", f"several/{name}", *options, "--", program], stdin=open("in"), stdout=open(name + ".out", "w"), stderr=open(name + ".err", "w"),
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    url = None
    if any(option.startswith("--serve") for option in options):
        url = until(f"{name}: a URL", lambda: re.search(r"shown at (http://127\.0\.0\.1:\d+/)\n", open(name + ".err").read()))[1]
    return process, url

def gone(url):
    try:
        get(url, "report.css")
    except OSError:
        return True

def at_work(name):
    until(f"{name}: the program runs", lambda: glob.glob(f"several/{name}/p*/process.lwps"))

# running -> ended
process, url = collect("first", "--serve")
at_work("first")
now = until("samples", lambda: (p := json.loads(get(url, "progress")[0]))["samples"] > 100 and p)
check(now["state"] == "running" and now["processes"] == now["threads"] == 1 and now["bytes"] >= 4096 and 0 < now["elapsed_s"] < 60, f"progress: {now}")
later = until("more samples", lambda: (p := json.loads(get(url, "progress")[0]))["samples"] > now["samples"] and p)
check(later["elapsed_s"] > now["elapsed_s"], f"{now} and then {later}")
text, tag = get(url)
check(page(url)["view"] == "running" and get(url)[1] == tag, "while it runs the page changes")
try:
    get(url, "analysis.json")
    check(False, "there is an analysis already")
except urllib.error.HTTPError as error:
    check(error.code == 503, f"analysis.json of a running result: {error.code}")
check(not os.path.exists("several/first/analysis.json"), "a running result was analysed")

# another server lists it as running
index = subprocess.Popen([lwp, "serve", "-p", "0", "several"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
index_url = index.stdout.readline().strip()
row = page(index_url)["results"][0]
check(row["running"] and not row["analysed"], f"the index says {row}")
check(page(index_url, "r/first")["view"] == "running" and json.loads(get(index_url, "progress/first")[0])["state"] == "running", "a running result in a folder")
for path in ("progress", "progress/", "progress/none", "progress/../first"):
    try:
        get(index_url, path)
        check(False, f"there is /{path}")
    except urllib.error.HTTPError as error:
        check(error.code == 404, f"/{path}: {error.code}")
index_tag = get(index_url)[1]

open("stop", "w").close()
until("the report", lambda: get(url)[1] != tag)
result = page(url)
check(result["view"] == "result" and result["analysis"]["run"]["command"] == ["./turns"], f"after the end: {result['view']}")
check(result["analysis"]["run"]["exit"]["code"] == 7, "the report came before the end")
until("the closing line", lambda: "Ctrl-C ends lwp" in open("first.err").read())
check(json.loads(get(url, "progress")[0])["state"] == "ended", "progress after the end")
check(get(index_url)[1] != index_tag and not page(index_url)["results"][0]["running"], "the index still says that it runs")
check(process.poll() is None, "serving ended by itself")
check(open("first.out").read() == open("in").read(), "another output")
check("sum 0\n" in open("first.err").read(), "the program's stderr")
process.send_signal(signal.SIGINT)
check(process.wait(10) == 7, f"status {process.returncode}, not the program's")
check(gone(url), "the server outlives lwp")

# SIGTERM while the program runs ends the program, and then lwp
os.unlink("stop")
process, url = collect("told", "--serve", "-q")
at_work("told")
process.send_signal(signal.SIGTERM)
check(process.wait(20) == 128 + signal.SIGTERM and gone(url), f"SIGTERM: status {process.returncode}")

# lwp is killed: the server goes with it, the result is no longer marked
process, url = collect("killed", "--serve=0")
at_work("killed")
check(page(index_url, "r/killed")["view"] == "running", "killed: not running before")
process.kill()
process.wait()
until("the end of the server", lambda: gone(url))
open("stop", "w").close()
until("the end of a killed run", lambda: page(index_url, "r/killed")["view"] == "result")
index.send_signal(signal.SIGINT)
check(index.wait(10) == 0, "the index does not end well")

# a reader of the output gets its end with the program's
process = subprocess.Popen([lwp, "collect", "-o", "several/read", "--serve", "./turns"], stdin=open("in"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
check(process.stdout.read() == open("in", "rb").read() and process.poll() is None, "the end of the output does not come")
process.terminate()
check(process.wait(10) == 7, f"SIGTERM while serving: status {process.returncode}")

# Ctrl-C at a terminal: the first is the program's, the second lwp's
os.unlink("stop")
pid, terminal = pty.fork()
if pid == 0:
    os.execv(lwp, [lwp, "collect", "-o", "several/keys", "--serve", "sh", "-c", "./turns < in"])
shown = b""
def read(word):
    global shown
    while word not in shown:
        shown += os.read(terminal, 4096)
read(b"shown at http://")
at_work("keys")
until("the program runs", lambda: len(glob.glob("several/keys/p*/process.lwps")) == 2)
os.write(terminal, b"\x03")
read(b"Ctrl-C ends lwp")
url = re.search(rb"report is at (http://[^;]*/);", shown)[1].decode()
until("the report after Ctrl-C", lambda: page(url)["view"] == "result")
os.write(terminal, b"\x03")
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
check(status == 128 + signal.SIGINT and gone(url), f"Ctrl-C: status {status}")
P
mkdir several && seq 1000 > in
python3 live.py || { tail -n 5 ./*.err; exit 1; }

wants() { # status, words, arguments of collect
    want=$1 words=$2; shift 2
    timeout 10 "$LWP" collect "$@" > out 2> err < /dev/null; got=$?
    [ $got = "$want" ] && [ "$(wc -l < err)" = 1 ] && grep -q -e "$words" err || { cat err; fail "collect $*: status $got, not $want, or not one line with '$words'"; }
    [ ! -e wrong ] || fail "collect $*: leaves a folder"
}
: > stop
wants 125 "wants a number" --serve=many -o wrong ./turns
wants 125 "wants a number" --serve=70000 -o wrong ./turns
python3 -c '
import os, socket, subprocess, sys
taken = socket.socket(); taken.bind(("127.0.0.1", 0)); taken.listen()
sys.exit(subprocess.call(["bash", "-c", sys.argv[1], "x", str(taken.getsockname()[1])]))' "$(declare -f wants fail); "'wants 125 "port $1 .* in use; --serve alone" --serve=$1 -o wrong ./turns' || exit 1
wants 127 "not found" --serve -o wrong ./none
PMI_RANK=0 PMI_SIZE=2 PMI_JOBID=job wants 125 "lwp serve DIR" --serve -o wrong ./turns
exit 0
