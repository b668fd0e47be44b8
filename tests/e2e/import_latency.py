#!/usr/bin/env python3
"""perf.data files as `perf mem record` writes them, made by hand from the documented layout: where there is PEBS (loads with a
latency and a data source, stores without), and where there is IBS (any operations, those of memory with both). What lwp import and
the analysis make of them, against what was put in."""
import json
import os
import re
import struct
import subprocess
import sys

LWP, CC = os.environ["LWP"], os.environ["CC"]
PID = TID = 4321
ELEMENTS, SAMPLES, BYTES, PERIOD = 1 << 20, 4000, 64, 1000
LOADS_ID, STORES_ID = 7, 8

SOURCE = """
struct particle { double x, y, z; long cold[4]; double mass; };
struct particle all[%d];
__attribute__((noinline)) double work(void)
{
    double sum = 0;
    for (int i = 0; i < %d; i++) {
        sum += all[i].x;
        all[i].mass = sum;
    }
    return sum;
}
int main(void) { return work() > 1; }
""" % (ELEMENTS, ELEMENTS)

# perf_event.h
IP, TID_, TIME, ADDR, CPU, PERIOD_, DATA_SRC, IDENTIFIER, WEIGHT_STRUCT = (1 << n for n in (0, 1, 2, 3, 7, 8, 15, 16, 24))
SAMPLE_TYPE = IP | TID_ | TIME | ADDR | CPU | PERIOD_ | DATA_SRC | IDENTIFIER | WEIGHT_STRUCT
MMAP2, COMM, SAMPLE = 10, 3, 9
USER, EXACT = 2, 1 << 14
OP_LOAD, OP_STORE = 2, 4


def source(op, lvl, num, snoop=0, tlb=0, remote=0):
    return op | lvl << 5 | snoop << 19 | tlb << 26 | num << 33 | remote << 37


HIT, MISS = 2, 4
L2 = source(OP_LOAD, HIT | 1 << 5, 2, tlb=2 | 8)
RAM = source(OP_LOAD, MISS | 1 << 7, 0xd, tlb=4 | 16)
OTHER_SOCKET = source(OP_LOAD, HIT | 1 << 11, 3, snoop=16, tlb=2 | 8, remote=1)  # modified in its cache
STORE = source(OP_STORE, HIT | 1 << 3, 1)


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def text(string):
    raw = string.encode() + b"\0"
    return raw + b"\0" * (-len(raw) % 8)


def trailer(time, event=LOADS_ID):
    return struct.pack("<IIQIIQ", PID, TID, time, 0, 0, event)


def sample(event, time, ip, address, latency, data_source):
    return record(SAMPLE, USER | EXACT, struct.pack("<QQIIQQIIQQQ", event, ip, PID, TID, time, address, 0, 0, PERIOD, latency,
                                                    data_source))


def attr(config, config1, pmu=4, sample_type=SAMPLE_TYPE):
    flags = 1 << 18  # sample_id_all
    body = struct.pack("<IIQQQQQIIQQ", pmu, 136, config, PERIOD, sample_type, 0, flags | 1 << 8 | 2 << 15, 0, 0, config1, 0)
    return body + b"\0" * (136 - len(body))


def perf_data(records, events=(attr(0x1cd, 30), attr(0x82d0, 0))):
    ids = struct.pack("<QQ", LOADS_ID, STORES_ID)
    header, attr_bytes = 104, 136 + 16
    ids_at, attrs_at = header, header + len(ids)
    data_at = attrs_at + len(events) * attr_bytes
    attrs = b"".join(event + struct.pack("<QQ", ids_at + 8 * i, 8) for i, event in enumerate(events))
    return (b"PERFILE2" + struct.pack("<QQQQQQQQ", header, attr_bytes, attrs_at, len(attrs), data_at, len(records), 0, 0)
            + b"\0" * 32 + ids + attrs + records)


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def ibs(start, table, load, store):
    """The kernel's words for IBS: levels as bits, a hit of the last level of another socket, page walks as misses of the second TLB."""
    places = {
        "L1": (source(OP_LOAD, HIT | 1 << 3, 0, tlb=2 | 8), 0),
        "L2": (source(OP_LOAD, HIT | 1 << 5, 0, tlb=2 | 16), 15),
        "L3": (source(OP_LOAD, HIT | 1 << 6, 0, tlb=4 | 16), 50),
        "other L3": (source(OP_LOAD, HIT | 1 << 10, 0, tlb=2 | 8), 400),
        "memory": (source(OP_LOAD, HIT | 1 << 7, 0, tlb=4 | 16), 300),
        "other memory": (source(OP_LOAD, HIT | 1 << 8, 0, tlb=4 | 16), 600),
        "store": (source(OP_STORE, HIT | 1 << 3, 0, tlb=2 | 8), 0),
        "none": (1 | 1 << 5, 0),  # PERF_MEM_NA: no access
    }
    rounds, time, expected, records = 500, 1000, 0, start
    for i in range(rounds):
        for name, (where, latency) in places.items():
            at = 0 if name == "none" else table + (i * (ELEMENTS // rounds) + i * i % 97) * BYTES + (56 if name == "store" else 0)
            records += sample(LOADS_ID, time, store if name == "store" else load, at, latency, where)
            expected += 0 if name == "none" else PERIOD * max(1, latency)
            time += 1000
    with open("ibs.data", "wb") as file:
        file.write(perf_data(records, (attr(0, 0, 10, SAMPLE_TYPE & ~WEIGHT_STRUCT | 1 << 14),)))
    subprocess.run([LWP, "import", "-q", "ibs.data"], check=True)
    data = json.loads(output(LWP, "report", "--json", "lwp-ibs.data"))
    found = next(o for o in data["objects"] if o["name"] == "all")
    memory, all_of = found["memory"], 7 * rounds
    assert data["run"]["samples_with_address"] == all_of and (found["loads"], found["stores"]) == (6 * rounds, rounds), (data["run"], found)
    assert memory["accesses"] == all_of and memory["cycles"] == expected, (memory, expected)
    want = {"L1": 2 / 7, "L2": 1 / 7, "L3": 2 / 7, "memory": 2 / 7, "other": 0}
    assert all(abs(memory["levels"][level] - share) < 1e-6 for level, share in want.items()), memory
    assert abs(memory["remote"] - 2 / 7) < 1e-6 and abs(memory["walks"] - 3 / 7) < 1e-6, memory
    assert found["type"] == "struct particle" and found["element_bytes"] == BYTES, found


def main():
    os.chdir(os.environ["TMP"])
    with open("app.c", "w") as file:
        file.write(SOURCE)
    subprocess.run([*CC.split(), "-O1", "-g", "-no-pie", "-o", "app", "app.c"], check=True)
    table = int(re.search(r"^(\w+) \w all$", output("nm", "app"), re.M).group(1), 16)
    code = output("objdump", "-d", "--no-show-raw-insn", "--disassemble=work", "app")
    accesses = [(int(m.group(1), 16), m.group(2)) for m in re.finditer(r"^ +(\w+):\s+(\S+ +\S*\(.*)$", code, re.M)]
    load = next(ip for ip, what in accesses if re.match(r"\S+ +\S*\(%r\w+\),%xmm", what))
    store = next(ip for ip, what in accesses if re.match(r"\S+ +%xmm\d+,\S*\(", what))
    segment = next(line.split() for line in output("readelf", "-lW", "app").splitlines()
                   if line.split()[:1] == ["LOAD"] and " R E " in line)
    offset, start, size = (int(segment[i], 16) for i in (1, 2, 4))

    records = record(COMM, 1 << 13, struct.pack("<II", PID, TID) + text("app") + trailer(10))
    records += record(MMAP2, USER, struct.pack("<IIQQQIIQQII", PID, TID, start, size, offset, 0, 0, 0, 0, 5, 2)
                      + text(os.path.abspath("app")) + trailer(20))
    ibs(records, table, load, store)
    expected, time = 0, 1000
    for i in range(SAMPLES):
        at = table + (i * (ELEMENTS // SAMPLES) + i * i % 97) * BYTES
        where, latency = ((L2, 40), (RAM, 300), (OTHER_SOCKET, 500), (RAM, 300))[i % 4]
        records += sample(LOADS_ID, time, load, at, latency, where)
        expected += latency * PERIOD
        if i % 4 == 0:
            records += sample(STORES_ID, time + 1, store, at + 56, 0, STORE)
            expected += PERIOD  # one cycle an event
        time += 1000
    with open("mem.data", "wb") as file:
        file.write(perf_data(records))

    subprocess.run([LWP, "import", "-q", "mem.data"], check=True)
    data = json.loads(output(LWP, "report", "--json", "lwp-mem.data"))
    run = data["run"]
    assert (run["engine"], run["weight_unit"], run["samples"]) == ("pmu", "cycles", SAMPLES * 5 // 4), run
    assert run["weight"] == expected, (run["weight"], expected)
    assert run["stall_share"] is None  # nothing but accesses was sampled
    found = next(o for o in data["objects"] if o["name"] == "all")
    assert found["type"] == "struct particle" and found["element_bytes"] == BYTES and found["elements"] == ELEMENTS, found
    assert (found["loads"], found["stores"]) == (SAMPLES, SAMPLES // 4), found
    shares = {f["name"]: f["share"] for f in found["fields"]}
    stores = SAMPLES // 4 * PERIOD / expected
    assert abs(shares["mass"] - stores) < 1e-6 and abs(shares["x"] - 1 + stores) < 1e-6, shares
    split = next(s for s in data["splits"] if s["object"] == data["objects"].index(found))
    assert any({"x", "mass"} == set(g["fields"]) for g in split["groups"]), split
    assert any("latencies" in note for note in run["notes"]) and any("carry no latency" in note for note in run["notes"])
    words = " ".join(output(LWP, "report", "lwp-mem.data").split())
    assert "for the time that accesses take" in words and "whole program" not in words, words

    memory = found["memory"]
    total = SAMPLES * 5 // 4
    want = {"L1": 1 / 5, "L2": 1 / 5, "L3": 1 / 5, "memory": 2 / 5, "other": 0}
    assert memory["from"] == "hardware" and memory["accesses"] == total and memory["cycles"] == expected, memory
    assert all(abs(memory["levels"][level] - share) < 1e-6 for level, share in want.items()), memory
    assert abs(memory["walks"] - 1 / 2) < 1e-6 and abs(memory["remote"] - 1 / 5) < 1e-6 and abs(memory["modified"] - 1 / 5) < 1e-6, memory
    assert "memory walks remote (recorded)" in words, words
    assert [t["tid"] for t in found["threads"]] == [TID] and found["threads"][0]["accesses"] == total, found["threads"]

    folder = next(name for name in os.listdir("lwp-mem.data") if name.startswith("p"))
    dump = output(LWP, "dump", f"lwp-mem.data/{folder}/t{TID}.lwps")
    levels = {}
    for level in re.findall(r"level (.*)", dump):
        levels[level] = levels.get(level, 0) + 1
    quarter = SAMPLES // 4
    assert levels == {"L2,tlb-L1": quarter, "memory,tlb-walk": 2 * quarter, "L3,remote,modified,tlb-L1": quarter,
                      "L1": quarter}, levels

    # cut anywhere: what is left is used, or a sentence says that nothing is
    whole = open("mem.data", "rb").read()
    for i, length in enumerate((0, 50, 103, 200, 500, 5000, len(whole) - 3)):
        with open("cut.data", "wb") as file:
            file.write(whole[:length])
        done = subprocess.run([LWP, "import", "-q", "-o", f"cut{i}", "cut.data"], capture_output=True, text=True)
        assert done.returncode in (0, 1, 2, 125) and (done.returncode == 0) == os.path.exists(f"cut{i}"), (length, done)
        assert done.returncode == 0 or done.stderr.startswith("lwp: "), done.stderr
    return 0


sys.exit(main())
