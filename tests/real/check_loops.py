"""Loops' lines against the line table: the samples of a loop's own instructions must lie, in one of their inlined frames, within the
lines and the function that lwp names for it. A loop's instructions are found a second way, by binutils and dominators."""
import collections
import os
import re

import dumped
import lines

LEAST = 5 # samples of a loop


def sampled(program, kind):
    """{module: {ip: weight}} of all processes."""
    weights = collections.defaultdict(collections.Counter)
    for _, text, threads in program.dumps(kind):
        process = dumped.Process(text, threads)
        for ip, weight, accesses in process.samples:
            at = accesses[0] if accesses else ip
            module = process.module(at)
            if module:
                weights[module[0]][module[1]] += weight
    return weights


def own_loop(file, address):
    """The header of the innermost loop around an instruction, None: in none or unknown."""
    function = file.function(address)
    if not function:
        return None
    around = [(len(body), header) for header, body in file.loops(*function).items() if address in body]
    return min(around)[1] if around else None


def where(file, body):
    """The function whose loop it is: the deepest inlined frame that all of its instructions share."""
    paths = [tuple(reversed(frames)) for frames in file.frames(body).values() if frames]
    shared, depth = None, 0
    while paths:
        heads = {(path[depth][0], path[depth - 1][1:] if depth else None) if len(path) > depth else None for path in paths}
        if len(heads) != 1 or None in heads:
            return shared
        shared, depth = heads.pop()[0], depth + 1
    return shared


def said(loop):
    return f"{loop['function']} {lines.base(loop['file'])}:{loop['first_line']}-{loop['last_line']}"


def says(program, loop, frames):
    """By file and line alone: addr2line gives some inlined functions the name, or the file, of the one around them. A line beyond the
    end of its file is of another one."""
    for _, file, line in frames:
        text = sources(program)[0].get(file)
        misnamed = text is not None and line > len(text)
        if (file == lines.base(loop["file"]) or misnamed) and loop["first_line"] <= line <= loop["last_line"]:
            return True
    return False


MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\n\\]|\\.|\\\n)*)", re.M)
SOURCES = (".c", ".h", ".cc", ".cpp", ".hpp", ".rs", ".f", ".f90", ".F90", ".y", ".inc")
WORD = re.compile(r"[A-Za-z_]\w*")


def texts(program, body, file):
    """The words of the source lines that the loop's instructions came from, with those of the macros there; None: no source."""
    source, macros = sources(program)
    found = set()
    for frames in file.frames(body).values():
        for _, name, line in frames:
            text = source.get(name)
            if text and 0 < line <= len(text):
                found.update(WORD.findall("".join(text[max(0, line - 3):line + 2])))
    todo = list(found)
    while todo:
        new = macros.get(todo.pop(), set()) - found
        found |= new
        todo += new
    return found or None


def sources(program):
    """Lines of each file by its name, and the words of each macro's body."""
    if not hasattr(program, "sources"):
        source, macros = {}, collections.defaultdict(set)
        for folder, _, names in os.walk(program.tree):
            for name in names:
                if name.endswith(SOURCES) and name not in source:
                    text = open(os.path.join(folder, name), errors="replace").read()
                    source[name] = text.splitlines(True)
                    for macro, body in MACRO.findall(text):
                        macros[macro].update(WORD.findall(body))
        program.sources = source, macros
    return program.sources


def check_fields(program, analysis, loop_bodies, hints):
    """Fields that a loop without calls is said to use, and whose names no source line of its instructions has near it: a hint, since
    a copy of the whole structure or a pointer to the field hides the name."""
    total = strange = 0
    for thing in analysis["objects"]:
        for use in thing["loops"]:
            if use["loop"] not in loop_bodies or use.get("samples", 0) < LEAST:
                continue
            text = texts(program, *loop_bodies[use["loop"]])
            if not text:
                continue
            for field in use.get("fields", []):
                word = field.split(".")[-1].split("[")[0]
                known = {field["name"] for field in thing["fields"]}
                if not WORD.fullmatch(word) or re.fullmatch(r"(field|unseen)_\d+", word) or field not in known:
                    continue
                total += 1
                if word not in text:
                    strange += 1
                    loop = analysis["loops"][use["loop"]]
                    hints.append(f"{thing['name']} ({thing['share']:.1%}): field {field} in loop {said(loop)}, none of whose instructions' "
                                 "source lines names it")
    return total, strange


def check(program, analysis, kind):
    weights, told, hints, sums, bodies = sampled(program, kind), [], [], collections.Counter(), {}
    there = [path for path in weights if os.path.exists(path)]
    owners = {path: {at: own_loop(lines.file(path), at) for at in weights[path]} for path in there}
    for number, loop in enumerate(analysis["loops"]):
        path = analysis["modules"][loop["module"]]["path"] if loop["module"] is not None else None
        if loop.get("kind") == "function" or path not in owners or "address" not in loop or not loop["first_line"]:
            continue
        file = lines.file(path)
        function = file.function(loop["address"])
        body = file.loops(*function).get(loop["address"]) if function else None
        if not body:
            if loop["samples"] >= LEAST:
                sums["unknown"] += loop["samples"]
            continue
        own = {at: weight for at, weight in weights[path].items() if owners[path][at] == loop["address"]}
        # what a callee uses outside of loops of its own is its caller's loop's
        if not file.has_table(*function) and not body & file.calls(*function):
            bodies[number] = (tuple(body), file)
        if loop["samples"] < LEAST or not own:
            continue
        frames = file.frames(own)
        total = sum(own.values())
        outside = sum(weight for at, weight in own.items() if not says(program, loop, frames[at]))
        sums["loops"] += 1
        sums["weight"] += total
        sums["outside"] += outside
        named, shared = lines.plain(loop["function"]), lines.plain(where(file, tuple(body)))
        # samples alone do not decide: compilers merge equal code, which then has the lines of one of its places
        missed = sum(not says(program, loop, around) for around in file.frames(body).values())
        if outside > total / 2 and missed > len(body) / 2:
            sums["wrong"] += 1
            at = max((at for at in own if not says(program, loop, frames[at])), key=own.get)
            told.append(f"loop {said(loop)} ({loop['share']:.1%}): {outside / total:.0%} of its samples are not there, most at "
                        + " < ".join(f"{lines.plain(f)} {n}:{line}" for f, n, line in frames[at][:4]))
        elif shared and shared != named:
            sums["misnamed"] += 1
            hints.append(f"loop {said(loop)} ({loop['share']:.1%}): all of its instructions are of {shared}")
    sums["fields"], sums["strange"] = check_fields(program, analysis, bodies, hints)
    return dict(sums), told, hints
