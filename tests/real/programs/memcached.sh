# A server with threads: items of several sizes carved out of slabs, a hash table of chains, lists by age.
packages=memcached
debs="libevent-dev libevent-2.1-7 libevent-core-2.1-7"
needs=python3
sampled=100 traced=20
build() {
    local root=$TREE/../debs/usr
    ./configure --disable-docs --disable-extstore CFLAGS="$CFLAGS" CPPFLAGS="-I$root/include -I$root/include/x86_64-linux-gnu" \
        LDFLAGS="-L$root/lib/x86_64-linux-gnu -Wl,-rpath,$root/lib/x86_64-linux-gnu" > configure.out
    nice make memcached
}
run() {
    rm -f socket
    $WITH "$TREE/memcached" -s "$PWD/socket" -u root -A -t 2 -m 512 > server.out 2>&1 < /dev/null &
    server=$!
    PYTHONPATH=$here python3 -B - "$SIZE" <<'P'
import sys
from client import Client
size, server = int(sys.argv[1]), Client("socket")
def send(lines):
    server.send(b"".join(lines) + b"mn\r\n", b"MN\r\n")
n = 2000 * size
for base in range(0, n, 10000):
    send([b"set key%d 0 0 %d\r\n%s\r\n" % (i, 20 + i % 200, b"v" * (20 + i % 200)) for i in range(base, base + 10000)])
    for r in range(3):
        send([b"get key%d\r\n" % (i * (7919 + r) % n) for i in range(base, base + 10000)])
    send([b"delete key%d\r\n" % (i * 7) for i in range(base // 7, base // 7 + 500)])
server.shut_down(b"shutdown\r\n")
P
    wait $server
}
