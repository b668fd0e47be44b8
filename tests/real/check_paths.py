"""Allocation paths against the control that unwinds at every allocation, seen by both in one run.

A pool or block of lwp's claims a chain of callers. The chain is right for an allocation if it is part of the control's path, in
order and with the same innermost caller: lwp folds recursion, and may leave out callers, but must not invent any."""
import collections
import glob
import os

import dumped
import lines

OWN = ("/control.so", "/liblwp-light.so")


def is_part(chain, path, process):
    """`chain` occurs in `path` in order, and both begin with the same caller. Beyond a recursion lwp knows of one call only the
    function that it is in, and gives the address behind the function's first, where no call returns to."""
    if not chain or not path or chain[0] != path[0]:
        return False
    at = iter(path)
    return all(any(ip == other or process.function_start(other - 1) == ip - 1 for other in at) for ip in chain)


class Control:
    def __init__(self, name):
        raw, self.counts, self.blocks, maps, self.lost = dumped.control(name)
        own = [(start, end) for start, end, path in maps if path.endswith(OWN)]
        self.paths = {}
        for number, path in raw.items():
            while path and any(start <= path[0] < end for start, end in own):
                path = path[1:]
            self.paths[number] = path
        self.by_size = collections.defaultdict(list)
        for (path, size), count in self.counts.items():
            self.by_size[size].append((path, count))

    def allocations(self, size, chain, process):
        return sum(count for path, count in self.by_size[size] if is_part(chain, self.paths[path], process))


def names(process, chain, most=6):
    """A chain for people: functions, innermost first."""
    said = []
    for ip in chain[:most]:
        module = process.module(ip - 1)
        frames = lines.file(module[0]).frames([module[1]])[module[1]] if module and os.path.exists(module[0]) else []
        said.append("/".join(lines.plain(frame[0]) for frame in frames) or "?")
    return " < ".join(said)


def check_pools(process, control, told):
    """(allocations, those whose chain is not theirs): all allocations of a size are compared with all of the same size and chain."""
    claimed = collections.Counter()
    for pool, (context, size) in process.pools.items():
        claimed[size, tuple(process.chain(context))] += process.counts.get(pool, 0)
    total = wrong = 0
    found = []
    for (size, chain), count in claimed.items():
        if not chain or size not in control.by_size:
            continue # allocated before the control began, or by none that it can see
        there = control.allocations(size, chain, process)
        total += count
        over = count - there
        if over > max(2, count / 50): # counts are of times of day that differ a little at the ends
            wrong += over
            found.append((over, size, chain, count, there))
    for over, size, chain, count, there in sorted(found, reverse=True)[:5]:
        truth = sorted(((number, path) for path, number in control.by_size[size]), reverse=True)[:2]
        told.append(f"{count} allocations of {size} bytes are said to come from [{names(process, chain)}]; {there} do. Most of this size: "
                    + "; ".join(f"{number} from [{names(process, control.paths[path])}]" for number, path in truth))
    return total, wrong


def check_blocks(process, control, told):
    total = wrong = 0
    for block in process.blocks:
        if block.get("kind") != "1":
            continue
        address, size, time = int(block["address"], 16), int(block["size"]), int(block["time"])
        near = sorted((abs(time - ns), path) for ns, bytes, path in control.blocks.get(address, []) if bytes == size)
        if not near or near[0][0] > 5e7:
            continue
        total += 1
        chain = process.chain(int(block["context"]))
        if not is_part(chain, control.paths[near[0][1]], process):
            wrong += 1
            if len(told) < 12:
                told.append(f"block of {size} bytes is said to come from [{names(process, chain)}], but comes from "
                            f"[{names(process, control.paths[near[0][1]])}]")
    return total, wrong


def frames_of_paths(process, control):
    """The frames of each path of the control, as [(function, file, line)], innermost first."""
    wanted = collections.defaultdict(set)
    for path in control.paths.values():
        for ip in path:
            module = process.module(ip - 1)
            if module and os.path.exists(module[0]):
                wanted[module[0]].add(module[1])
    known = {module: lines.file(module).frames(addresses) for module, addresses in wanted.items()}
    named = {}
    for number, path in control.paths.items():
        named[number] = []
        for ip in path:
            module = process.module(ip - 1)
            if module and module[0] in known:
                named[number] += known[module[0]][module[1]]
    return named


def on_path(frame, path):
    if frame.get("line") and frame.get("file"):
        return any(line == frame["line"] and name == lines.base(frame["file"]) for _, name, line in path)
    return any(lines.plain(function) == lines.plain(frame["function"]) for function, _, _ in path)


def check_objects(analysis, process, control, folder, told):
    """(objects, those whose site is not on the way of all their allocations, those whose whole path is not)"""
    named = frames_of_paths(process, control)
    counts = collections.Counter()
    for (path, _), count in control.counts.items():
        counts[path] += count
    checked = wrong_site = wrong_path = 0
    for thing in analysis["objects"]:
        if thing["kind"] != "heap" or not thing["allocations"] or thing["share"] < 0.005 or thing["context"] is None:
            continue
        checked += 1
        allowed = max(2, thing["allocations"] / 50)
        frames = analysis["contexts"][thing["context"]]["frames"]
        site = thing.get("site")
        at_site = thing["allocations"] # unknown: right
        if site and (site["line"] or site["function"]):
            at_site = sum(count for path, count in counts.items() if on_path(site, named[path]))
        if thing["allocations"] - at_site > allowed:
            wrong_site += 1
            told.append(f"object {thing['name']} ({thing['share']:.1%}): {thing['allocations']} allocations at {site['function']} "
                        f"{lines.base(site['file'])}:{site['line']}, of which {at_site} pass there")
        # the system's libraries may have debug information that only lwp finds
        own = {number for number, module in enumerate(analysis["modules"]) if (module["path"] or "").startswith(folder)}
        known = [frame for frame in frames if frame["line"] and frame["module"] in own]
        whole = sum(count for path, count in counts.items() if all(on_path(frame, named[path]) for frame in known))
        if thing["allocations"] - whole > allowed:
            wrong_path += 1
            told.append(f"object {thing['name']} ({thing['share']:.1%}): {thing['allocations']} allocations said to come from ["
                        + " < ".join(lines.plain(frame["function"]) for frame in frames[:8]) + f"], of which {whole} do")
    return checked, wrong_site, wrong_path


def check(program, analysis, control_prefix):
    told, sums = [], collections.Counter()
    for folder, text, threads in program.dumps("control"):
        name = control_prefix + "." + folder[1:].split(".")[0]
        if not glob.glob(name):
            continue
        process, control = dumped.Process(text, ""), Control(name)
        sums["lost"] += control.lost
        total, wrong = check_pools(process, control, told)
        sums["allocations"] += total
        sums["wrong_allocations"] += wrong
        total, wrong = check_blocks(process, control, told)
        sums["blocks"] += total
        sums["wrong_blocks"] += wrong
        if len(analysis["run"]["processes"]) == 1:
            checked, wrong_site, wrong_path = check_objects(analysis, process, control, program.folder, told)
            sums["objects"] += checked
            sums["wrong_sites"] += wrong_site
            sums["wrong_paths"] += wrong_path
    return dict(sums), told
