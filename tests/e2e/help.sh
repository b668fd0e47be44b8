#!/bin/bash
# --help, man pages and completion speak of the same commands and options, and so do the examples in the documentation.
set -u
fail() { echo "FAILED: $*"; exit 1; }
cd "$TMP" || exit 1
commands=$("$LWP" help | sed -n 's/^  \([a-z][a-z]*\)  *[a-z].*/\1/p' | grep -vx help)
[ "$(wc -w <<< "$commands")" -ge 10 ] || fail "commands: $commands"

[ "$("$LWP" help --rows | cut -d ' ' -f 1 | grep -vx help)" = "$commands" ] || fail "rows of the overview"
for command in $commands; do
    "$LWP" help "$command" > by-help || fail "help $command"
    "$LWP" "$command" --help > by-option || fail "$command --help"
    cmp by-help by-option || fail "help $command differs from $command --help"
    page=$BUILD/man/lwp-$command.1
    [ -s "$page" ] || fail "no man page of $command"
    grep -q "^\.It Xr lwp-$command 1" "$BUILD/man/lwp.1" || fail "lwp.1 without $command"
    grep -Eo '^  (-.,|   ) --[a-z-]+' by-help | tr -d ', ' | sed 's/--/\n--/' | grep . | sort > of-help
    grep '^\.It ' "$page" | grep -o 'Fl [^ ]*' | sed 's/\\//g; s/Fl /-/' | sort > of-page
    "$LWP" help --rows "$command" | cut -d ' ' -f 1 | sort > of-rows
    diff of-help of-page || fail "$command: --help (<) and the man page (>)"
    diff of-help of-rows || fail "$command: --help (<) and completion (>)"
    cp of-rows "options-$command"
done

/usr/bin/python3 "$SRC/tests/truth/words.py" "$SRC" || fail "words that are not the field's"

# What stands in the documentation as "lwp COMMAND --option" is there. Behind ./app options are the program's.
grep -Eoh "lwp ($(tr '\n' '|' <<< "$commands" | sed 's/|$//')) [^\`'|;#)]*" "$SRC"/man/*.mdoc "$SRC"/README.md "$SRC"/docs/*.md |
    sed 's, \./.*,,' > examples
[ "$(wc -l < examples)" -ge 30 ] || fail "only $(wc -l < examples) examples were found"
while read -r _ command rest; do
    for word in $rest; do
        case $word in
            --) break ;;
            --*) word=${word%%=*} word=${word%%[,.]} ;;
            -[a-zA-Z]) ;;
            *) continue ;;
        esac
        grep -qx -e "$word" "options-$command" || fail "the documentation says: lwp $command $rest, but there is no $word"
    done
done < examples

PATH=$BUILD:$PATH
completed() { # WORDS...: what bash offers for the last of them
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _lwp
    printf '%s\n' "${COMPREPLY[@]}"
}
. "$SRC/completion/lwp" || fail "the completion of bash"
mkdir results resting resultless; : > results.txt; echo '{}' > results/run.json
[ "$(completed lwp col)" = collect ] || fail "bash: lwp col: $(completed lwp col)"
[ "$(completed lwp help exp)" = export ] || fail "bash: lwp help exp"
[ "$(completed lwp report --form)" = --format ] || fail "bash: lwp report --form"
[ "$(completed lwp report --format s)" = sarif ] || fail "bash: lwp report --format s: $(completed lwp report --format s)"
[ "$(completed lwp collect -o res | sort | tr '\n' ' ')" = "resting resultless results " ] || fail "bash: only folders after -o"
[ "$(completed lwp report res)" = results ] || fail "bash: results as operands: $(completed lwp report res)"
[ "$(completed lwp import results.)" = results.txt ] || fail "bash: files to import: $(completed lwp import results.)"
[ "$(completed lwp annotate results results.)" = results.txt ] || fail "bash: files to annotate: $(completed lwp annotate results results.)"
[ "$(completed lwp collect --detect layout,sh)" = layout,sharing ] || fail "bash: after a comma: $(completed lwp collect --detect layout,sh)"
[ "$(completed lwp collect -F 100 ./app --form)" = "" ] || fail "bash: an option of the program's"
[ "$(completed lwp collect --det)" = --detect ] || fail "bash: lwp collect --det"

if command -v zsh > /dev/null; then
    zsh -f "$SRC/tests/programs/completed.zsh" "$SRC/completion" 'lwp rep' 'lwp report --format sa' 'lwp export --sou' 'lwp collect --detect layout,sh' 'lwp report result' > by-zsh 2>&1
    for word in 'lwp report' 'lwp report --format sarif' 'lwp export --source' 'lwp collect --detect layout,sharing' 'lwp report results'; do
        grep -qF "$word" by-zsh || { cat -v by-zsh; fail "zsh did not come to '$word'"; }
    done
fi

# no line is wider than a terminal (or 80 columns where there is none)
cat > columns.py << 'END'
import fcntl, os, pty, re, struct, subprocess, sys, termios
def lines(columns, command):
    if not columns:
        return subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout.split("\n")
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen(command, stdout=its, stderr=subprocess.DEVNULL)
    os.close(its)
    out = b""
    while True:
        try:
            some = os.read(ours, 65536)
        except OSError: # the other end is closed
            break
        out += some
    process.wait()
    return re.sub("\033[^m]*m|\r", "", out.decode()).split("\n")
lwp, wrong = sys.argv[1], 0
commands = [[lwp, "help"], [lwp, "doctor"], [lwp, "report", "shown"], [lwp, "diff", "shown", "shown"], [lwp, "annotate", "stalls", "particles.c", "--source", sys.argv[3]]]
commands += [[lwp, name, "--help"] for name in sys.argv[2].split()]
for columns in (0, 60, 80, 120):
    for command in commands:
        if command[1] == "annotate" and not columns:
            continue  # the text as it is
        wide = [line for line in lines(columns, command) if len(line) > (columns or 80)]
        if wide:
            wrong += 1
            print(f"{columns} columns: {command[1:]}: {wide[0]}")
sys.exit(wrong > 0)
END
mkdir shown && cp "$SRC/tests/web/analysis.json" shown || exit 1
mkdir stalls && PYTHONDONTWRITEBYTECODE=1 python3 - "$SRC" <<'END' || exit 1
import json, sys
sys.path.insert(0, sys.argv[1] + "/tests/web")
from results import add_stalls
analysis = json.load(open(sys.argv[1] + "/tests/web/analysis.json"))
add_stalls(analysis)
json.dump(analysis, open("stalls/analysis.json", "w"))
END
python3 columns.py "$LWP" "$commands" "$SRC/tests/web/particles.c" || fail "lines that are too wide"

# without DIR: the newest result here
"$LWP" report 2> err && fail "a report of nothing"
grep -q "there is no result (lwp-\*) here" err || fail "$(cat err)"
for name in lwp-old.1 lwp-new.2 lwp-older.3; do cp -r shown $name && echo '{}' > $name/run.json || exit 1; done
touch -d '1 hour ago' lwp-old.1/run.json
touch -d '2 hours ago' lwp-older.3/run.json
"$LWP" report 2> err # which has no samples
grep -q "lwp-new.2, the newest result here" err || fail "not the newest: $(cat err)"
exit 0
