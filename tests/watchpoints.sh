# Skips a test that is about watchpoints where debug registers stop nothing, as in some virtual machines: . "$SRC/tests/watchpoints.sh"
"$LWP" doctor | grep -q '^yes *hardware breakpoints' || {
    echo "no hardware breakpoints (lwp doctor)"
    exit 77
}
