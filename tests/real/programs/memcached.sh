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
    python3 - "$SIZE" <<'P'
import hashlib, socket, sys, threading, time
size = int(sys.argv[1])
for _ in range(600):
    try:
        s = socket.socket(socket.AF_UNIX); s.connect("socket"); break
    except OSError:
        time.sleep(0.05)
replies = hashlib.sha256()
def send(lines):
    data = b"".join(lines) + b"mn\r\n"
    writer = threading.Thread(target=s.sendall, args=(data,)); writer.start()
    got = b""
    while not got.endswith(b"MN\r\n"):
        part = s.recv(1 << 20)
        if not part: break
        replies.update(part); got = (got + part)[-8:]
    writer.join()
n = 2000 * size
for base in range(0, n, 10000):
    send([b"set key%d 0 0 %d\r\n%s\r\n" % (i, 20 + i % 200, b"v" * (20 + i % 200)) for i in range(base, base + 10000)])
    for r in range(3):
        send([b"get key%d\r\n" % (i * (7919 + r) % n) for i in range(base, base + 10000)])
    send([b"delete key%d\r\n" % (i * 7) for i in range(base // 7, base // 7 + 500)])
print(replies.hexdigest())
s.sendall(b"shutdown\r\n")
s.recv(100)
P
    wait $server
}
