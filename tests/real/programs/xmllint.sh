# A parser of XML: a tree of nodes with a common beginning, dictionaries of strings, an XPath engine with stacks and sets of nodes.
packages=libxml2
needs=python3
sampled=200 traced=15
build() {
    ./configure --disable-shared --without-python --without-lzma --without-icu --without-iconv CFLAGS="$CFLAGS" > configure.out
    nice make -j2 AUTOMAKE=: AUTOCONF=: ACLOCAL=: AUTOHEADER=: libxml2.la xmllint
}
run() {
    python3 - "$SIZE" > input.xml <<'P'
import random, sys
random.seed(1)
print("<shop>")
for i in range(int(sys.argv[1]) * 250):
    print(f'<item id="i{i}" kind="{i % 97}"><name>name{i * 7919 % 20011}</name>' + f"<price>{i * 31 % 1009}</price><parts>"
          + "".join(f'<part n="{k}">{random.randrange(1000)}</part>' for k in range(i % 5)) + "</parts></item>")
print("</shop>")
P
    for path in 'sum(//item[@kind="7"]/price)' 'count(//part[. > 500])' 'string(//item[price = 1000][3]/name)' 'count(//item[name = "name77"])'; do
        echo "xpath $path"
    done > commands
    $WITH "$TREE/xmllint" --shell input.xml < commands
}
