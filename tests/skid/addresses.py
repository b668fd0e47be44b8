#!/usr/bin/python3
"""addresses.py TRUTH DUMP LEAST: whether every address that lwp dump shows for a labelled access of loops.c is right, and there are
LEAST of them."""
import collections
import re
import sys

truth = collections.defaultdict(list)
for line in open(sys.argv[1], encoding="ascii"):
    if line.startswith("access "):
        ip, low, size, element, offset = (int(word, 16) for word in line.split()[1:6])
        truth[ip].append((low, size, element, offset))
known = wrong = 0
with open(sys.argv[2], encoding="utf-8") as dump:
    for line in dump:
        found = re.match(r"  access ip (\w+) .* address ([0-9a-f]+)$", line)
        if not found or int(found.group(1), 16) not in truth:
            continue
        ip, address = (int(word, 16) for word in found.groups())
        known += 1
        if not any(not size or low <= address < low + size and (not element or (address - low) % element == offset)
                   for low, size, element, offset in truth[ip]):
            wrong += 1
            if wrong <= 5:
                print("at %x: %x" % (ip, address), truth[ip])
if wrong or known < int(sys.argv[3]):
    print("%d addresses, %d wrong" % (known, wrong))
    sys.exit(1)
