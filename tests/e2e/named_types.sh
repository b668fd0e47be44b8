#!/bin/sh
# Types and field names of heap and static data, in the languages and by the compilers that are here: at least 95 % of the
# weight named, nothing named wrongly. The programs say in comments what each of their loops works on. LONG: Fortran and Rust, too.
set -u
. "$SRC/tests/truth/named_types.sh"
named_types records.c gcc -O2 -g
named_types classes.cc g++ -O2 -g
[ -z "${LONG:-}" ] || {
    named_types derived.f90 gfortran -O2 -g
    named_types slices.rs rustc -O -g
}
[ "$done" -gt 0 ] || { echo "no compiler is here"; exit 77; }
exit $failures
