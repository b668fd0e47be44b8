"""Runs a program alone and with lwp, in folders of the same name, and compares what it left: standard output and error, exit
status, files. A case is a row of docs/faults.md; short.py and programs.py list them.

lwp's own lines ("lwp: ...") on standard error are not the program's. With lwp the program must also have been recorded, unless
the case says that it cannot be."""
import collections, concurrent.futures, hashlib, os, pty, re, select, shutil, signal, stat, subprocess, sys, threading, time
from dataclasses import dataclass, field
from typing import Callable, Optional

SRC, LWP, TMP = os.environ["SRC"], os.environ["LWP"], os.environ["TMP"]
PROGRAMS = os.path.join(TMP, "programs")
PROMPT = r"\$ "
LIGHT = ("-F", "2000", "--max-overhead", "25")


@dataclass
class Case:
    name: str
    command: list
    needs: tuple = ()  # programs, libraries ("lib..."), files ("/..."), "root", what has to be set ("LWP_...")
    builds: tuple = ()  # (file, shell command that makes it): once, in PROGRAMS; failing, the case is skipped
    shell: str = ""  # sh that starts it: ulimit, redirections; "$@" is the program
    engines: tuple = ("light",)
    samples: int = 1  # at least; 0: it is only to be recorded; -1: not even that
    says: str = ""  # a pattern that must be in lwp's lines or in the notes of the result
    refuses: str = ""  # lwp does not run it, and says so
    keys: tuple = ()  # (what the terminal shows last, text typed then): a terminal whose shell runs the program
    during: Optional[Callable] = None  # (lwp's process, its result) while it runs
    status: Optional[int] = None  # with lwp, where it is not the program's
    keep: Optional[Callable] = None  # what of an output is to be compared; default: all of it
    timeout: int = 60


class Skip(Exception):
    pass


class Failure(Exception):
    pass


@dataclass
class Left:
    """What a run left."""
    status: int
    output: str
    error: str
    said: str  # lwp's lines
    files: dict
    seconds: float


# ---- a run ----

def files_of(folder):
    left = {}
    for path, folders, names in os.walk(folder):
        for name in folders + names:
            full = os.path.join(path, name)
            info = os.lstat(full)
            content = b""
            if stat.S_ISREG(info.st_mode) and not re.fullmatch(r"core(\.\d+)?", name):  # addresses, numbers of processes
                with open(full, "rb") as file:
                    content = file.read()
            left[os.path.relpath(full, folder)] = "%o %s" % (info.st_mode, hashlib.sha1(content).hexdigest()[:10])
    return left


def wait_for(process, seconds):
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        raise Failure("longer than %d s" % seconds)
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except OSError:
            pass
        process.wait()


def run_plainly(case, command, folder, place, result):
    paths = [os.path.join(place, name) for name in ("output", "error")]
    with open(paths[0], "wb") as output, open(paths[1], "wb") as error:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=error, start_new_session=True)
        if case.during:
            case.during(process, result)
        status = wait_for(process, case.timeout)
    return status if status >= 0 else 128 - status, *(open(path, errors="replace").read() for path in paths)


def terminal_read(terminal, awaited):
    """What it shows until that ends in what is awaited, at most 20 s."""
    text, end = "", time.monotonic() + 20
    while not re.search(awaited + r"\Z", text) and select.select([terminal], [], [], max(0, end - time.monotonic()))[0]:
        try:
            some = os.read(terminal, 65536)
        except OSError:
            break
        if not some:
            break
        text += some.decode(errors="replace")
    return text


def run_at_terminal(case, command, folder):
    """By a shell with job control, as "./job"; what the terminal showed is the output."""
    job = os.path.join(os.path.dirname(folder), "job")
    with open(job, "w") as script:
        script.write("#!/bin/sh\nexec \"$@\"\n".replace("\"$@\"", " ".join("'%s'" % word for word in command)))
    os.chmod(job, 0o755)
    shell, terminal = pty.fork()
    if shell == 0:
        os.chdir(folder)
        os.environ.update(PS1="$ ", TERM="dumb", HISTFILE="")
        os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
    shown = ""
    for awaited, text in ((PROMPT, "../job\n"),) + case.keys + ((PROMPT, "echo status $?\n"),):
        shown += terminal_read(terminal, awaited)
        os.write(terminal, text.encode())
    shown += terminal_read(terminal, PROMPT)
    os.close(terminal)
    os.kill(shell, signal.SIGKILL)
    os.waitpid(shell, 0)
    os.unlink(job)
    shown = re.sub(r"(?:sealing [^\r\n\x1b]*)?\r?\x1b\[K", "", shown)
    return 0, re.sub(r"lwp: [^\r\n]*\r\n", "", shown), ""


def run(case, before, place, result):
    folder = os.path.join(place, "run")
    os.makedirs(folder)
    os.chmod(folder, 0o777)
    command = before + list(case.command)
    if case.shell:
        command = ["/bin/sh", "-c", case.shell, "sh"] + command
    start = time.monotonic()
    status, output, error = run_at_terminal(case, command, folder) if case.keys else run_plainly(case, command, folder, place, result)
    took = time.monotonic() - start
    lines = error.splitlines(keepends=True)
    said = "".join(line for line in lines if line.startswith("lwp: "))
    error = "".join(line for line in lines if not line.startswith("lwp: "))
    keep = case.keep or (lambda text: text)
    left = Left(status, keep(output), keep(error), said, files_of(folder), took)
    shutil.rmtree(folder, ignore_errors=True)
    return left


# ---- what is asked of it ----

def compare(alone, beside, case):
    wrong = ["another %s\n--- alone\n%s\n--- with lwp\n%s" % (what, getattr(alone, what), getattr(beside, what))
             for what in ("output", "error", "files") if getattr(alone, what) != getattr(beside, what)]
    status = alone.status if case.status is None else case.status
    if beside.status != status:
        wrong.append("status %d instead of %d" % (beside.status, status))
    if wrong:
        raise Failure("\n".join(wrong + [beside.said]))


def largest(image):
    return max((os.path.getsize(os.path.join(image, name)) for name in os.listdir(image)), default=0)


def samples_of(case, result, beside):
    """How many there are; of many processes and threads only those with the largest files are looked at."""
    names = os.listdir(result) if os.path.isdir(result) else []
    images = sorted((os.path.join(result, name) for name in names if re.match(r"p\d", name)), key=largest, reverse=True)
    if not images and case.samples >= 0:
        raise Failure("nothing was recorded\n" + beside.said)
    notes, samples = "", 0
    for image in images[:20]:
        for name in sorted((os.path.join(image, name) for name in os.listdir(image)), key=os.path.getsize, reverse=True)[:20]:
            dump = subprocess.run([LWP, "dump", name], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            complaint = dump.stderr.decode(errors="replace")
            if dump.returncode < 0 or re.search(r"[1-9]\d* damaged", complaint):
                raise Failure("%s cannot be read: %s" % (name, complaint))
            lines = dump.stdout.decode(errors="replace").splitlines()
            samples += sum(line.startswith("sample") for line in lines)
            notes += "".join(line + "\n" for line in lines if line.startswith("note"))
    if case.says and not re.search(case.says, notes + beside.said):
        raise Failure("nothing says '%s' but:\n%s%s" % (case.says, notes, beside.said))
    if samples < case.samples:
        raise Failure("only %d samples\n%s%s" % (samples, notes, beside.said))
    return samples


def available(need):
    if need == "root":
        return os.geteuid() == 0
    if need.startswith("/"):
        return os.access(need, os.W_OK)
    if need.startswith("LWP_"):
        return need in os.environ
    if need.startswith("lib"):
        return subprocess.run("ldconfig -p | grep -q '^[[:space:]]*%s'" % re.escape(need), shell=True).returncode == 0
    return shutil.which(need) is not None


building = threading.Lock()


def prepare(case):
    for need in case.needs:
        if not available(need):
            raise Skip("needs root" if need == "root" else "no %s here" % need)
    with building:
        for name, command in case.builds:
            if os.path.exists(os.path.join(PROGRAMS, name)):
                continue
            made = subprocess.run(["/bin/sh", "-c", command], cwd=PROGRAMS, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if made.returncode:
                raise Skip("%s cannot be built: %s" % (name, (made.stdout.decode(errors="replace").strip().splitlines() or ["?"])[-1]))


def check(case):
    """Returns a line that says how it went."""
    prepare(case)
    place = os.path.join(TMP, case.name)
    os.makedirs(place)
    os.chmod(place, 0o777)
    alone = run(case, [], place, None) if not case.refuses else None
    told = "alone %.1f s" % alone.seconds if alone else "refused"
    for engine in case.engines:
        result = os.path.join(place, "result-" + engine)
        options = ["-e", "exact"] if engine == "exact" else LIGHT
        beside = run(case, [LWP, "collect", "-q", "--no-analyze", *options, "-o", result, "--"], place, result)
        if case.refuses:
            if beside.status != 125 or beside.output or not re.search(case.refuses, beside.said) or beside.said.count("\n") != 1:
                raise Failure("status %d, '%s'" % (beside.status, beside.said))
        else:
            compare(alone, beside, case)
            told += ", %s %.1f s, status %d, %d samples" % (engine, beside.seconds, beside.status, samples_of(case, result, beside))
    subprocess.run(["chmod", "-R", "u+rwx", place])
    shutil.rmtree(place, ignore_errors=True)
    return told


def outcome(case):
    try:
        return "ok", "%s: %s" % (case.name, check(case))
    except Skip as why:
        return "skip", "%s: %s" % (case.name, why)
    except Failure as why:
        return "FAIL", "%s: %s" % (case.name, why)


def not_in_the_table(cases):
    with open(os.path.join(SRC, "docs", "faults.md")) as file:
        names = set(re.findall(r"[\w.]+", file.read()))
    return [case.name for case in cases if re.sub("^exact\\.", "", case.name) not in names]


def main(cases):
    """All cases, or those named as arguments. Leaves with 77 when nothing could be looked at."""
    if not_in_the_table(cases):
        print("not in docs/faults.md:", *not_in_the_table(cases))
        return 1
    chosen = [case for case in cases if not sys.argv[1:] or case.name in sys.argv[1:]]
    os.makedirs(PROGRAMS, exist_ok=True)
    os.chmod(TMP, 0o755)
    told = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as beside:
        for word, text in beside.map(outcome, chosen):
            told[word] += 1
            print("%-5s %s" % (word, text), flush=True)
    print("%d held, %d did not, %d could not be looked at" % (told["ok"], told["FAIL"], told["skip"]))
    return 1 if told["FAIL"] else 0 if told["ok"] else 77
