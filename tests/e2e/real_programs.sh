#!/bin/bash
exec "$SRC/tests/real_programs.sh" 20
