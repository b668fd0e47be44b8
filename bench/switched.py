"""What lwp costs, seen within one run: bench/within switches it off and on between pieces of the program's work that come again, so
that runs of the same program, which differ by more than lwp costs, need not be compared."""
import collections
import math
import os
import resource
import shutil
import statistics
import subprocess


def cost(folder, command, environment, options=(), runs=1):
    """What lwp costs, and the margin of 95 %, of CPU time: by the differences between the k-th piece of a kind with lwp and the k-th
    without, trimmed by a tenth at each end. environment: where the pieces are (bench/within.c)."""
    result, times, without, extra, variance = folder + "/result", folder + "/within", 0, 0, 0
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, most), most))  # where lwp's files begin at 200, as bench/within has it
    environment = dict(os.environ, LD_PRELOAD=":".join(map(os.path.abspath, ("bench-bin/within.so", "liblwp-light.so"))), WITHIN=times, LWP_IMPORTS="0", **environment)
    for _ in range(runs):
        shutil.rmtree(result, ignore_errors=True)
        subprocess.run(["./lwp", "collect", "-q", "--no-analyze", *options, "-o", result, "--"] + command, check=True,
                       env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        kinds = collections.defaultdict(lambda: ([], []))
        with open(times) as file:
            for thread, kind, on, seconds in map(str.split, file):
                kinds[thread, kind][int(on)].append(float(seconds))
        for off, on in kinds.values():
            differences = sorted(b - a for a, b in zip(off, on))
            count, cut = len(differences), len(differences) // 10
            if count < 3:
                continue
            kept = differences[cut:count - cut]
            winsorized = [kept[0]] * cut + kept + [kept[-1]] * cut
            without += sum(off[:count])
            extra += statistics.mean(kept) * count
            variance += statistics.variance(winsorized) * count / (1 - 2 * cut / count) ** 2
    return extra / without, 1.96 * math.sqrt(variance) / without
