#!/bin/sh
# lwp serve and lwp export from outside: routes, what must not be answered, wrong use, ending.
set -u
fail() { echo "FAIL: $*"; exit 1; }
cd "$TMP" || exit 1
server=
trap '[ -z "$server" ] || kill "$server"' EXIT

root=--root=$SRC/tests/web
sample() { mkdir -p "$1" && sed "s|\"/nowhere\"|\"$SRC/tests/web\"|" "$SRC/tests/web/analysis.json" > "$1/analysis.json"; }
sample one
mkdir several && sample "several/a run" && sample "several/b" && mkdir several/empty several/not-analysed
echo '{"schema": "lwp-run", "version": "1.0"}' > several/not-analysed/run.json
echo secret > secret.txt

start() { # arguments of serve; leaves $server and $url
    : > url
    "$LWP" serve "$root" "$@" > url 2> serve.err &
    server=$!
    for _ in $(seq 100); do [ -s url ] && break; sleep 0.1; done
    url=$(head -n 1 url)
    [ -n "$url" ] || { cat serve.err; fail "serve $* does not say its address"; }
}
stop() { # signal
    kill -s "$1" "$server"; wait "$server"; status=$?; server=
    [ $status = 0 ] || fail "SIG$1 ends serve with status $status"
}

cat > ask.py <<'P'
import http.client, json, socket, sys
host, port = sys.argv[1].split("//")[1].strip("/").rsplit(":", 1)
several = sys.argv[2] == "several"
failed = 0
def check(holds, what):
    global failed
    if not holds:
        failed = 1
        print("FAIL:", what)
def ask(path, method="GET", headers=None, body=None):
    c = http.client.HTTPConnection(host, int(port), timeout=20)
    c.putrequest(method, path, skip_host="Host" in (headers or {}), skip_accept_encoding="Accept-Encoding" in (headers or {}))
    for name, value in (headers or {}).items():
        c.putheader(name, value)
    if body:
        c.putheader("Content-Length", str(len(body)))
    c.endheaders(body)
    r = c.getresponse()
    return r, r.read()

pages = {"/": "text/html", "/report.css": "text/css", "/report.js": "text/javascript"}
pages.update({"/r/a%20run": "text/html", "/r/b": "text/html", "/r/b.json": "application/json"} if several else {"/analysis.json": "application/json"})
for path, kind in pages.items():
    r, body = ask(path)
    check(r.status == 200 and r.getheader("Content-Type").startswith(kind), f"{path}: {r.status} {r.getheader('Content-Type')}")
    policy = r.getheader("Content-Security-Policy") or ""
    check("default-src 'none'" in policy and "unsafe" not in policy, f"{path}: policy {policy}")
    check(r.getheader("X-Content-Type-Options") == "nosniff", f"{path}: no nosniff")
    check(len(body) > 500, f"{path}: only {len(body)} bytes")
    check(r.getheader("Access-Control-Allow-Origin") is None, f"{path}: other sites may read it")
    h, nothing = ask(path, "HEAD")
    check(h.status == 200 and nothing == b"" and h.getheader("Content-Length") == str(len(body)), f"HEAD {path}: {h.status}, {h.getheader('Content-Length')} bytes")
body = ask("/r/b" if several else "/")[1].decode()
check("<style" not in body and "onclick" not in body and body.count("<script") == 2, "the served page has inline style or script")
check("struct particle_mass" in body and "sum += all[i].mass" in body, "the page lacks the result or the source")
data = json.loads(ask("/r/b.json" if several else "/analysis.json")[1])
check(data["schema"] == "lwp-analysis", "the JSON is another")

# the same content is not sent twice; packed it is the same
import subprocess
for path in ("/", "/report.js"):
    r, body = ask(path)
    tag = r.getheader("ETag")
    again, nothing = ask(path, headers={"If-None-Match": tag})
    check(again.status == 304 and nothing == b"" and again.getheader("ETag") == tag, f"{path}: {again.status} for its own tag {tag}")
    check(ask(path, headers={"If-None-Match": 'W/"other"'})[0].status == 200, f"{path}: not sent for another tag")
    packed, bytes_ = ask(path, headers={"Accept-Encoding": "gzip, deflate, br, zstd"})
    check(packed.getheader("Content-Encoding") == "zstd" and len(bytes_) < len(body) / 2, f"{path}: {packed.getheader('Content-Encoding')} {len(bytes_)} of {len(body)} bytes")
    check(subprocess.run(["zstd", "-dcq"], input=bytes_, capture_output=True).stdout == body, f"{path}: packed it is another")
    check(r.getheader("Content-Encoding") is None and r.getheader("Cache-Control") == "no-cache", f"{path}: {r.getheader('Cache-Control')}")

for path in ["/nope", "/secret.txt", "/secret.txt%00", "/../secret.txt", "/..%2fsecret.txt", "/%2e%2e/secret.txt", "/r/../secret.txt", "/r/..", "/r/.", "/r/", "/r/b/../../../secret.txt", "/r/b/analysis.json",
             "/r/empty", "//etc/passwd", "/etc/passwd", "/r//etc/passwd", "/r/%2fetc%2fpasswd", "/report.js/", "/index.html", "/favicon.ico", "/" + "a" * 5000,
             "/particles.c", "/r/b.html", "/?x", "/%", "/%zz"]:
    r, body = ask(path)
    check(r.status == (200 if path in ("/?x",) else 404), f"{path[:60]}: status {r.status}")
    check(b"secret" not in body.replace(b"\"secret\"", b"") and b"root:" not in body, f"{path[:60]}: leaks a file")
for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "BREW"):
    r, body = ask("/", method)
    check(r.status == 405 and r.getheader("Allow") == "GET, HEAD", f"{method}: {r.status}")
r, _ = ask("/", "POST", body=b"x" * 100000)
check(r.status == 405, f"POST with a body: {r.status}")
for name, status in {"localhost": 200, "127.0.0.1": 200, "localhost:9999": 200, "[::1]:80": 200, "evil.example": 403, "127.0.0.1.evil.example": 403, "localhost.evil:80": 403, "": 403, "[::1": 403}.items():
    r, _ = ask("/report.css", headers={"Host": name})
    check(r.status == status, f"Host {name!r}: {r.status}, not {status}")
for raw in (b"GET / HTTP/1.1\r\n\r\n", b"\0\1\2\r\n\r\n", b"GET\r\n\r\n", b"GET /" + b"a" * 200000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 200000 + b"\r\n\r\n"):
    s = socket.create_connection((host, int(port)), timeout=2)  # the server may rather wait for more
    try:
        s.sendall(raw)
        s.shutdown(socket.SHUT_WR)
        while s.recv(65536):
            pass
    except OSError:
        pass
    s.close()
check(ask("/")[0].status == 200, "bad requests end the server")
sys.exit(failed)
P
asked() { python3 ask.py "$url" "$1" || fail "see above ($1)"; }

start -p 0 one
case $url in http://127.0.0.1:*/) ;; *) fail "the address is $url" ;; esac
[ "$(wc -l < url)" = 1 ] || fail "more than the address on stdout"
asked one
port=${url##*:} port=${port%/}
"$LWP" serve -p "$port" one > again 2>&1; status=$?
[ $status = 1 ] || fail "port in use: status $status"
[ "$(wc -l < again)" = 1 ] && grep -q "port $port .* in use.*-p" again || { cat again; fail "port in use: not one sentence that names -p"; }
# a result that changes is seen
python3 - <<'P'
import json
a = json.load(open("one/analysis.json")); a["run"]["host"] = "another-host"; json.dump(a, open("one/new", "w"))
import os; os.rename("one/new", "one/analysis.json")
P
python3 -c "import sys, urllib.request as u; sys.exit(b'another-host' not in u.urlopen(sys.argv[1]).read())" "$url" || fail "a changed result is not seen"
echo '{' > one/analysis.json
python3 - "$url" <<'P' || fail "a damaged result is not told"
import sys, urllib.request, urllib.error
try: urllib.request.urlopen(sys.argv[1]); sys.exit(1)
except urllib.error.HTTPError as e: text = e.read(); sys.exit(not (e.code == 500 and b"damaged" in text and b"lwp analyze --force" in text))
P
stop INT
sample one

start --port=0 several/
asked several
sample several/later
python3 -c "import sys, urllib.request as u; sys.exit(b'later' not in u.urlopen(sys.argv[1]).read())" "$url" || fail "a result that comes later is not in the index"
rm -r several/later
stop TERM
start -p 0 --bind ::1 one 2> /dev/null || true
case $url in "http://[::1]:"*) ;; *) fail "the address is $url" ;; esac
stop INT
mkdir templates && cp "$SRC"/templates/* templates/
start -p 0 --templates templates one
sed 's|</footer>|edited in place</footer>|' "$SRC/templates/report.html" > templates/report.html
python3 -c "import sys, urllib.request as u; sys.exit(b'edited in place' not in u.urlopen(sys.argv[1]).read())" "$url" || fail "--templates are not read anew"
stop INT

one() { # status, words expected, command...
    want=$1 words=$2; shift 2
    "$@" > one.out 2>&1; got=$?
    [ $got = "$want" ] || { cat one.out; fail "$*: status $got, not $want"; }
    [ "$(wc -l < one.out)" = 1 ] || { cat one.out; fail "$*: not one line"; }
    grep -q -e "$words" one.out || { cat one.out; fail "$*: does not say '$words'"; }
}
mkdir nothing damaged newer foreign
echo '{"schema": "lwp-analysis", "version": "2.0"}' > newer/analysis.json
echo '{"schema": "other"}' > foreign/analysis.json
head -c 500 one/analysis.json > damaged/analysis.json
for command in serve export; do
    one 125 "lwp $command DIR" "$LWP" $command
    one 125 "lwp $command DIR" "$LWP" $command one one
    one 125 "unknown option" "$LWP" $command --nope one
    one 1 "nowhere" "$LWP" $command nowhere
    one 1 "is a file" "$LWP" $command secret.txt
    one 1 "lwp collect" "$LWP" $command nothing
    one 1 "missing/report.html" "$LWP" $command "$root" --templates missing one
done
one 125 "port" "$LWP" serve -p 70000 one
one 1 "--bind" "$LWP" serve -p 0 --bind no.such.host.invalid one
one 1 "cannot listen" "$LWP" serve -p 0 --bind 192.0.2.1 one
one 1 "damaged" "$LWP" export damaged
one 1 "version 2.0" "$LWP" export newer
one 1 "no analysis of lwp" "$LWP" export foreign
one 125 "source" "$LWP" export --source=some one
one 125 "export --diff BEFORE AFTER" "$LWP" export --diff one
one 1 "compared" sh -c "'$LWP' export --diff one nowhere 2>&1 | tail -n 1; exit 1"
[ ! -e damaged.html ] && [ ! -e nothing.html ] || fail "a failed export leaves a file"

one 0 "one.html" "$LWP" export "$root" one/
[ -s one.html ] || fail "export did not write one.html"
[ "$(wc -c < one.html)" -lt 262144 ] || fail "the export of a small result is large"
one 0 "one.html" "$LWP" export "$root" one
echo mine > mine.html
one 1 "--force" "$LWP" export "$root" -o mine.html one
[ "$(cat mine.html)" = mine ] || fail "export ran over a file that is not its own"
one 0 "mine.html" "$LWP" export "$root" -o mine.html --force one
one 1 "is a folder" "$LWP" export "$root" -o several one
one 1 "cannot write" "$LWP" export "$root" -o nowhere/x.html one
(ulimit -f 8; trap '' XFSZ; "$LWP" export "$root" -o cut.html one) > cut.out 2>&1 && fail "a full disk goes unnoticed"
grep -q "cannot write cut.html" cut.out || { cat cut.out; fail "a full disk is not told"; }
ls cut.html* > left 2> /dev/null && fail "a full disk leaves $(cat left)"
"$LWP" export "$root" -o - one | cmp - one.html || fail "-o - differs from the file"
"$LWP" export -o /dev/null one 2> /dev/null && [ -c /dev/null ] || fail "-o /dev/null"
(cd one && "$LWP" export "$root" . 2> /dev/null && [ -s one.html ]) || fail "export ."
grep -q "root:x:" one.html && fail "/etc/passwd is in the page"
"$LWP" export --source=none -o - one | grep -q "all\[i\].mass" && fail "--source=none has source"
"$LWP" export "$root" --source=all -o - one | grep -q "all\[i\].mass" || fail "--source=all has no source"
"$LWP" export --source=all -o - one 2> warned | grep -q "all\[i\].mass" && fail "source of a result that was not made here"
grep -q "not made here.*--root" warned || { cat warned; fail "no warning of a result that was not made here"; }
ls ./*.tmp > left 2> /dev/null && fail "left behind: $(cat left)"
exit 0
