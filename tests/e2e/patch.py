#!/usr/bin/python3
"""lwp patch: the patched program does what the original does, and each use that cannot be rewritten is refused by its name."""
import json
import os
import re
import subprocess
import sys

LWP, CC, TMP = os.environ["LWP"], os.environ["CC"].split(), os.environ["TMP"]
os.chdir(TMP)

TYPE = "struct item { int key; double x; char tag; double y; long count; };"
OFFSETS = {"key": 0, "x": 8, "tag": 16, "y": 24, "count": 32}
HEAD = "#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <pthread.h>\n"
USE = """
static struct item *items;
int main(void)
{
    items = malloc(100 * sizeof *items);
    for (int i = 0; i < 100; i++) {
        items[i].key = i; items[i].x = i * 2; items[i].tag = 'a' + i % 26; items[i].y = i; items[i].count = 7;
    }
    double sum = 0;
    for (int i = 0; i < 100; i++)
        sum += items[i].x + items[i].key * items[i].y + items[i].tag + items[i].count;
    printf("%.0f\\n", sum);
    free(items);
    return 0;
}
"""
# A list, whose nodes come and go one by one.
NODES = """
static struct item *make(int i)
{
    struct item *p = %s;
    if (!p)
        exit(1);
    p->key = i; p->x = i * 2; p->tag = 'a' + i %% 26; p->y = i; p->count = 7;
    return p;
}
int main(void)
{
    struct item *all[64];
    double sum = 0;
    for (int i = 0; i < 64; i++)
        all[i] = make(i);
    for (int i = 0; i < 64; i += 3) {
        %s(all[i]);
        all[i] = make(i * 5);
        (*all[i]).tag = 'z';
        (&all[i][0])->count += all[i]->tag ? all[i]->key : all[i]->count;
    }
    for (int i = 0; i < 64; i++)
        sum += all[i]->x + all[i]->key * all[i]->y + all[i]->tag + all[i]->count;
    printf("%%.0f\\n", sum);
    for (int i = 0; i < 64; i++)
        %s(all[i]);
    return 0;
}
"""
if "without libclang" in subprocess.run([LWP, "patch", "."], capture_output=True, text=True, check=False).stderr:
    print("lwp was built without libclang (apt install libclang-dev)")
    sys.exit(77)
bad = given = 0


def wrong(name, text):
    global bad
    bad += 1
    print("%s: %s" % (name, text))


def analysis(kind, groups, size=40):
    if kind == "pad":
        return {"schema": "lwp-analysis", "version": "1.0", "findings": [{"id": "f-1", "title": "t", "refs": {"sharing": 0}}],
                "objects": [{"name": "items", "type": "struct item", "element_bytes": size}],
                "sharing": [{"object": 0, "kind": "false", "line_offset": 0, "line_bytes": 64, "fields": groups[0], "offsets": [OFFSETS[name] for name in groups[0]]}]}
    return {"schema": "lwp-analysis", "version": "1.0", "findings": [{"id": "f-1", "title": "t", "refs": {"split": 0}}],
            "objects": [{"name": "items"}],
            "splits": [{"kind": kind, "type": "struct item", "object": 0, "element_bytes": size, "speedup": 2,
                        "groups": [{"fields": group, "offsets": [OFFSETS[name] for name in group]} for group in groups]}]}


def patch(name, kind, groups, files, partial=False, options=""):
    os.makedirs(name, exist_ok=True)
    for file, text in files.items():
        with open(name + "/" + file, "w") as to:
            to.write(text)
    with open(name + "/analysis.json", "w") as to:
        json.dump(analysis(kind, groups), to)
    sources = " ".join(sorted(file for file in files if not file.endswith(".h")))
    return subprocess.run([LWP, "patch", "analysis.json", "--finding", "1", "--cc", "cc -O2 %s %s" % (options, sources)] + ["--partial"] * partial, cwd=name,
                          capture_output=True, text=True, check=False)


def built(folder, sources, name, *options):
    run = subprocess.run(CC + ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Wshadow", *options, "-pthread", "-o", name] + sources, cwd=folder, capture_output=True, text=True, check=False)
    if run.returncode:
        return "does not build", run.stderr
    out = subprocess.run(["./" + name], cwd=folder, capture_output=True, text=True, check=False,
                         env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))
    return (out.returncode, out.stdout, out.stderr), len(re.findall("warning:", run.stderr))


def accepted(name, kind, groups, files, *expected, options=""):
    run = patch(name, kind, groups, files, options=options)
    if run.returncode:
        wrong(name, "refused: " + run.stderr)
        return
    sources = [file for file in files if file.endswith(".c")]
    before = built(name, sources, "before")
    applied = subprocess.run(["patch", "-s", "-p1"], input=run.stdout, cwd=name, capture_output=True, text=True, check=False)
    after = built(name, sources, "after", "-fsanitize=address,undefined", "-fno-sanitize-recover")
    if applied.returncode or before != after or before[0][0] != 0:
        wrong(name, "%s\n%s\n%s\n%s" % (applied.stdout, before, after, run.stdout[:2000]))
    for text in expected:
        if text not in run.stdout:
            wrong(name, "no %r in\n%s" % (text, run.stdout))


def refused(name, kind, files, reason, options=""):
    global given
    given += 1
    if given % 3 and "LONG" not in os.environ:  # each third one
        return
    groups = [["x", "y", "count", "key", "tag"]] if kind == "reorder" else [["x", "y"]]
    run = patch("no-" + name + "-" + kind, kind, groups, files if isinstance(files, dict) else {"a.c": files}, options=options)
    names = re.findall(r"^(?:\S+: )?([a-z+-]+): ", run.stderr, re.M)
    if run.returncode != 1 or reason not in names or run.stdout:
        wrong(name, "%s expected, status %d, %s" % (reason, run.returncode, run.stderr))


def after(text, start):
    """USE with a statement added at the start of main."""
    return HEAD + TYPE + text + USE.replace("double sum = 0;", "double sum = 0; %s" % start)


WHOLE = [["x", "y", "count", "key", "tag"]]
HOT = [["x", "y"]]
ALL = [["key", "x", "tag", "y", "count"]]
COMMENTED = TYPE.replace("{ ", "{\n    /* its number */\n    ").replace("; ", "; /* one\n                     * two */\n    ", 1).replace("char", "// a letter\n    char")

# ---- what is done ----
accepted("order", "reorder", WHOLE, {"a.c": HEAD + COMMENTED + USE}, "its number", "// a letter")
accepted("order-shared", "reorder", WHOLE, {"a.c": '#include "t.h"\n' + "struct item first = {1, 2, 'a', 3, 4}; int get(struct item *p) { return p->key; }\n",
                                           "b.c": HEAD + '#include "t.h"\n' + USE.replace("free(items)", "struct item s = {.key = 1, .y = 2}, z = {0}, c = s; printf(\"%d %d %.0f %d %.0f %ld\\n\", get(&c), z.key, c.y, first.key, first.x, first.count); free(items)"),
                                           "t.h": "#ifndef T\n#define T\n" + TYPE + "\nextern struct item first; int get(struct item *p);\n#endif\n"}, ".key = 1", ".count = 4")
accepted("order-group", "reorder", [["y", "x", "count", "key", "tag"]],
         {"a.c": HEAD + "struct item { int key; double x; char tag; double y; long count; };" + USE.replace("free(items)", "memset(items, 0, 3 * sizeof(struct item)); qsort(items, 100, sizeof *items, by); free(items)")
          .replace("int main", "static int by(const void *a, const void *b) { const struct item *p = a, *q = b; return p->key - q->key; }\nint main")})
accepted("arrays", "split", HOT, {"a.c": HEAD + COMMENTED + USE.replace("for (int i", "if (!items || items == NULL) return 1;\n    for (int i", 1)}, "items_cold[i].tag")
accepted("arrays-static", "split", [["x"], ["y", "key"]], {"a.c": HEAD + TYPE + USE.replace("*items;", "items[100];").replace("items = malloc(100 * sizeof *items);", "").replace("free(items);", "")}, "items_x[100]")
accepted("arrays-typedef", "split", HOT, {"a.c": HEAD + "typedef " + TYPE.replace("};", "} item;") + USE.replace("static struct item *", "static item *").replace("sizeof *items", "sizeof(item)")})
accepted("pool", "split", HOT, {"a.c": HEAD + TYPE + NODES % ("malloc(sizeof *p)", "free", "free")}, "item_cold(p)->key")
accepted("pool-wrapped", "split", [["x"], ["y"]], {"a.c": HEAD + TYPE + """
void *need(size_t count, size_t size) { void *m = calloc(count, size); if (!m) { fprintf(stderr, "no memory\\n"); exit(1); } return m; }
void drop(void *m) { if (m) free(m); }
""" + NODES % ("need(1, sizeof(struct item))", "drop", "drop")}, "item_calloc(1, sizeof(struct item))", "item_free(all[i])")
# nodes as they are: their layout may be fixed, but all that frees them must be known
for name, text in (("nodes", NODES % ("malloc(sizeof *p)", "free", "free")),
                   ("nodes-held", "\n_Static_assert(sizeof(struct item) == 40, \"\");\n" + NODES.replace("double sum = 0;", "struct item copy = {1, 2, 'c', 4, 5}; double sum = copy.x + sizeof(struct item) + offsetof(struct item, y);")
                    .replace("printf(", "memcpy(&copy, all[0], sizeof copy); printf(", 1) % ("calloc(1, sizeof(struct item))", "free", "free"))):
    accepted(name, "pool", ALL, {"a.c": HEAD + COMMENTED.replace("int key;", "int key : 32;") + text}, "LWP_SPLIT_POOL(item, struct item, sizeof(struct item))\n", "item_free(all[i])")
accepted("nodes-two", "pool", ALL, {"a.c": '#include <stdlib.h>\n#include "t.h"\nstruct item *fresh(void) { return calloc(1, sizeof(struct item)); }\nvoid old(struct item *p) { free(p); }\n',
                                   "b.c": HEAD + '#include "t.h"\n' + NODES % ("fresh()", "old", "old"),
                                   "t.h": "#pragma once\n" + TYPE + "\nstruct item *fresh(void); void old(struct item *);\n"})
for name, text, reason in (("external", after("int elsewhere(struct item *);", "sum += elsewhere(items);"), "external-function"),
                           ("embedded", after("struct two { struct item a, b; } *two;", "two = malloc(sizeof *two); free(&two->a);"), "embedded"),
                           ("void", after("static void *kept;", "kept = items; sum += kept == NULL;"), "void-pointer"),
                           ("cast-back", after("", "double d[5] = {0}; sum += ((struct item *)d)->x;"), "cast"),
                           ("union", after("union u { struct item *i; char *b; };", ""), "union"),
                           ("number", after("", "struct item *n = malloc(40); sum += n->x;"), "size-as-number"),
                           ("trailing", after("", "struct item *n = malloc(sizeof *n + 8); sum += n->x;"), "trailing-bytes"),
                           ("allocator", after("void *mystery(size_t n);", "struct item *n = mystery(sizeof *n); sum += n->x;"), "allocator"),
                           ("macro", after("\n#define NEW(type) ((type *)malloc(sizeof(type)))\n", "struct item *n = NEW(struct item); sum += n->x;"), "macro"),
                           ("nested", HEAD + "struct outer { " + TYPE.replace("};", "} *inner;") + " };" + NODES.replace("int main", "struct outer out;\nint main") % ("malloc(sizeof *p)", "free", "free"), "nested-type"),
                           ("name", after("static int item_free;", "sum += item_free;"), "name-taken")):
    refused(name, "pool", text, reason)
accepted("pool-two", "split", HOT, {"a.c": '#include <stdlib.h>\n#include "t.h"\nstruct item *fresh(void) { return calloc(1, sizeof(struct item)); }\nvoid old(struct item *p) { free(p); }\n',
                                   "b.c": HEAD + '#include "t.h"\n' + NODES % ("fresh()", "old", "old"),
                                   "t.h": "#pragma once\n" + TYPE + "\nstruct item *fresh(void); void old(struct item *);\n"})
accepted("pool-resized", "split", HOT, {"a.c": HEAD + TYPE + """
int main(void)
{
    struct item *p = NULL, *q;
    long sum = 0;
    for (int n = 1; n < 2000; n = n * 3 / 2 + 1) {
        p = realloc(p, n * sizeof *p);
        q = calloc(n, sizeof *q);
        for (int i = n / 2; i < n; i++) { p[i].key = i; p[i].count = q[i].count + 1; p[i].x = q[i].key; q[i].key = 9; }
        free(q);
    }
    for (q = p; q < p + 1500; q++) sum += q->key + q->count;
    printf("%ld %td\\n", sum - (q - p), q - p);
    free(p);
}
"""})
# lines that end with \r\n: comments go with their fields, and new lines end so, too
for kind, groups, text in (("reorder", WHOLE, b"    double x; /* two */\r\n    double y;\r\n"), ("split", HOT, b"    double x; /* two */\r\n    double y;\r\n")):
    name = "returns-" + kind
    os.makedirs(name)
    lines = TYPE.replace("{ ", "{\n    ").replace("; ", ";\n    ").replace("    };", "};").replace("key;", "key; /* one */").replace("x;", "x; /* two */")
    with open(name + "/a.c", "w", newline="\r\n") as to:
        to.write(HEAD + lines + NODES % ("malloc(sizeof *p)", "free", "free"))
    with open(name + "/analysis.json", "w") as to:
        json.dump(analysis(kind, groups), to)
    before = built(name, ["a.c"], "before")
    run = subprocess.run([LWP, "patch", "analysis.json", "--cc", "cc a.c"], cwd=name, capture_output=True, check=False)
    applied = subprocess.run(["patch", "-s", "-p1", "--binary"], input=run.stdout, cwd=name, capture_output=True, check=False)
    patched = open(name + "/a.c", "rb").read()
    if run.returncode or applied.returncode or built(name, ["a.c"], "after") != before or text not in patched or b"key; /* one */" not in patched:
        wrong(name, "%s\n%s\n%s" % (run.stderr, applied.stdout, patched[:900].decode()))
    if patched.count(b"\n") != patched.count(b"\r\n"):
        wrong(name, "lines end in two ways")

# where address space is limited pools reserve less of it
for name in ("pool", "pool-resized"):
    built(name, ["a.c"], "plain")
    limited = [subprocess.run("ulimit -v %d; ./plain" % kilobytes, shell=True, cwd=name, capture_output=True, text=True, check=False) for kilobytes in (1 << 30, 200000)]
    before = subprocess.run(["./before"], cwd=name, capture_output=True, text=True, check=False)
    if any((run.returncode, run.stdout) != (0, before.stdout) for run in limited):
        wrong(name, "with limited address space: %s" % limited)
accepted("macro-argument", "split", HOT, {"a.c": HEAD + TYPE + "\n#define TWICE(e) ((e) + (e))\n" + NODES.replace("all[i]->count;\n    p", "TWICE(all[i]->count) + TWICE(all[i]->key);\n    p") % ("malloc(sizeof *p)", "free", "free")})

accepted("macro-body", "split", HOT, {"a.c": '#include "t.h"\n#include <assert.h>\n' + NODES.replace("all[i] = make(i);", "all[i] = make(i), assert(KEY(all[i]) >= 0 && BOTH(all[i]));", 1)
                                              .replace("all[i]->x + all[i]->key * all[i]->y", "all[i]->x + KEY(all[i]) * all[i]->y + KEY(OF(all, i))") % ("malloc(sizeof *p)", "free", "free"),
                                      "t.h": HEAD + TYPE + "\n#define KEY(p) ((p)->key)\n#define OF(a, i) ((a)[i])\n#define BOTH(p) (KEY(p) >= 0 && (*(p)) . tag)\n"},
         "(item_cold((p))->key)", "item_cold(&(*(p)))->tag")

# fields that threads share, and elements that each thread has one of: cache lines apart wherever an array of them begins
APART = "#include <stddef.h>\n#include \"%s\"\n_Static_assert(%s, \"\");\n"
for name, fields, text, apart in (("pad-fields", ["key", "x", "count"], TYPE, "offsetof(struct item, x) >= 67 && offsetof(struct item, count) - offsetof(struct item, x) >= 71 && sizeof(struct item) - offsetof(struct item, count) - 8 + 4 >= 63"),
                                  ("pad-elements", ["x", "x"], COMMENTED, "sizeof(struct item) >= 71 && sizeof(struct item) < 90")):
    accepted(name, "pad", [fields], {"a.c": HEAD + '#include "t.h"\n' + USE.replace("double sum = 0;", "double sum = 0; static struct item few[] = {{1, 2, 'a', 3, 4}}; sum += few[0].y;"),
                                     "t.h": text}, "pad1[", ".tag = 'a'")
    with open(name + "/apart.c", "w") as to:
        to.write(APART % ("t.h", apart))
    if subprocess.run(CC + ["-c", "apart.c"], cwd=name, check=False).returncode:
        wrong(name, open(name + "/t.h").read())
refused("sizeof", "pad", after("", "sum += sizeof(struct item);"), "sizeof")
refused("fwrite", "pad", after("", "fwrite(items, sizeof *items, 1, stderr);"), "raw-bytes")
OFFSETS["y"] = 16
refused("declarator", "pad", HEAD + TYPE.replace("double x; char tag; double y;", "double x, y; char tag;") + USE, "declarator")

OFFSETS["y"] = 24

# the address of a field whose neighbours have the same type, given to a function that looks at one value
ALIKE = HEAD + TYPE.replace("char tag; double y;", "double y; char tag;")
OFFSETS.update({"y": 16, "tag": 24})
accepted("one-value", "reorder", [["y", "x", "count", "key", "tag"]], {"a.c": ALIKE + "static void twice(double *d) { if (d) *d = (*d) * 2; }" +
                                                                      USE.replace("double sum = 0;", "double sum = 0; twice(&items[3].x);")})
refused("two-values", "split", ALIKE + "static double both(double *d) { return d[0] + d[1]; }" + USE.replace("double sum = 0;", "double sum = both(&items[0].x);"), "field-address")
refused("cast-values", "split", ALIKE + "static int one(double *d) { return *(int *)(void *)d; }" + USE.replace("double sum = 0;", "double sum = one(&items[0].x);"), "field-address")
refused("value-in-dots", "split", ALIKE + "static int some(int n, ...) { return n; }" + USE.replace("double sum = 0;", "double sum = some(1, &items[0].x);"), "field-address")
OFFSETS.update({"tag": 16, "y": 24})
# the address of the first field, given to who only looks
accepted("first-looked-at", "reorder", WHOLE, {"a.c": HEAD + TYPE + "static void show(const int *n) { if (n) printf(\"%d\\n\", *n); }" +
                                               USE.replace("double sum = 0;", "double sum = 0; int *other = malloc(8); free(other); show(&items[3].key); if (sscanf(\"7\", \"%d\", &items->key) == 1) sum++;")})
# what stands behind a pragma is read, too; what the pragma names is not renamed
PARALLEL = HEAD + TYPE + USE.replace("    for (int i", "#pragma omp parallel for CLAUSE\n    for (int i", 1)
accepted("openmp", "split", HOT, {"a.c": PARALLEL.replace("CLAUSE", "")}, "items_cold[i].tag", options="-fopenmp")
accepted("openmp-clause", "split", HOT, {"a.c": PARALLEL.replace("CLAUSE", "shared(items) \\\n schedule(static)")}, "item_cold(", options="-fopenmp") # not by arrays of other names
refused("openmp-field", "split", HEAD + TYPE + NODES.replace("for (int i = 0; i < 64; i++)\n        sum", "struct item *p = all[0];\n#pragma omp parallel for \\\n reduction(+ : p->tag)\n    for (int i = 0; i < 64; i++)\n        sum") % ("malloc(sizeof *p)", "free", "free"), "directive", options="-fopenmp")
accepted("never", "split", HOT, {"a.c": HEAD + TYPE + "\n#if 0 /* old */\nint f(struct item *p) { return p->key; }\n#endif\n#define NO_ITEM ((struct item *)0)\n" +
                                 NODES.replace("if (!p)", "if (p == NO_ITEM)") % ("malloc(sizeof *p)", "free", "free")})

# ---- what is refused: by its name ----
for kind in ("reorder", "split"):
    refused("union", kind, after("union u { struct item i; char b[40]; };", ""), "union")
    refused("bit-field", kind, HEAD + TYPE.replace("int key;", "int key : 3;") + USE, "bit-field")
    refused("anonymous", kind, HEAD + TYPE.replace("long count;", "union { long count; void *other; };") + USE, "anonymous-member")
    refused("packed", kind, HEAD + TYPE.replace("};", "} __attribute__((packed));") + USE, "packed")
    refused("pragma", kind, HEAD + "#pragma pack(1)\n" + TYPE + "\n#pragma pack()\n" + USE, "packed")
    refused("flexible", kind, HEAD + TYPE.replace("long count;", "long count; char rest[];") + USE, "flexible-array")
    refused("ifdef", kind, HEAD + TYPE.replace("char tag;", "\n#ifdef X\nint more;\n#endif\nchar tag;") + USE, "ifdef-in-type")
    refused("macro-fields", kind, HEAD + "#define BOTH double x; char tag;\n" + TYPE.replace("double x; char tag;", "BOTH") + USE, "macro-in-type")
    refused("inactive", kind, after("\n#ifdef NEVER\nvoid f(struct item *p) { p->key = 1; }\n#endif\n", ""), "inactive-branch")
    refused("offsetof", kind, after("", "sum += offsetof(struct item, y);"), "offsetof")
    refused("assert", kind, after("_Static_assert(sizeof(struct item) == 40, \"\");", ""), "static-assert")
    refused("sizeof", kind, after("", "sum += sizeof(struct item);"), "sizeof")
    refused("alignof", kind, after("", "sum += _Alignof(struct item);"), "sizeof")
    refused("number", kind, after("", "struct item *n = malloc(40); sum += n->x;"), "size-as-number")
    refused("memset-number", kind, after("", "memset(items, 0, 40);"), "size-as-number")
    refused("memcpy", kind, after("", "char b[40]; memcpy(b, items, sizeof *items); sum += b[0];"), "raw-bytes")
    refused("memcmp", kind, after("", "sum += memcmp(items, items + 1, sizeof *items);"), "raw-bytes")
    refused("fwrite", kind, after("", "fwrite(items, sizeof *items, 1, stderr);"), "raw-bytes")
    refused("fread", kind, after("", "if (fread(items, sizeof *items, 1, stdin)) sum++;"), "raw-bytes")
    refused("cast", kind, after("", "sum += *(int *)items;"), "cast")
    refused("cast-void", kind, after("", "sum += *(int *)(void *)items;"), "cast")
    refused("cast-back", kind, after("", "double d[5] = {0}; sum += ((struct item *)d)->x;"), "cast")
    refused("integer", kind, after("", "sum += (double)((uintptr_t)items & 0);"), "integer-cast")
    refused("void", kind, after("static void *kept;", "kept = items; sum += kept == NULL;"), "void-pointer")
    refused("void-argument", kind, after("static int first(void *p) { return *(char *)p; }", "sum += first(items);"), "void-pointer")
    refused("void-dots", kind, after("static int first(int n, ...) { return n; }", "sum += first(1, (void *)items);"), "void-pointer")
    refused("void-back", kind, after("static double get(void *p) { struct item *i = p; return i->x; }", "double d[5] = {0}; sum += get(d);"), "void-pointer")
    refused("varargs", kind, after("", "fprintf(stderr, \"%p\", items);"), "varargs")
    refused("external", kind, after("int elsewhere(struct item *);", "sum += elsewhere(items);"), "external-function")
    refused("external-variable", kind, after("extern struct item other;", "sum += other.x;"), "external-variable")
    refused("function-cast", kind, after("static int f(struct item *p) { return p->key; }", "int (*g)(int *) = (int (*)(int *))f; sum += g != NULL;"), "function-cast")
    refused("field-address", kind, HEAD + TYPE.replace("char tag; double y;", "double y; char tag;") + USE.replace("double sum = 0;", "double sum = 0, *d = &items[0].x; sum += d[1] * 0;"), "field-address")
    refused("first-field", kind, after("static void drop(double *d) { free(d); }", "drop(&items->x);").replace("int key; double x;", "double x; int key;"), "first-field")
    refused("first-inner", kind, {"a.c": after("void drop(int *);\nstatic int *of(struct item *p) { return &p->in.n; }", "drop(of(items));").replace("struct item { int key;", "struct item { struct { int n; } in; int key;", 1),
                                  "b.c": "#include <stdlib.h>\nvoid drop(int *d) { free(d); }\n"}, "first-field")
    refused("first-kept", kind, after("", "pthread_key_t key; pthread_key_create(&key, free); pthread_setspecific(key, &items->x);").replace("int key; double x;", "double x; int key;"), "first-field")
    for text in ("struct in { double d; } x; char tag; struct in y;", "enum { ONE = 1 } tag; double x, y[ONE];", "struct { struct in { double d; } a; } x; char tag; double y[sizeof(struct in) / 8];"):
        refused("tag-of-field", kind, HEAD + TYPE.replace("double x; char tag; double y;", text) + USE.replace(".x =", ".key =").replace(".y =", ".key =").replace(".x +", ".key +").replace(".y +", ".key +"), "tag-of-field")
    refused("assembler", kind, after("", "__asm__ volatile(\"\" : : \"r\"(items) : \"memory\");"), "assembler")
    refused("allocator", kind, after("void *mystery(size_t n);", "struct item *n = mystery(sizeof *n); sum += n->x;"), "allocator")
    refused("trailing", kind, after("", "struct item *n = malloc(sizeof *n + 8); sum += n->x;"), "trailing-bytes")
    refused("parse", kind, after("", "this is no C;"), "parse")
    refused("other", kind, HEAD + TYPE.replace("struct item", "struct thing") + "int main(void) { return 0; }", "no-type")
    refused("layout", kind, HEAD + TYPE.replace("long count;", "long count, more;") + USE, "other-layout")
    refused("twice", kind, {"a.c": HEAD + TYPE + USE, "b.c": TYPE.replace("};", "};\n") + "int f(struct item *p) { return p->key; }"}, "defined-twice")
    refused("c++", kind, {"a.c": HEAD + TYPE + USE, "b.cpp": "int f() { return 1; }"}, "c++")
    refused("declarator", kind, HEAD + TYPE.replace("int key; double x; char tag; double y;", "int key; double x; char tag; double y;").replace("double x;", "double x, (*f)(void), y;").replace(" double y;", "") + USE, "other-layout")
refused("initialiser", "reorder", after("struct item few[] = {1, 2, 3, 4, 5};", "sum += few[0].x;"), "initialiser")
refused("initialiser-macro", "reorder", after("#define TWO 1, 2\nstruct item few = {TWO, 3, 4, 5};".replace("#", "\n#"), "sum += few.x;"), "initialiser")
for name, macro, use in (("unlike", "p->tag", "TAG(q)"), ("called", "get(p)->tag", "TAG(q)"), ("twice", "((p)->tag + (p)->tag)", "TAG(q)"),
                         ("other-type", "((p)->tag)", "TAG(q) + TAG(&thing)"), ("string", "((p)->tag + sizeof \"tag\")", "TAG(q)")):
    refused("macro-" + name, "split", after("struct thing { int tag; } thing; struct item *get(struct item *p) { return p; }\n#define TAG(p) %s\n" % macro, "struct item *q = items; sum += %s;" % use), "macro")
refused("macro-again", "split", after("\n#define TAG(p) ((p)->tag)\nint first(struct item *p) { return TAG(p); }\n#undef TAG\n#define TAG(p) ((p)->tag + 1)\n", "struct item *q = items; sum += TAG(q);"), "macro")
refused("stringified", "split", after("\n#define SHOW(e) printf(\"%s %d\", #e, (e))\n", "struct item *q = items; SHOW(q->key);"), "stringified")
refused("by-value", "split", after("", "struct item *q = items; struct item copy = *q; sum += copy.key;"), "by-value")
refused("embedded", "split", after("struct two { struct item a, b; };", "struct item *q = items; sum += q->key;"), "embedded")
refused("nested", "split", HEAD + "struct outer { " + TYPE.replace("};", "} *inner;") + " };" + NODES.replace("int main", "struct outer out;\nint main") % ("malloc(sizeof *p)", "free", "free"), "nested-type")
refused("name", "split", after("static int item_cold;", "struct item *q = items; sum += q->key + item_cold;"), "name-taken")

# ---- --partial, and edits that no patch is printed without ----
run = patch("partial", "reorder", WHOLE, {"a.c": after("", "sum += sizeof(struct item);")}, partial=True)
if run.returncode != 1 or "--- a/a.c" not in run.stdout or "sizeof:" not in run.stderr:
    wrong("partial", "%d %s %s" % (run.returncode, run.stdout, run.stderr))
# findings of no layout say why there is no patch
for kind, name, text in (("redundancy", "dead-store-1", "about what is computed and stored"), ("communication", "mapping-1", "which threads do which work"),
                         ("locality", "pages-1", "no data move"), ("locality", "fusion-1", "only interchanged")):
    with open("partial/other.json", "w") as to:
        json.dump(dict(analysis("reorder", WHOLE), findings=[{"id": name, "kind": kind, "title": "work (a.c:7) does too much", "refs": {}}]), to)
    run = subprocess.run([LWP, "patch", "other.json", "--cc", "cc a.c"], cwd="partial", capture_output=True, text=True, check=False)
    if run.returncode != 1 or run.stdout or text not in run.stderr or "a.c:7" not in run.stderr:
        wrong(name, "%d %s" % (run.returncode, run.stderr))
with open("partial/nothing.json", "w") as to:
    json.dump(dict(analysis("reorder", WHOLE), findings=[]), to)
run = subprocess.run([LWP, "patch", "nothing.json", "--cc", "cc a.c"], cwd="partial", capture_output=True, text=True, check=False)
if run.returncode != 1 or "nothing to patch" not in run.stderr:
    wrong("no findings", "%d %s" % (run.returncode, run.stderr))
for arguments, status, text in ((["--finding", "9", "--cc", "cc a.c"], 1, "there is no finding '9'"), (["--finding", "1"], 2, "which sources"),
                                (["-p", "none.json"], 1, "cannot read 'none.json'"), (["--cc", "cc", "-p", "x"], 2, "either -p or --cc")):
    run = subprocess.run([LWP, "patch", "analysis.json"] + arguments, cwd="partial", capture_output=True, text=True, check=False)
    if run.returncode != status or text not in run.stderr:
        wrong(" ".join(arguments), "%d %s" % (run.returncode, run.stderr))
with open("partial/compile_commands.json", "w") as to:
    json.dump([{"directory": TMP + "/order", "file": "a.c", "arguments": ["cc", "-c", "-o", "a.o", "a.c"]}], to)
run = subprocess.run([LWP, "patch", "--finding", "f-1", "analysis.json"], cwd="partial", capture_output=True, text=True, check=False)
if "a.c:7: other-layout" not in run.stderr or run.returncode != 1: # the patch was applied there
    wrong("database", "%d %s" % (run.returncode, run.stderr))
sys.exit(1 if bad else 0)
