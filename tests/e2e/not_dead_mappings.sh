#!/bin/sh
# No store is called dead in memory that is mapped anew, emptied, moved or shared, nor one that a child on the same memory uses. LONG: all of it.
exec "$SRC/tests/truth/not_dead.sh" remap advise vfork spawn ${LONG:+segment move clone}
