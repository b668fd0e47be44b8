#!/usr/bin/python3
"""lwp serve against those who mean it ill: other hosts' names and pages, guessed addresses, malformed requests, thousands of
silent and slow connections, links that lead out of the results, results that name other people's files. Raw sockets."""
import json, os, re, resource, socket, subprocess, sys, time
from pathlib import Path

LWP, SRC, TMP = os.environ["LWP"], Path(os.environ["SRC"]), Path(os.environ["TMP"])
problems, running = [], []
IDLE, SLOW, DEAF = 1000, 50, 20


def check(holds, what):
    if not holds:
        problems.append(what)
        print("FAIL:", what, flush=True)


def result(path, **run):
    """A result folder with the sample analysis, as from elsewhere."""
    analysis = json.loads((SRC / "tests/web/analysis.json").read_text())
    analysis["run"].update({"cwd": str(SRC / "tests/web"), "host": os.uname().nodename} | run)
    path.mkdir(parents=True)
    (path / "analysis.json").write_text(json.dumps(analysis))
    return analysis


def serve(folder, *options, cwd=TMP):
    """(address, first part of the path, process, its stderr)"""
    errors = open(TMP / "serve.err", "w+")
    server = subprocess.Popen([LWP, "serve", "-p", "0", *options, str(folder)], stdout=subprocess.PIPE, stderr=errors, text=True, cwd=cwd)
    running.append(server)
    url = server.stdout.readline().strip()
    host, port, prefix = re.fullmatch(r"http://([^/:]+|\[[^]]*\]):(\d+)(/.*)", url).groups()
    return ("127.0.0.1" if host == "localhost" else host.strip("[]"), int(port)), prefix, server, errors


def stop(server):
    server.terminate()
    check(server.wait(10) == 0, f"the server ends with {server.returncode}")


def talk(to, sent, seconds=10, ends=True):
    """All that comes back for these bytes until the server closes or falls silent; `ends`: it is told that no more comes."""
    got = b""
    with socket.create_connection(to, timeout=seconds) as s:
        try:
            s.sendall(sent)
            if ends:
                s.shutdown(socket.SHUT_WR)
            while part := s.recv(1 << 16):
                got += part
        except OSError:
            pass
    return got


def ask(to, path="/", method="GET", host="localhost", more=()):
    """(status or 0, body)"""
    lines = [f"{method} {path} HTTP/1.1", *([f"Host: {host}"] if host is not None else []), *more, "Connection: close", "", ""]
    head, _, body = talk(to, "\r\n".join(lines).encode()).partition(b"\r\n\r\n")
    status = re.match(rb"HTTP/1\.[01] (\d{3}) ", head)
    return int(status[1]) if status else 0, body


def who_may_ask(to):
    for host, status in {"localhost": 200, "127.0.0.1:80": 200, "LOCALHOST": 200, "[::1]": 200, "evil.example": 403, "localhost.evil.example": 403, "127.0.0.1.nip.io": 403,
                         "127.0.0.2": 403, "0.0.0.0": 403, "2130706433": 403, "localhost@evil.example": 403, "": 403, None: 400}.items():
        check(ask(to, host=host)[0] == status, f"Host {host!r}: {ask(to, host=host)[0]}, not {status}")
    for origin, status in {"http://localhost": 200, "http://LOCALHOST": 200, "http://evil.example": 403, "null": 403, "https://localhost": 403, "http://localhost.evil.example": 403,
                           "http://localhost:1": 403, "": 403}.items():
        check(ask(to, more=[f"Origin: {origin}"])[0] == status, f"Origin {origin!r}: not {status}")
    check(b"access-control" not in talk(to, b"OPTIONS / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\nAccess-Control-Request-Method: GET\r\n\r\n").lower(), "other pages are allowed")


def guessed(folder):
    secrets = set()
    for bind in ("0.0.0.0", "0.0.0.0"):
        to, prefix, server, errors = serve(folder, "--bind", bind)
        secret = prefix.strip("/")
        secrets.add(secret)
        check(re.fullmatch("[0-9a-f]{32}", secret), f"--bind {bind}: the address has '{prefix}'")
        wrong = secret[:-1] + ("0" if secret[-1] != "0" else "1")
        for path in ("/", "/report.css", "/analysis.json", "/" + wrong + "/", "/" + secret[:8] + "/", "/" + secret, "/" + secret.upper() + "x/", "//" + secret + "/", "/" + secret + "x/", "/x/../" + secret + "/"):
            check(ask(to, path, host="any.example")[0] == 404, f"{path.replace(secret, 'SECRET')} is answered without the secret")
        page = ask(to, prefix, host="any.example")[1]
        check(b"struct particle_mass" in page, "the report is not at the address that is printed")
        for link in re.findall(rb'(?:href|src)="([^"#:]+)"', page):
            check(not link.startswith(b"/") and ask(to, prefix + link.decode())[0] == 200, f"the page needs {link}, which is not there")
        errors.seek(0)
        check("other machines" in errors.read(), "no word that others can reach it")
        stop(server)
    check(len(secrets) == 2, "two servers have one secret")


def malformed(to):
    good = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
    for name, sent in {
        "nothing": b"", "NULs": b"\0" * 5000, "no version": b"GET /\r\n\r\n", "a version of its own": b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n", "two Hosts": good + b"Host: evil.example\r\n\r\n",
        "a long URL": b"GET /" + b"a" * (1 << 20) + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", "a long header": good + b"X: " + b"y" * (1 << 20) + b"\r\n\r\n", "many headers": good + b"X: y\r\n" * 100000 + b"\r\n",
        "a long method": b"A" * 100000 + b" / HTTP/1.1\r\nHost: localhost\r\n\r\n", "a negative length": good + b"Content-Length: -1\r\n\r\nx", "two lengths": good + b"Content-Length: 3\r\nContent-Length: 30\r\n\r\nabc",
        "a huge length": good + b"Content-Length: 99999999999999999999\r\n\r\n", "bad chunks": good.replace(b"GET", b"POST") + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n", "folded": good + b" folded\r\n\r\n", "a NUL in a name": good + b"X\0Y: z\r\n\r\n",
        "bare CRs": b"GET / HTTP/1.1\rHost: localhost\r\r", "an upgrade": good + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n", "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x55" * 500, "a proxy's": b"CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "a range": good + b"Range: bytes=0-1,2-3,-1\r\n\r\n", "a whole URL": b"GET http://evil.example/../secret.txt HTTP/1.1\r\nHost: localhost\r\n\r\n",
    }.items():
        got = talk(to, sent, 1)
        check(b"secret" not in got.split(b"\r\n\r\n")[0] and b"root:" not in got, f"{name}: leaks")
        check(ask(to)[0] == 200, f"after {name} nothing is answered any more")
    for path in ("../secret.txt", "/../secret.txt", "/%2e%2e/secret.txt", "/..%2f..%2fetc/passwd", "/r/%2e%2e", "/r/../..", "/\\..\\secret.txt", "/report.css%00.js", "/%00", "/r/b%2fanalysis.json", "/r/b/run.json", "/progress/../b"):
        status, body = ask(to, path)
        check(status in (0, 400, 404) and b"root:" not in body and b"only for me" not in body, f"{path}: {status}")
    got = talk(to, (good + b"\r\n") * 20 + good + b"Connection: close\r\n\r\n", 20, ends=False)
    check(got.count(b"HTTP/1.1 200") == 21, f"21 requests in one piece have {got.count(b'HTTP/1.1 200')} answers")


def crowded(to):
    """Connections that say nothing, those that say a byte now and then, those that never read the answer: others are served."""
    held = []
    try:
        for i in range(IDLE):
            held.append(socket.create_connection(to, timeout=20))
        for i in range(SLOW):
            held.append(socket.create_connection(to, timeout=20))
            held[-1].sendall(b"GET / HT")
        for i in range(DEAF):
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.connect(to)
            s.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 50)
            held.append(s)
        for _ in range(5):
            for s in held[IDLE:IDLE + SLOW]:
                s.sendall(b"T")
            start = time.monotonic()
            check(ask(to)[0] == 200, "among a thousand silent connections nothing is answered")
            check(time.monotonic() - start < 5, "among a thousand silent connections an answer takes 5 s")
    except OSError as error:
        check(False, f"connection {len(held)}: {error}")
    finally:
        for s in held:
            s.close()


def links(folder, to, errors):
    """Only what is below the folder is a result, however it is linked."""
    for path, status in {"/r/b": 200, "/r/latest": 200, "/r/outside": 404, "/r/outside.json": 404, "/r/within/../outside": 404, "/r/linked": 404, "/r/linked.json": 404, "/r/tricked": 200}.items():
        got, body = ask(to, path)
        check(got == status, f"{path}: {got}, not {status}")
        check(b"only for me" not in body, f"{path}: shows what is not below the folder")
    names = [r["name"] for r in json.loads(re.search(rb'id="lwp-data"[^>]*>(.*?)</script>', ask(to)[1], re.S)[1])["results"]]
    check("latest" in names and "outside" not in names, f"the index lists {names}")


def sources(folder, private):
    """Source is read below the folders that lwp collect noted; of what it did not write here, wherever that says, none."""
    def shown(result, *options):
        told = subprocess.run([LWP, "export", "-o", "-", *options, str(result)], cwd=private, capture_output=True)
        check(told.returncode == 0, told.stderr)
        return told.stdout, b"not made here" in told.stderr

    def note(result, after_s=0, **run):
        """As lwp collect would have written it, `after_s` later."""
        (result / "run.json").unlink(missing_ok=True)
        (result / "run.json").write_text(json.dumps({"schema": "lwp-run", "version": "1.0", "written_s": int(time.time()) + after_s} | run))
        os.utime(result / "analysis.json")

    def look(what, wanted, warned, *options):
        page, says = shown(folder / "r", *options)
        check((b"sum += all[i].mass" in page) == ("source" in wanted), f"{what}: source is {'not ' if 'source' in wanted else ''}shown")
        check((b"only for me" in page) == ("mine" in wanted), f"{what}: the private file is {'not ' if 'mine' in wanted else ''}shown")
        check(says == warned, f"{what}: {'a' if says else 'no'} warning")

    web, host = SRC / "tests/web", os.uname().nodename
    analysis = result(folder / "r", host=host)
    analysis["loops"][1]["file"] = str(private / "mine.c")
    analysis["loops"][2]["file"] = str(private / "link.c")
    analysis["loops"][4]["file"] = str(web / ".." / ".." / ".." / ".." / str(private / "mine.c").lstrip("/"))
    (folder / "r/analysis.json").write_text(json.dumps(analysis))
    (private / "link.c").symlink_to(private / "mine.c")
    look("no run.json", "", True)
    look("no run.json, --root", "source", False, "--root", str(web))
    note(folder / "r", source_roots=[str(web)])
    look("its own", "source", False)
    look("its own, --root", "source mine", False, "--root", str(private))
    note(folder / "r", source_roots=[str(web / "nothing"), str(web)[:-1], "", 7, None, "web", str(folder)])
    look("other roots", "", False)
    for seconds in (-3600, 3600, 1 << 62):
        note(folder / "r", seconds, source_roots=["/"], host=host)
        look(f"written {seconds} s later", "", True)
    note(folder / "r", source_roots=["/"], written_s=None)
    look("written it does not say when", "", True)
    note(folder / "r", source_roots=["/"])
    if os.geteuid() == 0:
        os.chown(folder / "r/run.json", 65534, -1)
        look("another user's", "", True)
    # merged of one made here and one that was not; of those made here; of one that claims to be merged of ours
    for name, seconds in (("ours", 0), ("theirs", -3600)):
        result(folder / name)
        note(folder / name, seconds, source_roots=[str(web)])
    for names, seconds, wanted in ((["ours"], 0, "source"), (["ours", "theirs"], 0, ""), (["ours"], -3600, ""), (["ours", "gone"], 0, "")):
        note(folder / "r", seconds, merged=[str(folder / name) for name in names])
        look(f"merged of {names}", wanted, not wanted)


def main():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard < IDLE + SLOW + DEAF + 200:
        print(f"only {hard} files may be open here")
        return 77
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    folder, private = TMP / "several", TMP / "private"
    result(folder / "b")
    (folder / "latest").symlink_to("b")
    result(private / "result", cwd="/only for me")
    (private / "mine.c").write_text("/* only for me */\n" * 40)
    (private / "notes.txt").write_text("only for me\n" * 40)
    (folder / "outside").symlink_to(private / "result")
    (folder / "linked").mkdir()
    (folder / "linked/analysis.json").symlink_to(private / "result/analysis.json")
    analysis = result(folder / "tricked")
    analysis["loops"][0]["file"] = str(folder / "tricked/x.c")
    (folder / "tricked/analysis.json").write_text(json.dumps(analysis))
    (folder / "tricked/x.c").symlink_to(private / "notes.txt")
    (TMP / "secret.txt").write_text("only for me\n")

    (TMP / "elsewhere").mkdir()
    to, prefix, server, errors = serve(folder, "--root", "/", cwd=TMP / "elsewhere")
    check(prefix == "/" and to[0] == "127.0.0.1", f"by default it listens on {to[0]} at {prefix}")
    who_may_ask(to)
    links(folder, to, errors)
    check(b"sum += all[i].mass" in ask(to, "/r/b")[1], "no source of what is below --root")
    sources(TMP / "merged", private)
    malformed(to)
    crowded(to)
    check(ask(to)[0] == 200, "at the end nothing is answered")
    stop(server)
    guessed(folder / "b")


try:
    status = main()
finally:
    for server in running:
        if server.poll() is None:
            server.kill()
print(f"{len(problems)} problems")
sys.exit(status or (1 if problems else 0))
