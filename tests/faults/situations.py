"""The situations of docs/faults.md: what a program can do, and what can be done to it."""
import os, signal, time

from driver import PROGRAMS, PROMPT, SRC, Case

HERE = os.path.join(SRC, "tests", "faults")
CC = os.environ.get("CC", "cc")
FLAGS = "-std=gnu11 -O1 -g -pthread"


def built(name, source, *rest):
    return ((name, "%s %s -o %s %s/%s %s" % (CC, FLAGS, name, HERE, source, " ".join(rest))),)


def own(program, situation, **more):
    """One of the situations of a program of ours."""
    return Case("%s.%s" % (program, situation), [os.path.join(PROGRAMS, program), situation],
                builds=built(program, program + ".c"), **more)


def plain(name, *rest, source="plain.c", compiler=CC, prefix=(), **more):
    """plain.c, built in another way; what `prefix` starts, starts it."""
    return Case("plain." + name, [*prefix, os.path.join(PROGRAMS, "plain." + name), "plain"],
                builds=(("plain." + name, " ".join((compiler, FLAGS, "-o", "plain." + name, os.path.join(HERE, source), *rest))),), **more)


def foreign(kind, compiler, name=None, needs=(), **more):
    """foreign.c starts said.c in all ways; of what `compiler` makes of that."""
    child = "said." + kind
    return Case(name or "foreign." + kind, [os.path.join(PROGRAMS, "foreign"), PROGRAMS, child], needs=(compiler.split()[0], *needs),
                builds=built("foreign", "foreign.c") + ((child, "%s -o %s %s/said.c" % (compiler, child, HERE)),), **more)


def wait_until(ready, seconds=20):
    end = time.monotonic() + seconds
    while not ready() and time.monotonic() < end:
        time.sleep(0.05)


def started(result):
    return lambda: result and os.path.isdir(result) and any(name.startswith("p") for name in os.listdir(result))


def collector_killed(process, result):
    """SIGKILL for `lwp collect`; the program, which has its own session's group to itself then, is waited for."""
    if result:
        wait_until(started(result))
        time.sleep(0.4)
        folder = os.path.join(os.path.dirname(result), "run")
        os.kill(process.pid, signal.SIGKILL)
        wait_until(lambda: os.path.exists(os.path.join(folder, "done")))
        time.sleep(0.3)


def truncated(process, result):
    """All sample files, as often as they come."""
    if result:
        wait_until(started(result))
        for turn in range(10):
            for path, _, names in os.walk(result):
                for name in names:
                    if name.endswith(".lwps"):
                        os.truncate(os.path.join(path, name), 0)
            time.sleep(0.1)


def result_removed(process, result):
    if result:
        wait_until(started(result))
        time.sleep(0.3)
        os.rename(result, result + ".gone")


def clock_set(process, result):
    """For a third of a second the machine's clock is ahead by LWP_TEST_SET_CLOCK seconds: that is for all who use the machine."""
    for seconds in (1, -1):
        time.sleep(0.3)
        time.clock_settime(time.CLOCK_REALTIME, time.clock_gettime(time.CLOCK_REALTIME) + seconds * float(os.environ["LWP_TEST_SET_CLOCK"]))


# A control group (version 1) with 64 MiB, in which what grows beyond is killed.
IN_SMALL_GROUP = """group=/sys/fs/cgroup/memory/lwp-faults-$$
mkdir $group && echo 256M > $group/memory.limit_in_bytes && (sh -c 'echo $PPID' > $group/cgroup.procs; exec "$@"); status=$?
rmdir $group; exit $status"""

# A program in a root where lwp's library is not.
IN_ROOT = """for file in /bin/true $(ldd /bin/true | grep -o '/[^ ]*'); do
mkdir -p root$(dirname $file) && cp $file root$file; done; chroot root /bin/true; echo status $?; rm -r root"""

ALLOCATORS = [("jemalloc", "-ljemalloc", "libjemalloc.so"), ("tcmalloc", "-ltcmalloc_minimal", "libtcmalloc_minimal.so"),
              ("mimalloc", "-lmimalloc", "libmimalloc.so")]

SITUATIONS = [
    # limits
    own("limits", "files_256", shell="ulimit -S -n 1024; exec \"$@\""),
    own("limits", "files_16"),
    own("limits", "file_size"),
    own("limits", "address_space"),
    own("limits", "refused"),
    Case("limits.group_memory", ["sh", "-c", "tail /dev/zero; echo status $?"], needs=("root", "/sys/fs/cgroup/memory/memory.limit_in_bytes"), shell=IN_SMALL_GROUP),
    own("limits", "locked", needs=("root",)),  # docs/faults.md: of other users, lwp's own memory counts, too
    own("limits", "processes", needs=("root",)),
    own("limits", "cpu_time"),
    own("limits", "stack_overflow"),
    own("limits", "stack_small"),
    own("limits", "stack_tiny"),
    Case("limits.stack_of_lwp", ["sh", "-c", "ulimit -S -s; exit 3"], shell="ulimit -S -s 64; exec \"$@\"", samples=0),
    Case("limits.stack_refused", ["sh", "-c", "exit 3"], refuses="stack is limited to 16 KiB",
         shell="exec env -i PATH=\"$PATH\" sh -c 'ulimit -S -s 16; exec \"$@\"' sh \"$@\""),
    # files
    own("files", "standard", shell="exec \"$@\" <&- >&- 2>&-"),
    own("files", "closed_all"),
    own("files", "closefrom"),
    own("files", "numbers_taken"),
    own("files", "folder_gone"),
    own("files", "chroot", needs=("root",)),
    Case("files.chroot_child", ["sh", "-c", IN_ROOT], needs=("root", "chroot"), samples=-1),
    own("files", "umask", needs=("root",)),  # docs/faults.md: other users may not read what is made under such a umask
    own("files", "pipe_closed"),
    own("processes", "lasting", during=result_removed, samples=-1),
    own("processes", "lasting", during=truncated, samples=-1),
    # processes
    own("processes", "threads_300"),
    own("processes", "cancelled"),
    own("processes", "exit_running"),
    own("processes", "forks"),
    own("processes", "forks_loading"),
    own("processes", "vforks"),
    own("processes", "vfork_signals"),
    own("processes", "spawns"),
    own("processes", "stopped"),
    own("processes", "children_ignored"),
    own("processes", "daemon"),
    own("processes", "rights_dropped", needs=("root",)),
    own("processes", "no_new_rights"),
    own("processes", "core"),
    own("processes", "traced"),
    own("processes", "traced_by_parent"),
    own("processes", "timers"),
    own("processes", "suspends", keys=((PROMPT, "echo status $?\n"), (PROMPT, "fg\n"))),
    own("processes", "at_terminal", keys=((r"foreground: 1\s+", "\x1a"), (PROMPT, "jobs\n"), (PROMPT, "fg\n"), (r"on again\s+", "\x03"), (r"signal 2\s+", "\x03")),
        keep=lambda text: "".join(text.split())),  # a shell ends the line of what SIGINT killed
    own("memory", "holes"),
    own("state", "floats"),
    own("state", "aligned"),
    own("state", "no_counter"),
    own("state", "own_calls"),
    Case("state.error_number", ["sh", "-c", os.path.join(PROGRAMS, "state") + " error_number; exit $?"], builds=built("state", "state.c"), samples=-1),
    # names and allocators
    own("names", "names"),
    plain("plain"),
    plain("own_allocator", "-fno-builtin", os.path.join(HERE, "allocator.c")),
    *(plain(name, flag, needs=(library,)) for name, flag, library in ALLOCATORS),
    plain("beside_jemalloc", needs=("libjemalloc.so.2",), shell="LD_PRELOAD=libjemalloc.so.2 exec \"$@\""),
    plain("beside_two", needs=("libjemalloc.so.2", "libmimalloc.so.2"), shell="LD_PRELOAD='libmimalloc.so.2 libjemalloc.so.2' exec \"$@\""),
    # what lwp's library cannot be in: sampled from outside, or refused; as a child it runs without
    plain("musl", compiler="musl-gcc", needs=("musl-gcc",)),
    plain("bits_32", "-m32", refuses="32-bit"),
    foreign("musl", "musl-gcc"), foreign("bits_32", CC + " -m32"),
    foreign("gcc_address", "gcc -fsanitize=address"), foreign("gcc_leak", "gcc -fsanitize=leak"),
    foreign("gcc_thread", "gcc -fsanitize=thread"), foreign("clang_thread", "clang -fsanitize=thread"),
    foreign("bits_32", CC + " -m32", name="foreign.beside", needs=("libjemalloc.so.2",), shell="LD_PRELOAD=libjemalloc.so.2 exec \"$@\""),
    Case("foreign.translated", ["sh", "-c", "valgrind -q true; echo status $?"], needs=("valgrind",), samples=-1),
    Case("foreign.listed", ["sh", "-c", "ldd /bin/true | sed 's/ (0x.*//'; LD_TRACE_LOADED_OBJECTS=1 /bin/true | wc -l"], needs=("ldd",), samples=-1),
    # sanitizers
    plain("undefined", "-fsanitize=undefined"),
    *(plain(compiler + "_" + name, "-fsanitize=" + name, compiler=compiler, needs=(compiler,), refuses="-fsanitize=" + name)
      for compiler, name in (("gcc", "address"), ("gcc", "leak"), ("gcc", "thread"), ("clang", "thread"))),
    *(plain("clang_" + name, "-fsanitize=" + name, compiler="clang", needs=("clang",)) for name in ("address", "leak")),
]
SITUATIONS[[case.name for case in SITUATIONS].index("processes.lasting")].name = "result_removed"
SITUATIONS[[case.name for case in SITUATIONS].index("processes.lasting")].name = "files.truncated"
for during, more in ((collector_killed, {"status": 137}), (clock_set, {"needs": ("root", "LWP_TEST_SET_CLOCK")})):
    lasting = own("processes", "lasting", during=during, **more)
    lasting.name = during.__name__
    SITUATIONS.append(lasting)

# They take longer than the others, and stand for little else than those do: for the long test.
LONG = """limits.cpu_time limits.stack_small files.closefrom files.numbers_taken files.chroot_child processes.exit_running processes.children_ignored
processes.timers processes.threads_300 processes.no_new_rights plain.jemalloc plain.tcmalloc plain.mimalloc plain.beside_two foreign.gcc_leak foreign.gcc_thread
foreign.clang_thread foreign.beside plain.gcc_leak plain.gcc_thread plain.clang_thread plain.clang_address plain.clang_leak""".split()
