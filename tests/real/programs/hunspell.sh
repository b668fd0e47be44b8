# Checks spelling, in C++: a hash table of words with their affix flags in one block each, tables of affix entries as trees and lists.
packages=hunspell
language=c++
needs=python3
sampled=6 traced=1
build() {
    nice $CXX $CFLAGS -std=c++11 -DHUNSPELL_STATIC -DBUILDING_LIBHUNSPELL -Isrc/hunspell -Isrc/parsers -o speller -x c++ - src/hunspell/*.cxx <<'C'
#include <cstdio>
#include <fstream>
#include <hunspell.hxx>
#include <string>
int main(int, char **argv)
{
    Hunspell checker(argv[1], argv[2]);
    std::ifstream words(argv[3]);
    std::string word;
    long good = 0, suggested = 0, at = 0;
    while (words >> word) {
        bool right = checker.spell(word);
        good += right;
        if (!right && ++at % 100 == 0)
            suggested += (long)checker.suggest(word).size();
    }
    printf("%ld %ld\n", good, suggested);
}
C
}
run() {
    python3 - "$SIZE" <<'P'
import random, sys
random.seed(19)
stems = sorted({"".join(random.choices("etaoinshrdlucm", k=random.randint(3, 9))) for _ in range(60000)})
with open("words.aff", "w") as out:
    out.write("SET UTF-8\nTRY etaoinshrdlucm\n")
    for flag, ends in (("A", ["s", "ed", "ing"]), ("B", ["er", "est"]), ("C", ["ly", "ness"])):
        out.write("SFX %s Y %d\n" % (flag, len(ends)) + "".join("SFX %s 0 %s .\n" % (flag, end) for end in ends))
with open("words.dic", "w") as out:
    out.write("%d\n" % len(stems) + "".join("%s/%s\n" % (stem, random.choice(["A", "AB", "BC", "ABC"])) for stem in stems))
with open("text", "w") as out:
    for _ in range(4000 * int(sys.argv[1])):
        word = random.choice(stems) + random.choice(["", "", "s", "ed", "er", "ly", "ness", "x"])
        out.write(word + "\n")
P
    $WITH "$TREE/speller" words.aff words.dic text
}
