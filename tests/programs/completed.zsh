# What an interactive zsh makes of each line when Tab is pressed: zsh -f completed.zsh FOLDER-OF-COMPLETIONS LINE...
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PROMPT='> ' fpath=(${(q)1} \$fpath); autoload -Uz compinit && compinit -u -D; echo rea''dy"
shift
zpty -r shell text $'*\nready*> *'
for line; do
    zpty -w -n shell "$line"$'\t\x15'
done
zpty -w shell exit
while zpty -r shell text; do print -rn -- "$text"; done
