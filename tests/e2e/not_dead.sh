#!/bin/sh
# No store that something else uses is called dead: the kernel, a child, another process, what free and frames leave behind. LONG: more of them.
exec "$SRC/tests/truth/not_dead.sh" pipe copy string reuse fork frame mapped ${LONG:+socket prefetch realloc jump signal}
