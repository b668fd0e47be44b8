# Sourced by tests that compare two runs byte by byte. Libraries are then found without the loader's cache: a package that is installed
# between the runs changes what a search in it takes.
library_path() { # PROGRAM
    LD_LIBRARY_PATH=$(dirname "$(ldd "$1" | awk '$1 ~ /^libc\./ { print $3 }')")
    export LD_LIBRARY_PATH
}
