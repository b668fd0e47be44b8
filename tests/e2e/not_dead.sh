#!/bin/sh
# No store that something else uses is called dead: the kernel, a child, another process, what free and frames leave behind.
exec "$SRC/tests/truth/not_dead.sh" pipe socket prefetch copy string realloc reuse fork jump frame signal mapped
