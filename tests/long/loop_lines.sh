#!/bin/sh
# Names and lines of loops against addr2line: a loop's lines are those of instructions of the function that it was written in,
# inlined where the result says, and no two loops have one name. In C, C++, Fortran and Rust, with loops outlined for OpenMP.
set -u
. "$SRC/tests/sampled.sh"
cd "$TMP" || exit 1
command -v addr2line > /dev/null || { echo "addr2line is not here"; exit 77; }
cat > sums.cc <<'C'
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>
struct item { double price, weight; long stock; };
static double total(const std::vector<item> &items)
{
    return std::accumulate(items.begin(), items.end(), 0.0, [](double sum, const item &i) { return sum + i.price; });
}
__attribute__((noinline)) double prices(const std::vector<item> &items) { return total(items); }
__attribute__((noinline)) long stocks(const std::vector<item> &items)
{
    return std::accumulate(items.begin(), items.end(), 0L, [](long sum, const item &i) { return sum + i.stock; });
}
int main(int, char **argv)
{
    std::vector<item> items(300000, item{1, 2, 3});
    double all = 0;
    for (int r = 0; r < atoi(argv[1]); r++)
        all += prices(items) + (double)stocks(items);
    return printf("%g\n", all) < 0;
}
C
cat > regions.c <<'C'
#include <stdio.h>
#include <stdlib.h>
enum { N = 400000 };
static double a[N], b[N];
int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    for (int r = 0; r < rounds; r++) {
#pragma omp parallel for
        for (int i = 0; i < N; i++)
            a[i] = a[i] * 0.5 + i;
#pragma omp parallel for
        for (int i = 0; i < N; i++)
            b[i] = a[N - 1 - i] * 0.5 + i;
    }
    return printf("%g\n", a[7] + b[8]) < 0;
}
C
cat > lists.rs <<'C'
struct Item { price: f64, stock: u64, _name: [u8; 40] }
#[inline(never)]
fn prices(items: &[Item]) -> f64 { items.iter().map(|i| i.price).sum() }
#[inline(never)]
fn stocks(items: &[Item]) -> u64 { items.iter().filter(|i| i.price > 0.5).map(|i| i.stock).sum() }
fn main() {
    let rounds: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let items: Vec<Item> = (0..200000u64).map(|i| Item { price: i as f64, stock: i, _name: [0; 40] }).collect();
    let mut all = 0.0;
    for _ in 0..rounds { let items = std::hint::black_box(&items); all += prices(items) + stocks(items) as f64; }
    println!("{}", all);
}
C
cat > bodies.f90 <<'F'
module motion
  implicit none
  real(8) :: place(4000000) = 0, speed(4000000) = 1
contains
  subroutine drift(rounds)
    integer, intent(in) :: rounds
    integer :: r, i
    do r = 1, rounds
      !$omp parallel do
      do i = 1, size(place)
        place(i) = place(i) * 0.5d0 + speed(i)
      end do
    end do
  end subroutine
end module
program bodies
  use motion
  character(20) :: argument
  integer :: rounds
  call get_command_argument(1, argument)
  read (argument, *) rounds
  call drift(rounds)
  print *, place(7)
end program
F
gcc -O2 -g -o inlined "$SRC/tests/programs/inlined.c" -lm && g++ -O2 -g -o sums sums.cc && gcc -O2 -g -fopenmp -o regions regions.c || exit 1
programs="inlined sums regions"
! command -v rustc > /dev/null || { rustc -O -g -o lists lists.rs && programs="$programs lists"; }
! command -v gfortran > /dev/null || { gfortran -O2 -g -fopenmp -o bodies bodies.f90 && programs="$programs bodies"; }
collect_samples 80 inlined.r 20 -- ./inlined 300000 @ && collect_samples 150 sums.r 300 -- ./sums @ || exit 1
OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive collect_samples 80 regions.r 500 -- ./regions @ || exit 1
[ ! -x lists ] || collect_samples 80 lists.r 300 -- ./lists @ || exit 1
[ ! -x bodies ] || OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive collect_samples 80 bodies.r 50 -- ./bodies @ || exit 1
for program in $programs; do
    "$LWP" analyze --no-measure "$program.r" > /dev/null 2>&1 && "$LWP" report "$program.r" > "$program.txt" && python3 - $program <<'P' || exit 1
import collections, json, os, subprocess, sys
program = sys.argv[1]
loops = [l for l in json.load(open(program + ".r/analysis.json"))["loops"]]
modules = json.load(open(program + ".r/analysis.json"))["modules"]
mine = [l for l in loops if l["kind"] == "loop" and l["module"] is not None and modules[l["module"]]["path"].endswith("/" + program)]
lines = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "-j", ".text", program], capture_output=True, text=True).stdout.splitlines()
addresses = [l.split(":")[0].strip() for l in lines if l.startswith(" ") and ":\t" in l]
out = subprocess.run(["addr2line", "-a", "-i", "-e", program], input="\n".join(addresses), capture_output=True, text=True).stdout
chains = collections.defaultdict(list) # (file, line) -> the calls around it
for block in out.split("0x")[1:]:
    frames = [f.split(" (")[0] for f in block.splitlines()[1:]]
    where = [(os.path.basename(f.rpartition(":")[0]), f.rpartition(":")[2]) for f in frames]
    for i, frame in enumerate(where):
        chains[frame].append(where[i + 1:])
for l in mine:
    name = os.path.basename(l["file"])
    for line in l["first_line"], l["last_line"]:
        around = chains[(name, str(line))]
        assert around, (l, line)
        call = l["inlined_into"]
        if call:
            assert any((os.path.basename(call["file"]), str(call["line"])) in chain for chain in around), (l, around[:3])
names = collections.Counter((l["function"], l["file"], l["first_line"], l["last_line"], l.get("level"), json.dumps(l["inlined_into"])) for l in mine)
assert mine and max(names.values()) == 1, names
said = {(l["function"], l["first_line"]) for l in mine if l["share"] > 0.02}
calls = {(l["inlined_into"]["function"], l["inlined_into"]["line"]) for l in mine if l["share"] > 0.02 and l["inlined_into"]}
if program == "inlined":
    assert {f for f, line in said if line in (21, 36)} <= {"nearest", "around"} and not {f for f, line in said} & {"tour"}, said
    assert "around (inlined.c:36-38), inlined into tour (inlined.c:44)" in open("inlined.txt").read()
if program == "sums": # the same template twice: two loops
    assert [f for f, line in calls if "total" in f] and [f for f, line in calls if "stocks" in f], calls
if program == "regions":
    assert {l["first_line"] for l in mine if l["function"] == "main"} >= {11, 14} and not [f for f, line in said if "omp" in f], said
if program == "bodies":
    assert {f for f, line in said} == {"motion::drift"}, said
if program == "lists":
    assert [f for f, line in calls if f.startswith("lists::")] and not [f for f, line in said if f.startswith("_R") or "$" in f], (calls, said)
P
done
