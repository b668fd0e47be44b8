#!/usr/bin/python3
"""Holds the fields, elements, objects and allocation sites that lwp names against programs of which the truth is known (shapes/).

    shapes.py [NAME...] [--runs N] [--engine light|exact|both] [--seconds S] [--jobs N] [--quick] [--wrong FILE] [--keep DIR] [--again]
              [--truth]

One line a shape: how many runs are right, unknown (with the reason) or WRONG: a field that the hot loop does not use, a used field in a
cold part, an element size, type, start, name or allocation site that is not the truth, a split made of wrong fields, whatever confidence
stands beside it. Needs LWP; takes CC, CXX, FC, RUSTC. Exit status 0: nothing is WRONG, and what `must` be right is. What is WRONG
comes once more at the end: shape, engine, run, what was said, and the truth. --keep DIR leaves programs and results in DIR, and takes
programs from there that are not older than their sources; without it what is WRONG is copied to $KEEP, if that is set. --again analyzes
and judges the results that are there once more, and runs only what is missing. --truth compares the rows of C and C++ with the debug
information instead (gdb; it has no words for parts of unions and of libraries' buffers). The Rust program compares its rows with
offset_of!().

The truth is in the programs, in rows of "/// NAME key=value..." ("//!" in Rust, "!!!" in Fortran):
    type, bytes  of an element; alternatives with |. start: where in the block the first element begins, or any.
    spacing      bytes from one element to the next
    hot          what walk() uses: NAME@OFFSET,...; +STRIDE*COUNT where the field is one of an array; nothing: elements without fields
    path         all functions of the program that the allocation passes through
    name         what the object may be called: variables that keep it; its type, and functions of the path but wrappers (below), too
    wrappers     functions of the path that only pass memory on: an object is not called after them
    stack        the object lies on the stack
    block        bytes of the block, where that distinguishes two objects
    flags, with  for the compiler; strip: no symbols; like: as in the rows of another shape but for what is said; of: of its program, too
    must=right   unknown is not enough
"NAME and ..." is another object that walk() uses; "NAME or ..." another way to see the first one."""
import argparse
import collections
import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LWP = os.environ.get("LWP", os.path.join(HERE, "../../lwp"))
COMPILERS = {".c": (os.environ.get("CC", "cc"), "clang", "-O2 -g -Wall"),
             ".cc": (os.environ.get("CXX", "g++"), "clang++", "-O2 -g -Wall"),
             ".rs": (os.environ.get("RUSTC", "rustc"), None, "-O -g"),
             ".f90": (os.environ.get("FC", "gfortran"), None, "-O2 -g -cpp")}
QUICK = ["array_nested", "array_two", "header16_array", "arena_one", "list", "cookie8", "vector", "hash_chained", "derived_sizes",
         "interned", "pool_reserved"]
SEEN = 0.05  # of the samples in walk(): an object seen less often is not judged
ENOUGH = 20  # samples in walk()
LAYOUT = 0.2  # of an object's time: a group of fields used less often may be what main() uses
# Functions of libraries, which a path passes through as well.
FOREIGN = re.compile(r"^(_start|__libc_start|start_thread|clone|operator new|void\* |<|__rust|__rdl|rust_|___rust|_R)|"
                     r"\b(std|__gnu_cxx|alloc|core|hashbrown)::|lang_start|::allocate|_M_|backtrace|FnOnce|call_once|RawVec")

ONLY_NAMES = re.compile(r"WRONG ([^:]*(::[^:]*)*: name [^;|]*( \| |$))+$")

Row = collections.namedtuple("Row", "main types bytes start spacing hot path names wrappers block stack")


def pieces(text, separator=","):
    return [piece for piece in (text or "").split(separator) if piece]


def field_of(text):
    """NAME@OFFSET+STRIDE*COUNT as (names, offsets)."""
    names, _, place = text.partition("@")
    offset, _, times = place.partition("+")
    stride, _, count = times.partition("*")
    return names.split("|"), range(int(offset), int(offset) + int(stride or 1) * int(count or 1), int(stride or 1))


def row_of(link, values):
    def of(key, separator=","):
        return pieces(values.get(key), separator)

    return Row(link != "and", of("type", "|"), [int(size) for size in of("bytes", "|")], values.get("start", "0"),
               int(values.get("spacing", 0)), [field_of(text) for text in of("hot")], of("path"), of("name"), of("wrappers"),
               int(values.get("block", 0)), "stack" in values)


def read_rows():
    """(source, name, link, values) of each row; a row that begins with KEY=VALUE continues the one before it."""
    rows = []
    for source in sorted(glob.glob(HERE + "/shapes/*.*")):
        for line in open(source):
            words = line.split()
            if not words or words[0] not in ("///", "//!", "!!!") or "=" not in words[min(3, len(words) - 1)]:
                continue
            if "=" not in words[1]:
                link = words[2] if words[2] in ("and", "or") else None
                rows.append((source, words[1], link, {}))
            rows[-1][3].update(word.split("=", 1) for word in words if "=" in word)
    return rows


class Shape:
    def __init__(self, name, source, values, shapes):
        base = shapes.get(values.get("of") or values.get("like"))
        flags = pieces(values.get("flags"))
        self.name, self.source, self.options = name, source, values
        self.define, self.flags, self.values = "shape_" + name, flags, [(None, values)]
        if base:
            self.values = [(None, {**base.values[0][1], **values})] + base.values[1:]
        if "of" in values:
            self.define, self.flags = base.define, base.flags + flags

    def rows(self):
        return [row_of(link, values) for link, values in self.values]


def read_shapes():
    shapes = {}
    for source, name, link, values in read_rows():
        if link is None:
            shapes[name] = Shape(name, source, values, shapes)
        else:
            shapes[name].values.append((link, values))
    return shapes


def build(shape, folder):
    """The program, or None where the compiler is missing."""
    suffix = os.path.splitext(shape.source)[1]
    compiler, other, flags = COMPILERS[suffix]
    compiler = other if shape.options.get("with") == "clang" else compiler
    if not compiler or not shutil.which(compiler.split()[0]):
        return None
    program = os.path.join(folder, shape.name)
    sources = shape.source, HERE + "/shapes/shape.h"
    if os.path.exists(program) and os.path.getmtime(program) > max(map(os.path.getmtime, sources)):
        return program
    define = ["--cfg", shape.define] if suffix == ".rs" else ["-D" + shape.define]
    subprocess.run([*compiler.split(), *flags.split(), *define, *shape.flags, "-o", program, shape.source], check=True, cwd=folder,
                   stderr=subprocess.DEVNULL if suffix == ".rs" else None)
    if "strip" in shape.options:
        subprocess.run(["strip", program], check=True)
    return program


def plain(name):
    """A type without what says nothing: struct, const, spaces, long int."""
    name = re.sub(r"^type\((.*)\)$", r"\1", name)
    name = re.sub(r"\b(struct|class|union|enum|const|volatile)\b", "", name)
    name = re.sub(r"\b(long|short|unsigned) int\b", r"\1", name)
    return re.sub(r"\s+", "", name)


def function_name(name):
    """Without parameters, clones and the namespaces of Rust."""
    name = re.sub(r"\(.*|<.*|\.(isra|part|constprop|cold|llvm|_omp).*", "", name or "")
    return name.split("::")[-1].split(" ")[-1]


def within(claims, names):
    """Whether the field NAME that lwp gives (several of a union with commas) is, or holds, one of the names."""
    for claim in re.split(r",\s*", claims or ""):
        claim = re.sub(r"\[[^]]*\]", "", claim)
        for name in names:
            if claim == name or name.startswith(claim + ".") or claim.startswith(name + "."):
                return True
    return False


def is_hot(row, offset, size, name):
    """Whether a field at OFFSET of SIZE bytes, called NAME (None: no debug info), is one that walk() uses."""
    for names, offsets in row.hot:
        if (name is None or within(name, names)) and any(offset <= o < offset + max(size, 1) for o in (offsets[0], offsets[-1])):
            return True
        if (name is None or within(name, names)) and offset in offsets:
            return True
    return False


def real_name(name):
    """None where the name is only the offset once more."""
    return None if re.match(r"(field|unseen)_\d+$", name or "") else name


def main_module(analysis):
    return [module["path"] for module in analysis["modules"]].index(os.path.realpath(analysis["run"]["command"][0]))


def walk_loops(analysis):
    """Those of walk(), and of what is inlined there. Where functions have no names, walk() is what takes the time."""
    def functions(loop):
        outer = loop["parent"]
        return (loop["function"] or "") + " " + (functions(analysis["loops"][outer]) if outer is not None else "")

    named = {at for at, loop in enumerate(analysis["loops"]) if "walk" in functions(loop)}
    return named or {at for at, loop in enumerate(analysis["loops"]) if loop["function"] is None and loop["share"] > 0.2}


def used_in_walk(analysis, item):
    """Samples, and (offset, bytes, name) of the fields that lwp says walk() uses."""
    sizes = {f["offset"]: (f["bytes"], f["name"]) for f in item["fields"]}
    samples, fields, loops = 0, {}, walk_loops(analysis)
    for use in item["loops"]:
        if use["loop"] in loops:
            samples += use["samples"]
            for offset in use["offsets"]:
                size, name = sizes.get(offset, (1, None))
                fields[offset] = (size, real_name(name))
    return samples, [(offset, *known) for offset, known in fields.items()]


def differences(analysis, item, row):
    """What lwp says of an object that is not so if it is the one of ROW."""
    wrong = []
    if row.block and item["bytes"] is not None and item["bytes"] != row.block:
        wrong.append("another block")
    if item["type"] and row.types and plain(item["type"]) not in row.types:
        wrong.append("type " + item["type"])
    if item["element_bytes"] is not None and row.bytes and item["element_bytes"] not in row.bytes:
        wrong.append("element of %d bytes" % item["element_bytes"])
    fields = used_in_walk(analysis, item)[1]
    for offset, size, name in fields:
        if row.hot and (not is_hot(row, offset, size, name)):
            wrong.append("field %s at %s" % (name, offset))
    start = item.get("element_start")
    if item["bytes"] is None:  # elements found inside of blocks, wherever they begin
        start = None
    if fields and row.hot and start is not None and row.start != "any" and (start - int(row.start)) % (
            item.get("element_spacing") or item["element_bytes"] or 1 << 60):
        wrong.append("start %d" % start)
    if row.spacing and item.get("element_spacing") not in (None, row.spacing):
        wrong.append("spacing %d" % item["element_spacing"])
    return wrong + wrong_names(analysis, item, row)


def wrong_names(analysis, item, row):
    wrong, frames = [], []
    if item["site"]:
        frames.append(item["site"])
    if item["context"] is not None:
        frames += analysis["contexts"][item["context"]]["frames"]
    for frame in frames:
        name = frame["function"] or ""
        if frame["module"] != main_module(analysis) or FOREIGN.search(name.split("(")[0]):
            continue
        if name and function_name(name) not in row.path:
            wrong.append("allocated in " + name)
    name = re.sub(r"^stack of | in .*\(\)$", "", item["name"] or "") if item["kind"] == "stack" else item["name"] or ""
    where = re.match(r"blocks? allocated in (.*?)(\(\))?( at .*)?$", name)
    name = where.group(1) if where else re.sub(r".*(->|\.)", "", re.sub(r"^\*(.*)\[\]$", r"\1", name)) # *all[]: what all leads to
    if name and "+0x" not in name and item["kind"] != "unknown" and row.names:
        known = row.names + row.types + [f for f in row.path if where or f not in row.wrappers]
        if function_name(plain(name)).rstrip("()") not in known and plain(name) not in known:
            wrong.append("name " + name)
    return list(dict.fromkeys(wrong))


def wrong_splits(analysis, at, row):
    wrong = []
    for split in analysis["splits"]:
        if at not in (split.get("objects") or [split["object"]]) or not row.hot:
            continue
        if split["confidence"] == "high" and analysis["modules"][main_module(analysis)]["debug_info"] == "none":
            wrong.append("high confidence without debug information")
        sizes = {f["offset"]: f["bytes"] for f in analysis["objects"][split["object"]]["fields"]}
        parts = [split["cold"]] if split["cold"] else [{"offsets": [], "fields": []}]
        hot = [[is_hot(row, offset, sizes.get(offset, 1), real_name(name))
                for offset, name in zip(part["offsets"], part["fields"] or [None] * len(part["offsets"]))]
               for part in parts + [group for group in split["groups"] if group["share"] >= LAYOUT]]
        if split["kind"] == "split" and any(hot[0]):
            wrong.append("cold %s" % ",".join(map(str, split["cold"]["fields"] or split["cold"]["offsets"])))
        if split["kind"] == "split" and not all(map(all, hot[1:])):
            wrong.append("split %s" % [group["fields"] or group["offsets"] for group in split["groups"]])
    return wrong


def judge(analysis, shape):
    """("right" or "unknown" or "WRONG", reason)."""
    items = [(at, item, *used_in_walk(analysis, item)) for at, item in enumerate(analysis["objects"])]
    total = sum(samples for _, _, samples, _ in items)
    if total < ENOUGH:
        return "unknown", "%d samples in walk()" % total
    wrong, right, reasons = [], False, []
    left_alone = {left["object"]: left["sentence"] for left in analysis["left_alone"]}
    for at, item, samples, fields in items:
        if samples < SEEN * total or item["kind"] == "stack" and not any(row.stack for row in shape.rows()):
            continue  # what compilers keep on the stack without optimization is walk()'s own
        told = [differences(analysis, item, row) + wrong_splits(analysis, at, row) for row in shape.rows()]
        if all(told):
            nearest = min(told, key=lambda said: (sum(one.startswith(("type", "element")) for one in said), len(said)))
            wrong.append("%s: %s" % (item["name"], "; ".join(nearest)))
            continue
        for row in [row for row, said in zip(shape.rows(), told) if not said and row.main]:
            missing = [names[0] for names, offsets in row.hot if not any(
                offset <= o < offset + max(size, 1) for o in offsets for offset, size, _ in fields)]
            right = right or not missing and bool(row.hot or item["element_bytes"] is not None)
            if missing:
                why = item.get("fields_unknown") or left_alone.get(at) or "no reason given"
                reasons.append("%s: no %s; %s" % (item["name"], ",".join(missing), why))
    if wrong:
        return "WRONG", " | ".join(wrong)
    return ("right", "") if right else ("unknown", (reasons or ["no such object"])[0])


def run(shape, program, engine, args, result):
    how = ["-e", "exact"] if engine == "exact" else []
    command = [LWP, "collect", "--no-measure", "-o", result, *how, "--", program, str(args.seconds)]
    if args.again and os.path.exists(result):
        command = [LWP, "analyze", "-f", "-q", result]
    else:
        shutil.rmtree(result, ignore_errors=True)
    said = ""
    try:
        said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, env=dict(os.environ, LWP_NO_MEASURE="1")).stdout
        with open(result + "/analysis.json") as file:
            return judge(json.load(file), shape)
    except (OSError, ValueError) as error:
        return "FAIL", "%s: %s" % (error, said[-300:])


def row_text(row):
    """The truth of an object in the words of the rows."""
    hot = ",".join("%s@%d" % ("|".join(names), offsets[0]) + ("+%d*%d" % (offsets.step, len(offsets)) if len(offsets) > 1 else "")
                   for names, offsets in row.hot)
    words = [("type", "|".join(row.types)), ("bytes", "|".join(map(str, row.bytes))), ("start", row.start), ("spacing", row.spacing),
             ("hot", hot), ("name", ",".join(row.names)), ("path", ",".join(row.path)), ("block", row.block)]
    return " ".join("%s=%s" % pair for pair in words if pair[1])


def keep_wrong(shape, engine, at, result):
    """Where a copy of a result is, with its program; None: it is not kept."""
    kept = os.environ.get("KEEP")
    if not kept:
        return None
    copy = os.path.join(kept, "%s.%s%d" % (shape.name, engine, at))
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(result, copy)
    shutil.copy2(os.path.join(os.path.dirname(result), shape.name), os.path.join(copy, shape.name))
    return copy


def try_shape(shape, args, folder):
    """Rows (engine, Counter, reasons, texts of what is WRONG), or None: no compiler."""
    own = os.path.join(folder, shape.name)
    os.makedirs(own, exist_ok=True)
    program = build(shape, own)
    if not program:
        return None
    rows = []
    for engine in args.engines:
        verdicts, reasons, wrong = collections.Counter(), collections.Counter(), []
        for at in range(args.runs):
            result = os.path.join(own, "%s%d" % (engine, at))
            verdict, reason = run(shape, program, engine, args, result)
            verdicts[verdict] += 1
            if reason:
                reasons[verdict + " " + reason] += 1
            if verdict in ("WRONG", "FAIL"):
                kept = keep_wrong(shape, engine, at, result) if verdict == "WRONG" and not args.keep else None
                wrong.append("%s %s, %s engine, run %d: %s%s" % (verdict, shape.name, engine, at, reason, "; kept in " + kept if kept else ""))
                wrong += ["    truth: " + row_text(row) for row in shape.rows() if verdict == "WRONG"]
            if not args.keep:
                shutil.rmtree(result, ignore_errors=True)
        rows.append((engine, verdicts, reasons, wrong))
    return rows


def type_in_gdb(shape, name):
    text = open(shape.source).read()
    if re.match(r"(double|long|char)\b", name) or not shape.source.endswith(".c"):
        return name
    return ("union " if "union " + name in text else "struct ") + name


def check_truth(shapes, names, folder):
    """Sizes and offsets of the rows as the debug information has them. Number of differences."""
    bad = 0
    for name in names:
        shape, own = shapes[name], os.path.join(folder, name)
        if {"of", "strip"} & set(shape.options) or shape.source.endswith((".rs", ".f90")):
            continue
        os.makedirs(own, exist_ok=True)
        program = build(shape, own)
        for row in (row for row in shape.rows() if program and row.types):
            kind = type_in_gdb(shape, row.types[0])
            asks = [("sizeof(%s)" % kind, row.bytes[:1])] if row.bytes else []
            asks += [("(long)&((%s *)0)->%s" % (kind, fields[0]), list(offsets[:1])) for fields, offsets in row.hot]
            for ask, want in asks:
                got = subprocess.run(["gdb", "-batch", "-ex", "print " + ask, program], stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, text=True).stdout.strip().split("\n")[-1]
                number = re.search(r"^\$1 = (\d+)$", got)
                if not number or int(number.group(1)) not in want:
                    bad += 1
                    print("%-20s %s: %s instead of %s" % (name, ask, got, want))
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--engine", choices=["light", "exact", "both"], default="both")
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--wrong")
    parser.add_argument("--keep")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--truth", action="store_true")
    args = parser.parse_args()
    args.engines = ["light", "exact"] if args.engine == "both" else [args.engine]
    shapes = read_shapes()
    unknown = [name for name in args.names if name not in shapes]
    if unknown:
        sys.exit("no shape " + ", ".join(unknown))
    names = args.names or (QUICK if args.quick else list(shapes))
    folder = args.keep or tempfile.mkdtemp(dir=os.environ.get("TMP"))
    if args.truth:
        sys.exit(check_truth(shapes, names, folder) > 0)
    total, wrong, bad, details = collections.Counter(), [], [], []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for name, rows in zip(names, pool.map(lambda n: try_shape(shapes[n], args, folder), names)):
            if rows is None:
                print("skip %s: no compiler" % name, flush=True)
                total["skipped"] += 1
            for engine, verdicts, reasons, texts in rows or []:
                details += texts
                total.update(verdicts)
                total["names"] += sum(count for reason, count in reasons.items() if ONLY_NAMES.match(reason))
                line = "%-18s %-5s" % (name, engine)
                line += "".join("  %s %d" % (verdict, verdicts[verdict]) for verdict in ("right", "unknown", "WRONG"))
                line += "".join("   %s (%d)" % pair for pair in reasons.most_common(3))
                print(line, flush=True)
                if verdicts["WRONG"] or verdicts["FAIL"]:
                    wrong.append(line)
                if verdicts["unknown"] > args.runs / 2 and shapes[name].options.get("must") == "right":
                    bad.append(line)
    if not args.keep:
        shutil.rmtree(folder)
    print("%d shapes: %d runs right, %d unknown, %d WRONG (%d of them by a name alone), %d failed, %d shapes skipped" % (
        len(names) - total["skipped"], total["right"], total["unknown"], total["WRONG"], total["names"], total["FAIL"], total["skipped"]))
    if args.wrong:
        with open(args.wrong, "w") as file:
            file.write("\n".join(wrong) + "\n")
    for line in bad:
        print("unknown where it must be right: " + line)
    if details:
        print("\n".join(details))
    sys.exit(1 if wrong or bad else 0)


if __name__ == "__main__":
    main()
