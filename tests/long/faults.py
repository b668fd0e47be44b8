#!/usr/bin/python3
"""The fault table (docs/faults.md): programs of others leave with lwp what they leave alone; and situations under the exact engine."""
import dataclasses, os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ["SRC"], "tests", "faults"))
from driver import main
from programs import PROGRAMS_OF_OTHERS
from situations import LONG, SITUATIONS

TRACED = """files.closed_all files.closefrom files.numbers_taken files.folder_gone files.umask files.pipe_closed limits.file_size
limits.stack_overflow processes.spawns processes.stopped processes.children_ignored processes.daemon processes.traced_by_parent
processes.threads_300 names.names plain.plain plain.own_allocator collector_killed""".split()

exact = [dataclasses.replace(case, name="exact." + case.name, engines=("exact",), timeout=200) for case in SITUATIONS if case.name in TRACED]
sys.exit(main(PROGRAMS_OF_OTHERS + [case for case in SITUATIONS if case.name in LONG] + exact))
