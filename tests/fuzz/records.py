#!/usr/bin/env python3
"""records.py FILE.lwps TO: the records of each of its first blocks as an input of fuzz_analyze: which engine and unit, then
the records (wrap.h)."""
import struct
import subprocess
import sys

BLOCKS, BYTES = 6, 4000  # from the beginning of a block: what is cut off is one damaged record


def blocks(data):
    at = 0
    while at + 16 <= len(data):
        kind, size = struct.unpack_from("<HxxI", data, at)
        payload = data[at + 16 : at + 16 + size]
        if kind == 1:
            yield payload
        elif kind == 2:
            yield from blocks(subprocess.run(["zstd", "-dc"], input=payload, stdout=subprocess.PIPE, check=True).stdout)
        if kind not in (1, 2):
            return
        at += 16 + size


data = open(sys.argv[1], "rb").read()
start, engine, unit = struct.unpack_from("<10xH4xBB", data)
for number, records in enumerate(blocks(data[start:])):
    if number == BLOCKS:
        break
    with open(f"{sys.argv[2]}-{number}", "wb") as out:
        out.write(bytes([engine + 4 * unit]) + records[:BYTES])
