"""Compares the call paths that lwp recorded for allocations with those of a control that unwinds at every one of them.

paths_check.py DUMP CONTROL [LEAST]: DUMP is what `lwp dump process.lwps` prints, CONTROL is of paths_control.c. Every path of lwp
must be one that there was, with at most as many allocations of its size as there were (else its status is 1); LEAST of all must be
covered by whole paths (else 2)."""
import collections
import sys


def without_recursion(frames, call=True):
    """What is between the first function that is found again among its callers and the outermost that is is left out; of that one the
    call may not be known, but its function is. Then of each function only the innermost frame stays, and what is between it and the
    outermost one is left out."""
    again = [i for i, (_, function) in enumerate(frames) if any(function == inner for _, inner in frames[:i])]
    if again:
        first, last = again[0], again[-1]
        outer = frames[max(first + 1, last):]
        if outer and not call:
            outer[0] = (outer[0][1] + 1, outer[0][1])
        frames = frames[:first + 1] + outer
    kept = []
    for ip, function in reversed(frames):
        outer = [i for i, (_, seen) in enumerate(kept) if seen == function]
        kept = kept[:outer[0]] if outer else kept
        kept.append((ip, function))
    return tuple(ip for ip, _ in reversed(kept))


def main():
    contexts, pools, counts, blocks, own = {0: (0, 0)}, {}, {}, collections.Counter(), []
    for line in open(sys.argv[1], encoding="utf-8", errors="replace"):
        word = line.split()
        if line.startswith("context "):
            ip = int(word[5], 16) # in the call, whose return address follows
            contexts[int(word[1])] = (int(word[3]), ip + 1 if ip else 0)
        elif line.startswith("pool "):
            pools[int(word[1])] = (int(word[3]), int(word[5]))
        elif line.startswith("pool-count "):
            counts[int(word[1])] = int(word[3])
        elif line.startswith("block ") and word[3] == "1":
            blocks[(int(word[5]), int(word[word.index("size") + 1]))] += 1
        elif line.startswith("module ") and ("/liblwp-" in line or "control.so" in line):
            own.append(tuple(int(end, 16) for end in word[4].split("-")))

    control = []
    for line in open(sys.argv[2], encoding="utf-8"):
        count, size, *frames = line.split()
        frames = [tuple(int(part, 16) for part in frame.split("/")) for frame in frames]
        while frames and any(start <= frames[0][0] < end for start, end in own):
            frames = frames[1:]
        control.append((int(count), int(size), frames))
    whole, exact, begins = collections.Counter(), collections.Counter(), collections.Counter()
    for count, size, frames in control:
        for path in {without_recursion(frames), without_recursion(frames, False)}:
            whole[(path, size)] += count
            whole[(path, 0)] += count
        ips = tuple(ip for ip, _ in frames)
        for length in range(1, min(len(ips), 24) + 1):
            for of in {ips[:length], without_recursion(frames[:length])}:
                begins[(of, size)] += count
                begins[(of, 0)] += count
        exact[size] += count

    recorded = collections.Counter(blocks)
    for pool, (context, size) in pools.items():
        recorded[(context, size)] += counts.get(pool, 0)
    wrong, good, various, total = 0, 0, 0, sum(exact.values())
    for (context, size), count in sorted(recorded.items()):
        path, at, is_various = [], context, False
        while at:
            parent, ip = contexts[at]
            is_various |= ip == 0
            path += [ip] if ip else []
            at = parent
        there = (begins if is_various else whole)[(tuple(path), size)]
        if count > there:
            wrong += 1
            kind, ips = "various" if is_various else "whole", " ".join(f"{ip:x}" for ip in path)
            print(f"WRONG: {count} of {size} bytes, {there} in truth, {kind}: {ips}")
        elif is_various:
            various += count
        else:
            good += count
    print(f"{total} allocations: {good} with their whole path, {various} with its inner part; "
          f"{wrong} wrong of {len(recorded)} paths and sizes")
    least = float(sys.argv[3]) if len(sys.argv) > 3 else 0
    sys.exit(1 if wrong else 2 if good < least * total else 0)


main()
