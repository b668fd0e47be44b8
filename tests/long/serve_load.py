#!/usr/bin/python3
"""lwp serve under load: wrk, readers that check what they get, slow and silent connections and malformed requests together, while
results change. Nobody gets another result's data and no request fails. Memory is compared at rest, with no connection open and all
pages made, after half of the requests and after all of them: malloc gives 32 bytes at least, so that half of it for each request
between is what no leak of every request stays below."""
import base64, http.client, json, os, random, re, shutil, socket, subprocess, sys, threading, time, zlib
from pathlib import Path

LWP, SRC, TMP = os.environ["LWP"], Path(os.environ["SRC"]), Path(os.environ["TMP"])
RESULTS, HALF, HALF_S, LEAK_BYTES = 20, 50_000, 36, 16
over, problems, asked = threading.Event(), [], {"read": 0, "slow": 0, "malformed": 0, "changed": 0}
if not shutil.which("wrk"):
    print("wrk is not installed")
    sys.exit(77)


def check(holds, what):
    if not holds and len(problems) < 20:
        problems.append(what)
        print("FAIL:", what, flush=True)
    return holds


def write(name, version):
    """Large enough that an answer takes many writes; in each text there is the result's name."""
    analysis = json.loads((SRC / "tests/web/analysis.json").read_text())
    analysis["run"].update(command=[name, str(version)], host="elsewhere")
    analysis["objects"] = [dict(analysis["objects"][0], name=f"data of {name} {i}", fields=[]) for i in range(400)]
    (TMP / "new").write_text(json.dumps(analysis))
    os.rename(TMP / "new", TMP / "several" / name / "analysis.json")


def whole(page):
    """With what the first view does not show, which is packed."""
    pieces = re.findall(rb'<script type="text/plain" class="lwp-rest">([^<]*)<', page)
    return zlib.decompress(base64.b64decode(b"".join(pieces))) if pieces else page


def reader():
    connection = None
    while not over.is_set():
        name = f"run-{random.randrange(RESULTS)}"
        path = f"/r/{name}" + random.choice(["", ".json"])
        try:
            connection = connection or http.client.HTTPConnection(*TO, timeout=30)
            connection.request("GET", path, headers={"If-None-Match": 'W/"none"'})
            answer = connection.getresponse()
            body = answer.read()
        except OSError as error:
            check(False, f"{path}: {error}")
            connection = None
            continue
        asked["read"] += 1
        text = whole(body)
        names = set(re.findall(rb"run-\d+", body + text))
        check(answer.status == 200 and names == {name.encode()} and len(body) == int(answer.getheader("Content-Length")), f"{path}: status {answer.status}, data of {sorted(names)[:4]}, {len(body)} bytes")
        check(text.count(b"data of") == 400, f"{path}: {text.count(b'data of')} objects")


def slow():
    while not over.is_set():
        held = []
        try:
            for i in range(100):
                s = socket.create_connection(TO, timeout=30)
                s.sendall(b"GET /r/run-0 HTTP/1.1\r\nHost: localhost\r\n" + (b"\r\n" * (i % 2)))
                held.append(s)
            asked["slow"] += len(held)
            over.wait(1)
        except OSError as error:
            check(False, f"a slow connection: {error}")
        for s in held:
            s.close()


def malformed():
    shapes = [b"\0" * 300, b"GET\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 3000, b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", b"GET /r/../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
              b"GET / HTTP/1.1\r\nHost: evil\r\n\r\n", b"GET /" + b"a" * 60000]
    while not over.is_set():
        try:
            with socket.create_connection(TO, timeout=30) as s:
                s.settimeout(0.1)  # what may still become a request is waited for longer than here
                asked["malformed"] += 1
                s.sendall(random.choice(shapes))
                s.shutdown(socket.SHUT_WR)
                while part := s.recv(1 << 16):
                    check(b"root:" not in part, "a file of the system")
        except OSError:
            pass  # it may close before all is sent


def changing():
    version = 0
    while not over.is_set():
        version += 1
        write(f"run-{random.randrange(RESULTS)}", version)
        asked["changed"] += 1
        over.wait(0.2)


def connections():
    return sum(os.readlink(f).startswith("socket:") for f in Path(f"/proc/{server.pid}/fd").iterdir() if f.is_symlink())


def wrk(path):
    """Requests answered."""
    said = subprocess.run(["wrk", "-t1", "-c32", "--timeout", "30s", "-d1s", "-H", "Accept-Encoding: zstd", f"http://localhost:{TO[1]}{path}"], capture_output=True, text=True, check=True).stdout
    answered = int(re.search(r"(\d+) requests in", said)[1])
    check("Socket errors" not in said and ("Non-2xx" in said) == (path == "/nothing" and answered > 0), f"{path}: {said}")
    return answered


def load():
    """Half of the requests, all kinds of them together; how many wrk has made."""
    total, begun, before, paths = 0, time.monotonic(), asked["read"], 0
    over.clear()
    threads = [threading.Thread(target=work, daemon=True) for work in (reader, reader, reader, slow, malformed, changing)]
    for thread in threads:
        thread.start()
    while (paths < len(PATHS) or (total + asked["read"] - before < HALF and time.monotonic() - begun < HALF_S)) and not problems and server.poll() is None:
        total += wrk(PATHS[paths % len(PATHS)])
        paths += 1
    over.set()
    for thread in threads:
        thread.join(40)
        check(not thread.is_alive(), "a request is not answered")
    return total


def rest():
    """KiB of the server's own memory with no connection open and every page and text made."""
    for path in [f"/r/run-{i}{form}" for i in range(RESULTS) for form in ("", ".json")] + ["/"]:
        connection = http.client.HTTPConnection(*TO, timeout=30)
        connection.request("GET", path)
        connection.getresponse().read()
        connection.close()
    end = time.monotonic() + 20
    while connections() > alone and time.monotonic() < end:
        time.sleep(0.1)
    check(connections() == alone, f"{connections() - alone} connections are still open")
    return int(re.search(r"RssAnon:\s+(\d+)", Path(f"/proc/{server.pid}/status").read_text())[1])


for i in range(RESULTS):
    (TMP / f"several/run-{i}").mkdir(parents=True)
    write(f"run-{i}", 0)
PATHS = ("/", "/r/run-1", "/r/run-2.json", "/report.js", "/nothing")
server = subprocess.Popen([LWP, "serve", "-p", "0", str(TMP / "several")], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
TO = ("127.0.0.1", int(server.stdout.readline().strip().strip("/").rsplit(":", 1)[1]))
alone = connections()
try:
    start = rest()
    first = load()
    middle = rest()
    second = load()
    end = rest()
    print(f"{first} and {second} requests of wrk, " + ", ".join(f"{n} {kind}" for kind, n in asked.items()))
    print(f"{start} KiB before, {middle} KiB after the first half, {end} KiB at the end")
    grown = (end - middle) * 1024 / max(second, HALF)  # of fewer requests, on a busy machine, a page or two would be much for each
    check(grown < LEAK_BYTES, f"memory grew by {grown:.1f} bytes a request")
    check(server.poll() is None, f"the server ended with {server.returncode}")
finally:
    over.set()
    server.terminate()
check(server.wait(10) == 0, f"the server ends with {server.returncode}")
print(f"{len(problems)} problems")
sys.exit(1 if problems else 0)
