#!/usr/bin/python3
"""Random C programs with structures: what lwp patch makes of them prints the same and reports nothing to ASan and UBSan.
patch_fuzz.py [COUNT [FIRST_SEED]]"""
import json
import os
import random
import shutil
import subprocess
import sys

LWP, CC, TMP = os.environ["LWP"], os.environ["CC"].split(), os.environ["TMP"]
COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
FIRST = int(sys.argv[2]) if len(sys.argv) > 2 else 1
SCALARS = {"int": 4, "double": 8, "char": 1, "short": 2, "long": 8, "float": 4, "unsigned": 4, "unsigned char": 1}


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.tag = self.random.choice(["node", "item", "cell_t", "s"])
        self.style = self.random.choice(["tag", "typedef", "both"])
        self.nodes = self.random.random() < 0.5
        self.fields()
        self.kind = self.random.choice(["reorder", "split", "split"] if self.random.random() < 0.75 else ["pad", "pool"] if self.nodes else ["pad"])

    def name(self):
        return {"tag": "struct " + self.tag, "typedef": self.tag + "_type", "both": "struct " + self.tag}[self.style]

    def fields(self):
        r = self.random
        self.field = []  # name, type, array length, bytes, align
        for i in range(r.randint(2, 9)):
            kind = r.choice(list(SCALARS))
            length = r.choice([0, 0, 0, 0, r.randint(2, 9)])
            self.field.append(("f%d" % i, kind, length))
        self.links = ["next", "prev"][:r.randint(1, 2)] if self.nodes and self.style != "typedef" else []
        for link in self.links:
            self.field.insert(r.randint(0, len(self.field)), (link, "*", 0))
        at, most = 0, 1
        self.offset = {}
        for name, kind, length in self.field:
            size = 8 if kind == "*" else SCALARS[kind]
            at = (at + size - 1) // size * size
            self.offset[name] = at
            at += size * (length or 1)
            most = max(most, size)
        self.bytes = (at + most - 1) // most * most

    def declaration(self):
        r, lines, i = self.random, [], 0
        while i < len(self.field):
            name, kind, length = self.field[i]
            comment = r.choice(["", "", " /* %s */" % name, " // %s" % name])
            before = r.choice(["", "", "    /* before %s */\n" % name, "\n"])
            text = "%s%s" % (name, "[%d]" % length if length else "")
            if kind == "*":
                lines.append("%s    struct %s *%s;%s" % (before, self.tag, name, comment))
            else:
                while i + 1 < len(self.field) and self.field[i + 1][1] == kind and r.random() < 0.6:
                    i += 1
                    text += ", %s%s" % (self.field[i][0], "[%d]" % self.field[i][2] if self.field[i][2] else "")
                lines.append("%s    %s %s;%s" % (before, kind, text, comment))
            i += 1
        body = "{\n" + "\n".join(lines) + "\n}"
        if self.style == "tag":
            return "struct %s %s;\n" % (self.tag, body)
        if self.style == "both":
            return "typedef struct %s %s %s_type;\n" % (self.tag, body, self.tag)
        return "typedef struct %s %s_type;\n" % (body, self.tag)

    def scalar(self, base):
        name, kind, length = self.random.choice([field for field in self.field if field[1] != "*"])
        index = "[%d]" % self.random.randrange(length) if length else ""
        return "%s%s%s" % (base, name, index)

    def base(self):
        """An element, and how a field of it is written."""
        r = self.random
        i = r.choice(["i", "(i + %d) %% N" % r.randint(1, 9), "N - 1 - i", "i / 2"])
        if self.nodes:
            links = "".join("->%s" % r.choice(self.links) for _ in range(r.choice([0, 0, 1, 2]))) if self.links else ""
            return r.choice(["all[%s]%s->", "(*all[%s]%s).", "(all[%s]%s + 0)->"]) % (i, links)
        forms = ["all[%s].", "(all + (%s))->", "(*(all + (%s)))."]
        if self.pointers:
            forms += ["(&all[%s])->", "at(%s)->"]
        return r.choice(forms) % i

    def value(self, depth=0):
        r = self.random
        if depth > 2 or r.random() < 0.3:
            return str(r.randint(0, 99))
        if r.random() < 0.6:
            return "(long)" + self.scalar(self.base())
        if r.random() < 0.2:
            return "(%s ? %s : %s)" % (self.value(depth + 1), self.value(depth + 1), self.value(depth + 1))
        if r.random() < 0.2:
            return "MOST(%s, %s)" % (self.value(depth + 1), self.value(depth + 1))
        return "(%s %s %s) %% 1000" % (self.value(depth + 1), r.choice("+-*"), self.value(depth + 1))

    def statement(self):
        r = self.random
        to = self.scalar(self.base())
        choice = r.random()
        if choice < 0.6:
            return "%s = %s %% 100;" % (to, "(%s)" % self.value())
        if choice < 0.75:
            return "if (%s > %s) { %s = %d; } else sum += %s;" % (self.value(), self.value(), to, r.randint(0, 50), self.value())
        if choice < 0.85:
            return "sum += sizeof(%s) + (%s & 7);" % (to, "(%s)" % self.value())
        if choice < 0.93 and (self.pointers or self.nodes):
            return "{ %s *p = %s; %s = 3; sum += (long)%s; }" % (self.name(), "all[i]" if self.nodes else "&all[i]", self.scalar("p->"), self.scalar("p->"))
        return "sum = (sum + %s) %% 1000003;" % self.value()

    def text(self):
        r, name = self.random, self.name()
        self.pointers = r.random() < 0.5
        size = r.choice(["sizeof(%s)" % name, "sizeof *%s" % ("all[0]" if self.nodes else "all")])
        self.dynamic = r.random() < 0.7
        lines = ["#include <stdio.h>", "#include <stdlib.h>", "#include <string.h>", "#define MOST(a, b) ((a) > (b) ? (a) : (b))",
                 "enum { N = %d };" % r.randint(5, 60), "", self.declaration()]
        if self.nodes:
            lines.append("static %s *all[N];" % name)
        elif self.dynamic:
            lines.append("static %s *all;" % name)
        else:
            lines.append("static %s all[N];" % name)
        if not self.nodes and self.pointers:
            lines.append("static %s *at(int i) { return &all[i]; }" % name)
        initialised = self.kind != "split" and r.random() < 0.5
        if initialised:
            values = ["0" if kind == "*" else "{1, 2}" if length else str(i + 1) for i, (_, kind, length) in enumerate(self.field)]
            lines.append("static %s first = { %s };" % (name, ", ".join(values[:r.randint(1, len(values))])))
        lines += ["int main(void)", "{", "    long sum = 0;"]
        if self.nodes:
            lines.append("    for (int i = 0; i < N; i++) { all[i] = %s; }" % r.choice(
                ["calloc(1, %s)" % size, "malloc(%s); memset(all[i], 0, %s)" % (size, size) if self.kind != "split" else "calloc(%s, 1)" % size,
                 "realloc(all[i], %s)" % size.replace("sizeof", "1 * sizeof") if False else "calloc(1, %s)" % size]))
            for link in self.links:
                lines.append("    for (int i = 0; i < N; i++) all[i]->%s = all[(i + %d) %% N];" % (link, r.randint(1, 7)))
        elif self.dynamic:
            lines.append("    all = %s;" % r.choice(["calloc(N, %s)" % size, "calloc(%s, N)" % size, "malloc(N * %s);\n    memset(all, 0, N * %s)" % (size, size)]))
            lines.append("    if (!all) return 1;")
        for _ in range(r.randint(2, 5)):
            lines.append("    for (int i = 0; i < N; i++) {")
            lines += ["        " + self.statement() for _ in range(r.randint(1, 4))]
            lines.append("    }")
        if self.nodes and not self.links and r.random() < 0.5:
            lines.append("    for (int i = 0; i < N; i += 2) { free(all[i]); all[i] = calloc(1, %s); %s = 1; }" % (size, self.scalar("all[i]->")))
        if initialised:
            lines.append("    sum += (long)%s;" % self.scalar("first."))
        for _ in range(4):
            lines.append("    for (int i = 0; i < N; i++) sum = (sum * 31 + (long)%s) %% 1000003;" % self.scalar("all[i]->" if self.nodes else "all[i]."))
        if self.nodes:
            lines.append("    for (int i = 0; i < N; i++) free(all[i]);")
        elif self.dynamic:
            lines.append("    free(all);")
        return "\n".join(lines + ['    printf("%ld\\n", sum);', "    return 0;", "}", ""]).replace("sizeof", "sizeof")

    def analysis(self):
        names = [name for name, _, _ in self.field]
        self.random.shuffle(names)
        if self.kind == "split":
            names = names[:self.random.randint(1, max(1, len(names) - 1))]
        cut = self.random.randint(1, len(names)) if self.kind == "split" else len(names)
        groups = [group for group in (names[:cut], names[cut:]) if group]
        if self.kind == "pad":
            shared = names[:self.random.randint(1, 3)]
            return {"schema": "lwp-analysis", "version": "1.0", "findings": [{"id": "f-1", "title": "t", "refs": {"sharing": 0}}],
                    "objects": [{"name": "all", "type": self.name(), "element_bytes": self.bytes}],
                    "sharing": [{"object": 0, "kind": "false", "line_offset": 0, "line_bytes": 64, "offsets": [self.offset[name] for name in shared]}]}
        return {"schema": "lwp-analysis", "version": "1.0", "findings": [{"id": "f-1", "title": "t", "refs": {"split": 0}}], "objects": [{"name": "all"}],
                "splits": [{"kind": self.kind, "type": self.name(), "object": 0, "element_bytes": self.bytes,
                            "groups": [{"fields": group, "offsets": [self.offset[name] for name in group]} for group in groups]}]}


def result(source, options):
    built = subprocess.run(CC + ["-std=gnu11", "-Wall", "-Wextra", "-o", "program"] + options + [source], capture_output=True, text=True, check=False)
    if built.returncode:
        return "does not build: " + built.stderr, 0
    run = subprocess.run(["./program"], capture_output=True, text=True, check=False, timeout=60, env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))
    return (run.returncode, run.stdout, run.stderr), built.stderr.count("warning:")


def main():
    bad, refusals, made = 0, {}, {"reorder": 0, "split": 0, "pad": 0, "pool": 0}
    sanitized = ["-O1", "-fsanitize=address,undefined"]
    for seed in range(FIRST, FIRST + COUNT):
        folder = "%s/fuzz-%d" % (TMP, seed)
        os.makedirs(folder, exist_ok=True)
        os.chdir(folder)
        program = Program(seed)
        with open("a.c", "w") as to:
            to.write(program.text())
        with open("analysis.json", "w") as to:
            json.dump(program.analysis(), to)
        patch = subprocess.run([LWP, "patch", "analysis.json", "--cc", "cc a.c"], capture_output=True, text=True, check=False)
        options = sanitized if seed % 8 == 0 else ["-O0"]
        if patch.returncode == 1 and not patch.stdout:
            reason = patch.stderr.split(": ")[1] if ": " in patch.stderr else patch.stderr
            refusals[reason] = refusals.get(reason, 0) + 1
            if "lwp: patch:" not in patch.stderr or "conflict" in patch.stderr:
                bad += 1
                print("seed %d: %s" % (seed, patch.stderr))
        elif patch.returncode != 0:
            bad += 1
            print("seed %d: status %d: %s" % (seed, patch.returncode, patch.stderr))
        else:
            made[program.kind] += 1
            before = result("a.c", options)
            subprocess.run(["patch", "-s", "-p1"], input=patch.stdout, text=True, check=True)
            after = result("a.c", options)
            if before[0] != after[0] or after[1] > before[1]: # named values may silence a warning
                bad += 1
                print("seed %d: before %s, after %s" % (seed, before, after))
        os.chdir(TMP)
        shutil.rmtree(folder)
    print("%d programs: %d reordered, %d split, %d padded, %d pooled, refused %s; %d wrong" % (COUNT, made["reorder"], made["split"], made["pad"], made["pool"], refusals, bad))
    sys.exit(1 if bad or sum(made.values()) * 2 < COUNT else 0)


if "without libclang" in subprocess.run([LWP, "patch", "."], capture_output=True, text=True, check=False).stderr:
    print("lwp was built without libclang (apt install libclang-dev)")
    sys.exit(77)
main()
