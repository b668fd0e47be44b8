#!/bin/sh
# Types and field names as tests/e2e/named_types.sh, for more compilers, flags and versions of DWARF.
set -u
. "$SRC/tests/truth/named_types.sh"
# shellcheck disable=SC2086
for flags in "-O1 -g" "-O2 -gdwarf-4" "-O3 -g" "-O2 -g -flto" "-O2 -g -gsplit-dwarf" "-O2 -g -fno-pie -no-pie"; do
    named_types records.c gcc $flags
    named_types classes.cc g++ $flags
done
# shellcheck disable=SC2086
for flags in "-O1 -g" "-O2 -g" "-O2 -gdwarf-4" "-O3 -gdwarf-5"; do
    named_types records.c clang $flags
    named_types classes.cc clang++ $flags
done
named_types derived.f90 gfortran -O3 -g
named_types derived.f90 gfortran -O2 -gdwarf-4
named_types slices.rs rustc -C opt-level=3 -g
[ "$done" -gt 0 ] || { echo "no compiler is here"; exit 77; }
exit $failures
