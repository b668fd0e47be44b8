#!/usr/bin/python3
"""lwp serve under load: wrk, readers that check what they get, slow and silent connections and malformed requests together, while
results change. Nobody gets another result's data, no request fails, and memory after 100,000 requests is what it was after
the first 10,000."""
import http.client, json, os, random, re, resource, shutil, socket, subprocess, sys, threading, time
from pathlib import Path

LWP, SRC, TMP = os.environ["LWP"], Path(os.environ["SRC"]), Path(os.environ["TMP"])
RESULTS, REQUESTS, GROWTH_KIB = 20, 100_000, 8192  # of which some connections more take 16 each
over, problems, asked = threading.Event(), [], [0] * 8
if not shutil.which("wrk"):
    print("wrk is not installed")
    sys.exit(77)


def check(holds, what):
    if not holds and len(problems) < 20:
        problems.append(what)
        print("FAIL:", what, flush=True)


def write(name, version):
    """Large enough that an answer takes many writes; in each text there is the result's name."""
    analysis = json.loads((SRC / "tests/web/analysis.json").read_text())
    analysis["run"].update(command=[name, str(version)], host="elsewhere")
    analysis["objects"] = [dict(analysis["objects"][0], name=f"data of {name} {i}", fields=[]) for i in range(400)]
    (TMP / "new").write_text(json.dumps(analysis))
    os.rename(TMP / "new", TMP / "several" / name / "analysis.json")


def reader(which):
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
        asked[which] += 1
        names = set(re.findall(rb"run-\d+", body))
        check(answer.status == 200 and names == {name.encode()} and len(body) == int(answer.getheader("Content-Length")), f"{path}: status {answer.status}, data of {sorted(names)[:4]}, {len(body)} bytes")
        check(body.count(b"data of") == 400, f"{path}: {body.count(b'data of')} objects")


def slow():
    while not over.is_set():
        held = []
        try:
            for i in range(100):
                s = socket.create_connection(TO, timeout=30)
                s.sendall(b"GET /r/run-0 HTTP/1.1\r\nHost: localhost\r\n" + (b"\r\n" * (i % 2)))
                held.append(s)
            time.sleep(1)
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
        time.sleep(0.2)


def memory():
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{server.pid}/status").read_text())[1])


def wrk(seconds):
    """Requests answered."""
    total = 0
    for path in ("/", "/r/run-1", "/r/run-2.json", "/report.js", "/nothing"):
        said = subprocess.run(["wrk", "-t1", "-c32", "--timeout", "30s", f"-d{seconds}s", "-H", "Accept-Encoding: zstd", f"http://localhost:{TO[1]}{path}"], capture_output=True, text=True, check=True).stdout
        total += int(re.search(r"(\d+) requests in", said)[1])
        check("Socket errors" not in said, f"{path}: {said}")
    return total


for i in range(RESULTS):
    (TMP / f"several/run-{i}").mkdir(parents=True)
    write(f"run-{i}", 0)
server = subprocess.Popen([LWP, "serve", "-p", "0", str(TMP / "several")], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
TO = ("127.0.0.1", int(server.stdout.readline().strip().strip("/").rsplit(":", 1)[1]))
for i in range(RESULTS):  # all pages are made, with room for a second form of each
    for path in (f"/r/run-{i}", f"/r/run-{i}.json"):
        connection = http.client.HTTPConnection(*TO, timeout=30)
        connection.request("GET", path)
        connection.getresponse().read()
threads = [threading.Thread(target=work, args=args, daemon=True) for work, args in [(reader, (i,)) for i in range(3)] + [(slow, ()), (malformed, ()), (changing, ())]]
for thread in threads:
    thread.start()
try:
    total, first = 0, None
    while total + sum(asked) < REQUESTS or first is None or total < 10 * early:
        total += wrk(2)
        if first is None:
            first, early = memory(), total + sum(asked)
        if problems or server.poll() is not None:
            break
    over.set()
    for thread in threads:
        thread.join(40)
    check(server.poll() is None, f"the server ended with {server.returncode}")
    last = memory()
    print(f"{total + sum(asked)} requests, {sum(asked)} of them read and compared; {first} KiB after {early} of them, {last} KiB at the end")
    check(last - first < GROWTH_KIB, f"memory grew by {last - first} KiB")
finally:
    over.set()
    server.terminate()
check(server.wait(10) == 0, f"the server ends with {server.returncode}")
print(f"{len(problems)} problems")
sys.exit(1 if problems else 0)
