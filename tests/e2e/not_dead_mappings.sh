#!/bin/sh
# No store is called dead in memory that is mapped anew, emptied, moved or shared, nor one that a child on the same memory uses.
exec "$SRC/tests/truth/not_dead.sh" segment remap advise move vfork clone spawn
