"""What `lwp dump` prints of one process: modules, calling contexts, allocations and samples."""
import bisect
import functools
import os
import re

import lines


class Process:
    def __init__(self, text, threads):
        self.modules, self.parents, self.pools, self.blocks, self.counts = [], {0: None}, {}, [], {}
        for line in text.splitlines():
            word = line.split()
            if line.startswith("module ") and "-" in word[4]:
                start, end = (int(part, 16) for part in word[4].split("-"))
                self.modules.append((start, end, int(word[6], 16), line.partition(" path ")[2]))
            elif line.startswith("context "):
                self.parents[int(word[1])] = (int(word[3]), int(word[5], 16))
            elif line.startswith("pool "):
                self.pools[int(word[1])] = (int(word[3]), int(word[5]))
            elif line.startswith("pool-count "):
                self.counts[int(word[1])] = self.counts.get(int(word[1]), 0) + int(word[3])
            elif line.startswith("block "):
                self.blocks.append({word[i]: word[i + 1] for i in range(0, len(word) - 1, 2)})
        self.modules.sort()
        self.samples = self.read_samples(threads)

    @staticmethod
    def read_samples(text):
        """(ip, weight, ips of the weighted accesses)"""
        samples = []
        for line in text.splitlines():
            if line.startswith("sample "):
                word = line.split()
                samples.append([int(word[word.index("ip") + 1], 16), int(word[word.index("weight") + 1]), []])
            elif line.startswith("  access ") and samples and " weighted" in line:
                samples[-1][2].append(int(line.split()[2], 16))
        return samples

    def chain(self, context):
        """Return addresses, innermost first, without the 0 that stands for callers that are not the same for all."""
        ips = []
        while context and self.parents.get(context):
            context, ip = self.parents[context]
            if ip:
                ips.append(ip + 1) # it is the call's last byte
        return ips

    def module(self, address):
        """(path, address in the file), or None."""
        at = bisect.bisect_right(self.modules, (address, 1 << 64, 0, "")) - 1
        if at < 0 or address >= self.modules[at][1]:
            return None
        return self.modules[at][3], address - self.modules[at][2]

    @functools.lru_cache(maxsize=None)
    def function_start(self, address):
        module = self.module(address)
        function = lines.file(module[0]).function(module[1]) if module and os.path.exists(module[0]) else None
        return function and function[0] + address - module[1]


def control(path):
    """The file of control.c: paths by id, allocations by (path, size), large blocks by address, mappings."""
    paths, counts, blocks, maps, lost = {}, {}, {}, [], 0
    for line in open(path):
        word = line.split()
        if word[0] == "path":
            paths[int(word[1])] = [int(frame, 16) for frame in word[2:]]
        elif word[0] == "count":
            counts[int(word[1]), int(word[2])] = int(word[3])
        elif word[0] == "block":
            blocks.setdefault(int(word[1], 16), []).append((int(word[4]), int(word[2]), int(word[3])))
        elif word[0] == "lost":
            lost = int(word[1])
        elif word[0] == "map" and len(word) > 6 and re.match("[0-9a-f]+-", word[1]):
            start, end = (int(part, 16) for part in word[1].split("-"))
            maps.append((start, end, word[6]))
    return paths, counts, blocks, maps, lost
