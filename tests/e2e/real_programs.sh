#!/bin/bash
# tests/long/real_programs.sh has more of them, and for longer.
exec "$SRC/tests/real_programs.sh" 20 zstd sort sqlite3 python3
