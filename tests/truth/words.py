"""Words that pages, messages and man pages do not use, each with the field's word: docs call a thing what perf, Valgrind or the papers do."""
import re, sys
from pathlib import Path

WORDS = {
    r"waiting for memory|waits? for memory": "memory stall",
    r"walks? side by side": "concurrent streams",
    r"repeated walk": "repeated traversal",
    r"taken by others|take \S+ \S+ \S+ from each other": "coherence miss, false sharing",
    r"\bpromised\b|\bcame out\b": "predicted, measured",
    r"told apart": "distinguished by, tracked at",
    r"(could|can) ?not be told": "unknown",
    r"lives at|where it lives": "allocated",
    r"belongs? together": "regroup",
    r"brings nothing|bring nothing": "redundant",
    r"put together": "regrouped",
    r"joining arrays": "array regrouping",
    r"what is left over": "remainder loop",
    r"in steps of|walks? over": "stride, traverses",
    r"\bjump(s|ing)? (around|about|to and fro)|\bjumping\b": "random access",
    r"how far uses are apart|comes back after": "reuse distance",
    r"\bbusiest\b": "top threads",
    r"\bwatched\b": "watchpoints; decided, undecided",
    r"\bpromises?\b|\bthe promise\b": "predicted gain",
    r"\bwas born\b|\bdied\b": "allocated, freed; lifetime",
    r"heavy hitters? often|\bseldom\b": "rarely",
    r"is told\b|\btells\b": "is reported, reports",
    r"no \S+ was to be had": "not available",
    r"do to each other": "thread interaction",
}
STRING = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|`(?:[^`\\]|\\.)*`")

source, bad = Path(sys.argv[1]), 0
for folder, pattern, only_strings in (("templates", "*.js", True), ("templates", "*.html", False), ("analysis/output", "*.c", True), ("analysis/check", "*.c", True), ("analysis/diff", "*.c", True), ("analysis/findings", "*.c", True), ("analysis/advice", "*/*.c", True),
                                      ("analysis/review", "*.c", True), ("web", "*.c", True), ("man", "*.mdoc", False)):
    for path in sorted((source / folder).glob(pattern)):
        text = path.read_text()
        said = re.sub(r"/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), text, flags=re.S) if only_strings else text
        for number, line in enumerate(said.split("\n"), 1):
            for part in STRING.findall(line) if only_strings else [line]:
                part = re.sub(r"\$\{[^}]*\}", "", part)  # code
                for words, right in WORDS.items():
                    if re.search(words, part, re.I) and not re.fullmatch(r"'[a-z_]+'|\"[a-z_]+\"", part):
                        print(f"{path.relative_to(source)}:{number}: {part[:100]}: say {right}")
                        bad += 1
sys.exit(bad > 0)
