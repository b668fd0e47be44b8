#!/bin/sh
# Types and field names as tests/e2e/named_types.sh, for more compilers, flags and versions of DWARF, and harder programs.
set -u
. "$SRC/tests/truth/named_types.sh"
for flags in "-O1 -g" "-O2 -gdwarf-4" "-O2 -g -flto" "-O2 -g -gsplit-dwarf" "-O2 -g -fno-pie -no-pie"; do
    # shellcheck disable=SC2086
    for source in records.c tricks.c; do named_types $source gcc $flags; done
    # shellcheck disable=SC2086
    for source in classes.cc tricks.cc; do named_types $source g++ $flags; done
done
for flags in "-O1 -g" "-O2 -g" "-O2 -gdwarf-4"; do
    # shellcheck disable=SC2086
    for source in records.c tricks.c; do named_types $source clang $flags; done
    # shellcheck disable=SC2086
    for source in classes.cc tricks.cc; do named_types $source clang++ -std=c++17 $flags; done
done
named_types derived.f90 gfortran -O2 -gdwarf-4
named_types slices.rs rustc -C opt-level=2 -g
named_types tricks.rs rustc -O -g
LOOSE=1
named_types records.c gcc -O3 -g
named_types classes.cc g++ -O3 -g
named_types records.c clang -O3 -gdwarf-5
named_types classes.cc clang++ -O3 -gdwarf-5
named_types derived.f90 gfortran -O3 -g
named_types slices.rs rustc -C opt-level=3 -g
[ "$done" -gt 0 ] || { echo "no compiler is here"; exit 77; }
exit $failures
