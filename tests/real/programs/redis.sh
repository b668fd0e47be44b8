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
    python3 - "$SIZE" <<'P'
import hashlib, socket, sys, time
size = int(sys.argv[1])
for _ in range(600):
    try:
        s = socket.socket(socket.AF_UNIX); s.connect("socket"); break
    except OSError:
        time.sleep(0.05)
replies = hashlib.sha256()
def word(text):
    text = str(text).encode()
    return b"$%d\r\n%s\r\n" % (len(text), text)
def send(commands, marker):
    data = b"".join(b"*%d\r\n" % len(c) + b"".join(word(w) for w in c) for c in commands + [["echo", marker]])
    import threading
    writer = threading.Thread(target=s.sendall, args=(data,)); writer.start()
    got, end = b"", word(marker)
    while not got.endswith(end):
        part = s.recv(1 << 20)
        if not part: break
        replies.update(part); got = (got + part)[-200:]
    writer.join()
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
print(replies.hexdigest())
s.sendall(b"*2\r\n$8\r\nshutdown\r\n$6\r\nnosave\r\n")
s.recv(100)
P
    wait $server
}
