# A server: hash tables of linked entries, reference-counted objects with their value behind them, strings with a header in front.
packages=redis
needs=python3
sampled=400 traced=20
build() {
    nice make -C src MALLOC=libc OPTIMIZATION=-O2 redis-server V=1
}
run() {
    rm -f socket
    $WITH "$TREE/src/redis-server" --port 0 --unixsocket "$PWD/socket" --save '' --appendonly no --dir "$PWD" \
        --hash-max-listpack-entries 8 --io-threads 1 --activerehashing no --loglevel warning > server.out 2>&1 < /dev/null &
    server=$!
    PYTHONPATH=$here python3 -B - "$SIZE" <<'P'
import sys
from client import Client
size, server = int(sys.argv[1]), Client("socket")
def word(text):
    text = str(text).encode()
    return b"$%d\r\n%s\r\n" % (len(text), text)
def send(commands, marker):
    server.send(b"".join(b"*%d\r\n" % len(c) + b"".join(word(w) for w in c) for c in commands + [["echo", marker]]), word(marker))
n = 1000 * size
for base in range(0, n, 10000):
    send([["set", "key:%d" % i, "value:%d" % (i * 31 % 1009)] for i in range(base, base + 10000)], "a%d" % base)
    send([["get", "key:%d" % (i * 7919 % n)] for i in range(base, base + 10000)], "b%d" % base)
    send([["hset", "hash:%d" % (i % 500), "field%d" % (i * 17 % 2003), i] for i in range(base, base + 5000)], "c%d" % base)
    send([["zadd", "sorted:%d" % (i % 50), i * 7919 % 100003, "member%d" % i] for i in range(base, base + 5000)], "d%d" % base)
    send([["lpush", "list:%d" % (i % 100), i] for i in range(base, base + 5000)], "e%d" % base)
    send([["sadd", "set:%d" % (i % 100), "m%d" % (i * 31 % 5003)] for i in range(base, base + 5000)], "f%d" % base)
for i in range(5):
    send([["zrange", "sorted:%d" % k, 0, 50] for k in range(50)] + [["incr", "counter"]] * 2000
         + [["del", "key:%d" % (k * 5 + i)] for k in range(n // 50)], "g%d" % i)
server.shut_down(b"*2\r\n$8\r\nshutdown\r\n$6\r\nnosave\r\n")
P
    wait $server
}
