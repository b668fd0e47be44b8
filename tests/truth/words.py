"""Words that lwp does not use in what a person reads, each with the field's word: pages, messages, man pages and documents call a
thing what perf, Valgrind or the papers do.

Not looked for, as they are everyday English in another sense: "a run", "give", "take", "keep", "life", "side", "space", "place",
"part" and "split" by themselves, "often", "the rest", "turns into" and "turns off"."""
import re, sys
from pathlib import Path

WORDS = {
    r"wait(s|ed|ing)? for (the )?(memory|data|loads?|caches?)\b|\b(spent|time) waiting|waiting for it takes": "memory stall",
    r"\bin (\w+ )?steps of\b|\b(same|different|even|large|small|short) steps?\b|\bsteps? (of|is) (a |%\S+ )?(bytes|lines|longer|shorter)|\bsteps? evenly": "stride",
    r"\bwalk(s|ed|ing)?\b": "traverses, traversal",
    r"(walks?|streams?|fetched|accessed|read) side by side": "concurrent streams, concurrently",
    r"\bjoin(s|ed|ing)? (the |two |these )?(arrays?|them)\b|\bput together\b|belongs? together": "array regrouping",
    r"\bnew parts?\b|into %\S+ parts|\bhalves of the (structure|element)\b": "groups; hot part, cold part",
    r"\bjump(s|ed|ing)?\b": "random access",
    r"\bin order\b(?! (to|of)\b)": "sequential",
    r"\bis gone (through|over)\b": "is traversed",
    r"taken by others|take \S+ \S+ \S+ from each other|\btaken back\b": "coherence miss, cache-line bouncing",
    r"do to each other": "thread interaction",
    r"(?<![\w.>-])weights?\b(?!\s*[_=.(\"])": "cost",
    r"\bpromise[sd]?\b": "predicted",
    r"\bcame\b(?! (from|between|before|after|too|close|with)\b)": "measured",
    r"\blooked for\b": "measured; detectors",
    r"left over|\bremainders?\b(?! loop)": "remainder loop",
    r"how far (apart )?(are )?uses|far apart uses|comes? back after": "reuse distance",
    r"\blives? (at|in|on)\b|where it lives|\bwas born\b|\bdied\b": "allocated, freed; lifetime",
    r"\bspots?\b|\bhomes?\b|\bowners?\b": "data object, allocation site, code location",
    r"\bsettle[sd]?\b": "merge",
    r"\bparcels?\b": "serialize, pack",
    r"heavy hitters? often|\bseldom\b": "rarely",
    r"\bbusiest\b": "top threads",
    r"\b(together|owners)\.h\b": "thread_findings.h, data attribution",
    r"\bwatch(es|ed)\b": "watchpoint; decided, undecided",
    r"\bboards?\b": "published accesses",
    r"\brests\b(?! on\b)": "timer suspension",
    r"\bpace\b": "sampling rate control",
    r"\b(take|takes|in|by|of the|long) turns\b|\btheir turns\b": "alternately, scheduling order",
    r"last_words|left_words|last words": "exit records, window words",
    r"tell?s? \S* ?apart|told apart": "distinguished by, tracked at",
    r"\b(is|are|was|were|be|better) told\b|\btells?\b": "is reported, reports",
    r"brings? nothing": "redundant",
    r"\bto be had\b": "available",
}

# Phrases that have one of these words in its own, established sense.
ALLOWED = re.compile("|".join([
    r"page walks?|memory   walks  remote",  # of the processor through its page tables
    r"forward walk",                        # over code, to a later instruction
    r"\b(a|the|its) jump (leads|leaves|may)|with its jump|jump \|",  # the instruction, the statement
    r"rests\.sh",                           # a test
    r"home director(y|ies)|the memory's home|owner of (the|a) file",
    r"cannot\s+tell",                       # the third verdict of lwp check and diff, beside yes and no
    r"weights of a (neural )?net(work)?|the rows? of weights|columns of the weights",  # what the program computes
    r"copies watches",                      # minisat's own lists
    r"jumping \d",                          # names of made cases (tests/truth/gain_families.c)
    r"weight %|\(weight\)",                 # a record's field, as lwp dump prints it
]), re.I)

# What is a specification of names that stay.
SKIPPED = {"docs/format.md": re.compile(r"\b(weights?|homes?|watch(es|ed)?|steps?)\b")}

C_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
JS_STRING = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|`(?:[^`\\]|\\.)*`")
SETS = (("templates/*.js", JS_STRING), ("templates/*.html", None), ("man/*.mdoc", None), ("README.md", None), ("NEWS", None), ("CONTRIBUTING.md", None), ("docs/*.md", None), ("examples/**/*.md", None),
        ("lwp.c", C_STRING), *((f"{folder}/**/*.[ch]", C_STRING) for folder in ("base", "format", "analysis", "collector", "patch", "web")))


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def texts(path, strings):
    """(line, text) of what a person reads: messages of C and pages, paragraphs of documents without names in code's type."""
    text = path.read_text()
    if strings is None:
        text = re.sub(r"`[^`\n]+`", blank, text)
        at = 1
        for paragraph in re.split(r"(\n\s*\n)", text):
            yield at, " ".join(paragraph.split())
            at += paragraph.count("\n")
        return
    text = re.sub(r"/\*.*?\*/", blank, text, flags=re.S)
    text = re.sub(r"^\s*#\s*include.*$|(?<!:)//.*$", blank, text, flags=re.M)
    for match in strings.finditer(text):
        if " " in match[0]:  # others are names
            yield text.count("\n", 0, match.start()) + 1, re.sub(r"\$\{[^}]*\}", "", match[0])


source, bad = Path(sys.argv[1]), 0
for pattern, strings in SETS:
    for path in sorted(source.glob(pattern)):
        name = str(path.relative_to(source))
        for line, text in texts(path, strings):
            text = ALLOWED.sub("", SKIPPED[name].sub("", text) if name in SKIPPED else text)
            for words, right in WORDS.items():
                for match in re.finditer(words, text, re.I):
                    print(f"{name}:{line}: {text[max(0, match.start() - 40):match.end() + 30]}: say {right}")
                    bad += 1

# The sentences of docs/wording.md that are said to be used now.
code = "".join(path.read_text() for pattern, strings in SETS if strings for path in source.glob(pattern))
code = re.sub(r'"\s*\n\s*"', "", code).replace("\\u2019", "\u2019")
for now in re.findall(r"^\| `[^`]+` \| `([^`]+)` \|$", (source / "docs/wording.md").read_text(), re.M):
    if now not in code:
        print(f"docs/wording.md: no text of lwp says '{now}'")
        bad += 1
sys.exit(bad > 0)
