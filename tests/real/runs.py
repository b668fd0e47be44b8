"""Gets, builds and runs one program of the corpus: alone, sampled, with the control for allocation paths, and traced."""
import glob
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LONGEST_S = 400 # of a run, by the clock


class Skip(Exception):
    """The program cannot be had here; the sentence is the reason."""


class Late(Exception):
    """The time given is over; what was done is kept."""


def ended(command, seconds, **how):
    """A recipe's step when it is over; None: it took longer, and is killed with all that it started."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, **how)
    try:
        output, errors = process.communicate(timeout=seconds)
    except (subprocess.TimeoutExpired, KeyboardInterrupt) as reason:
        os.killpg(process.pid, signal.SIGTERM) # make removes what it has made half
        try:
            process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        if isinstance(reason, KeyboardInterrupt):
            raise
        return None
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


class Program:
    def __init__(self, name, scratch, lwp, late_at, apt):
        self.name, self.lwp, self.late_at, self.apt = name, lwp, late_at, apt
        self.folder = os.path.join(scratch, name)
        self.tree = os.path.join(self.folder, "source")
        os.makedirs(self.folder, exist_ok=True)
        self.state_file = os.path.join(self.folder, "state.json")
        self.state = json.load(open(self.state_file)) if os.path.exists(self.state_file) else {}
        self.language, self.sampled_size, self.traced_size = self.say("language"), int(self.say("sampled")), int(self.say("traced"))

    def keep(self, **what):
        self.state.update(what)
        with open(self.state_file + ".new", "w") as out:
            json.dump(self.state, out, indent=1)
        os.replace(self.state_file + ".new", self.state_file)

    def environment(self, **more):
        env = dict(os.environ, TREE=self.tree, CFLAGS="-g -O2", CC="gcc", CXX="g++", WITH="", SIZE="100", LC_ALL="C")
        env.pop("LD_PRELOAD", None)
        env.update(more)
        return env

    def recipe(self, *words, **env):
        return ["bash", os.path.join(HERE, "recipe.sh"), self.name, *words], self.environment(**env)

    def say(self, variable):
        command, env = self.recipe("say", variable)
        return subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()

    def left(self):
        seconds = self.late_at - time.time()
        if seconds < 5:
            raise Late()
        return seconds

    # ---- get and build ----

    def get(self):
        for command in self.say("needs").split():
            if not shutil.which(command):
                raise Skip(f"{command} is not installed")
        downloads = os.path.join(self.folder, "downloads")
        os.makedirs(downloads, exist_ok=True)
        shutil.rmtree(self.tree, ignore_errors=True)
        for at, package in enumerate(self.say("packages").split()):
            got = self.apt.source(package, downloads)
            place = self.tree if at == 0 else os.path.join(self.folder, package)
            self.command(["dpkg-source", "--no-check", "-x", got, place], f"{package} cannot be unpacked")
            if at == 0:
                self.keep(version=os.path.basename(got)[:-len(".dsc")].partition("_")[2])
        for package in self.say("debs").split():
            got = self.apt.binary(package, downloads)
            self.command(["dpkg", "-x", got, os.path.join(self.folder, "debs")], f"{package} cannot be unpacked")
            if "version" not in self.state:
                self.keep(version=os.path.basename(got).split("_")[1])
        os.makedirs(self.tree, exist_ok=True)

    def command(self, words, otherwise):
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise Skip(otherwise + ": " + (done.stdout.strip().splitlines() or ["no reason given"])[-1])

    def build(self):
        recipe = self.recipe_hash("build")
        if self.state.get("built") == recipe:
            return
        if self.state.get("begun") != recipe: # else the build goes on: it was cut
            self.get()
            self.keep(begun=recipe)
        command, env = self.recipe("build")
        log = os.path.join(self.folder, "build.log")
        start = time.time()
        with open(log, "w") as out:
            done = ended(["nice", *command], self.left(), env=env, stdout=out, stderr=out)
        if not done:
            raise Late()
        if done.returncode:
            self.keep(begun=None)
            raise Skip("it does not build: " + (open(log, errors="replace").read().strip().splitlines() or ["no output"])[-1])
        self.keep(built=recipe, build_s=round(time.time() - start))

    def recipe_hash(self, part):
        """Of what decides about this part of the recipe."""
        text = open(os.path.join(HERE, "programs", self.name + ".sh")).read()
        text = "".join(line for line in text.splitlines(True) if not line.startswith(("#", "sampled=", "traced=")))
        run = text.index("\nrun() {")
        return hashlib.sha256((text[:run] if part == "build" else text[run:]).encode()).hexdigest()[:16]

    # ---- run ----

    def run(self, kind, size, prefix="", fresh=(), **env):
        """Status, output, seconds and CPU seconds of a run; kept until one of `fresh`, the recipe or the size changes."""
        key = [self.recipe_hash("run"), size, *fresh]
        kept = self.state.get("run " + kind)
        if kept and kept["key"] == key:
            return kept
        work = os.path.join(self.folder, "work")
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        command, environment = self.recipe("run", SIZE=str(size), WITH=prefix, **env)
        start, before = time.time(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = ended(command, min(self.left(), LONGEST_S), env=environment, cwd=work, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if not done:
            self.left()
            return {"status": None, "output": "", "errors": f"longer than {LONGEST_S} s"} # not kept: the machine may have been busy
        output, errors = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        kept = {"key": key, "wall_s": round(time.time() - start, 2), "cpu_s": round(cpu, 2), "status": done.returncode,
                "output": output, "errors": errors[-2000:]}
        self.keep(**{"run " + kind: kept})
        return kept

    def result(self, kind):
        return os.path.join(self.folder, "result-" + kind)

    def collect(self, kind, size, options, collector, **env):
        prefix = f"{self.lwp} collect --force --no-analyze -q -o {self.result(kind)} {options} --"
        return self.run(kind, size, prefix, fresh=(options, collector), **env)

    def analyze(self, kind, *options):
        """The analysis, and the seconds it took: of CPU or by the clock, whichever is less (other work slows the clock)."""
        start, before = time.time(), resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [self.lwp, "analyze", "-f", "-q", *options, self.result(kind)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = min(time.time() - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        if done.returncode:
            return None, took, done.stdout.strip()
        return json.load(open(os.path.join(self.result(kind), "analysis.json"))), took, None

    def dumps(self, kind):
        """Each process image of a result: the text of its process file and of those of its threads."""
        for folder in sorted(glob.glob(self.result(kind) + "/p*")):
            def text(files):
                return subprocess.run([self.lwp, "dump", *files], stdout=subprocess.PIPE, text=True, errors="replace").stdout
            threads = [name for name in sorted(glob.glob(folder + "/t*.lwps")) if not name.endswith(("/t0.lwps", "/t0.5.lwps"))]
            yield os.path.basename(folder), text([folder + "/process.lwps"]), text(threads) if threads else ""


class Apt:
    """Debian's packages, through apt with lists of its own: neither root nor a change to the system is needed."""

    def __init__(self, scratch):
        self.folder, self.ready, self.reason = os.path.join(scratch, "apt"), False, None

    def configure(self):
        if self.ready or self.reason:
            return
        if not shutil.which("apt-get") or not shutil.which("dpkg-source"):
            self.reason = "no Debian source packages on this system (apt-get and dpkg-source)"
            return
        for place in ("state/lists/partial", "cache/archives/partial", "etc"):
            os.makedirs(os.path.join(self.folder, place), exist_ok=True)
        system = dict(line.rstrip().split("=", 1) for line in open("/etc/os-release") if "=" in line)
        release = system.get("VERSION_CODENAME", "stable").strip('"')
        mirror = os.environ.get("REAL_DEBIAN", "http://deb.debian.org/debian")
        keys = "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]"
        with open(self.folder + "/etc/sources.list", "w") as out:
            out.write(f"deb-src {keys} {mirror} {release} main\ndeb {keys} {mirror} {release} main\n")
        open(self.folder + "/status", "w").close() # nothing is installed: a newer version here would be asked for, and be nowhere
        with open(self.folder + "/apt.conf", "w") as out:
            out.write(f'Dir::State "{self.folder}/state/";\nDir::State::status "{self.folder}/status";\n'
                      f'Dir::Cache "{self.folder}/cache/";\nDir::Etc::sourcelist "{self.folder}/etc/sources.list";\n'
                      'Dir::Etc::sourceparts "-";\n'
                      'APT::Sandbox::User "";\n')
        if not all(glob.glob(f"{self.folder}/state/lists/*{kind}*") for kind in ("Sources", "Packages")):
            self.apt(["apt-get", "update"], self.folder, "the lists of Debian's packages cannot be had")
        self.ready = not self.reason

    def apt(self, words, folder, otherwise):
        env = dict(os.environ, APT_CONFIG=self.folder + "/apt.conf", LC_ALL="C")
        done = subprocess.run(words, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            reasons = [line for line in done.stdout.splitlines() if line.startswith("E:")] or ["no reason given"]
            self.reason = otherwise + ": " + reasons[0] if words[1] == "update" else None
            raise Skip(otherwise + ": " + reasons[0])

    def fetch(self, words, package, folder, pattern):
        got = glob.glob(os.path.join(folder, pattern))
        if not got:
            self.configure()
            if self.reason:
                raise Skip(self.reason)
            self.apt(words + [package], folder, f"{package} cannot be had")
            got = glob.glob(os.path.join(folder, pattern))
        return got[0]

    def source(self, package, folder):
        return self.fetch(["apt-get", "source", "--download-only", "-qq"], package, folder, f"{package}_*.dsc")

    def binary(self, package, folder):
        return self.fetch(["apt-get", "download", "-qq"], package, folder, f"{package}_*.deb")
