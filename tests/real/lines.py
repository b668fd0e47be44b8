"""What the line table and the symbols say of addresses in a file: inlined frames, functions' code and its loops. By binutils."""
import bisect
import functools
import os
import re
import subprocess


def base(path):
    return os.path.basename(path) if path else None


def plain(function):
    """A function's name without arguments, templates and the compiler's suffixes."""
    if not function:
        return ""
    function = re.sub(r"\.(isra|part|constprop|cold|lto_priv)\b.*", "", function)
    depth, kept = 0, []
    for special in ("operator()", "operator<", "(anonymous namespace)"):
        function = function.replace(special, re.sub(r"\W", "_", special))
    for letter in function:
        if letter in "<(":
            depth += 1
        elif letter in ">)":
            depth -= 1
        elif depth == 0:
            kept.append(letter)
    words = "".join(kept).replace(" const", "").split()
    return words[-1].split("::")[-1] if words else function


class File:
    """One binary. Frames are (function, file name, line), innermost first."""

    def __init__(self, path):
        self.path, self.known = path, {}
        self.symbols = self.read_symbols()
        self.starts = [start for start, _, _ in self.symbols]

    def read_symbols(self):
        out = subprocess.run(["nm", "-S", "--defined-only", self.path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        found = []
        for line in out.splitlines():
            word = line.split()
            if len(word) >= 4 and word[2] in "tTwWiI":
                found.append((int(word[0], 16), int(word[1], 16), word[3]))
        return sorted(found)

    def function(self, address):
        """(start, end) of the symbol around it."""
        at = bisect.bisect_right(self.starts, address) - 1
        if at < 0 or address >= self.symbols[at][0] + self.symbols[at][1]:
            return None
        return self.symbols[at][0], self.symbols[at][0] + self.symbols[at][1]

    def frames(self, addresses):
        """Frames of each address, by addr2line -i."""
        missing = sorted(set(addresses) - self.known.keys())
        if missing:
            out = subprocess.run(["addr2line", "-a", "-f", "-C", "-i", "-e", self.path], input="".join(f"{at:x}\n" for at in missing),
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace").stdout.splitlines()
            at, i = None, 0
            while i < len(out):
                if re.match("0x[0-9a-f]+$", out[i]):
                    at = int(out[i], 16)
                    self.known[at] = []
                    i += 1
                    continue
                place = re.match(r"(.*):(\d+|\?)( \(discriminator \d+\))?$", out[i + 1]) if i + 1 < len(out) else None
                line = int(place[2]) if place and place[2] != "?" else 0
                self.known[at].append((out[i], base(place[1]) if place else None, line))
                i += 2
        return {at: self.known.get(at, []) for at in addresses}

    @functools.lru_cache(maxsize=None)
    def instructions(self, start, end):
        """(address, mnemonic, operands), as text, of a function."""
        out = subprocess.run(["objdump", "-d", "--no-show-raw-insn", f"--start-address={start}", f"--stop-address={end}", self.path],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace").stdout
        return re.findall(r"^ *([0-9a-f]+):\t([a-z0-9]+(?: [a-z][a-z0-9]+)?) *(.*)$", out, re.M)

    def has_table(self, start, end):
        """Whether a jump in it has targets that only a table knows: then not all of its loops' instructions are known."""
        return any(name.split()[-1] == "jmp" and "*" in rest for _, name, rest in self.instructions(start, end))

    def calls(self, start, end):
        """The addresses of a function's calls, and of its jumps out of it."""
        found = set()
        for address, name, rest in self.instructions(start, end):
            place = re.match(r"([0-9a-f]+)\b", rest)
            if "call" in name or (name.startswith("j") and place and "*" not in rest and not start <= int(place[1], 16) < end):
                found.add(int(address, 16))
        return found

    @functools.lru_cache(maxsize=None)
    def code(self, start, end):
        """{address: (next or None, target or None)} of the instructions of a function."""
        lines = self.instructions(start, end)
        code = {}
        for i, (address, name, rest) in enumerate(lines):
            following = int(lines[i + 1][0], 16) if i + 1 < len(lines) else None
            name = name.split()[-1] if name.split()[0] in ("bnd", "notrack", "rep", "repz", "data16", "cs") else name.split()[0]
            target = None
            if name.startswith("j"):
                place = re.match(r"([0-9a-f]+)\b", rest)
                target = int(place[1], 16) if place and "*" not in rest else None
                if target is not None and not start <= target < end:
                    target = None
            if name in ("jmp", "ret", "retq", "hlt", "ud2"):
                following = None
            code[int(address, 16)] = (following, target)
        return code

    @functools.lru_cache(maxsize=None)
    def loops(self, start, end):
        """{header: instructions of its natural loop}, of the function's reducible loops."""
        code = self.code(start, end)
        order, predecessors = [], {}
        state, stack = {start}, [(start, iter([at for at in code.get(start, ()) if at is not None]))]
        while stack:
            node, rest = stack[-1]
            following = next(rest, None)
            if following is None:
                order.append(node)
                stack.pop()
                continue
            predecessors.setdefault(following, []).append(node)
            if following in code and following not in state:
                state.add(following)
                stack.append((following, iter([at for at in code[following] if at is not None])))
        order.reverse()
        number = {node: i for i, node in enumerate(order)}
        above = dominators(order, number, predecessors)
        loops = {}
        for node in order:
            for following in code[node]:
                if following in number and number[following] <= number[node] and dominates(above, number, following, node):
                    body, todo = loops.setdefault(following, {following}), [node]
                    while todo:
                        at = todo.pop()
                        if at not in body:
                            body.add(at)
                            todo += [before for before in predecessors.get(at, []) if before in number]
        return loops


def dominators(order, number, predecessors):
    """Cooper, Harvey, Kennedy: A simple, fast dominance algorithm."""
    above = {order[0]: order[0]} if order else {}
    changed = True
    while changed:
        changed = False
        for node in order[1:]:
            best = None
            for before in predecessors[node]:
                if before not in above:
                    continue
                if best is None:
                    best = before
                    continue
                other = before
                while best != other:
                    while number[best] > number[other]:
                        best = above[best]
                    while number[other] > number[best]:
                        other = above[other]
            if above.get(node) != best:
                above[node] = best
                changed = True
    return above


def dominates(above, number, node, other):
    while number[other] > number[node]:
        other = above[other]
    return other == node


@functools.lru_cache(maxsize=None)
def file(path):
    return File(path)
