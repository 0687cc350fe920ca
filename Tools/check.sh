#!/usr/bin/env bash
# Runs the command as a person does: in terminals of 80 and 40 columns (tmux), in pipes, with jq, with Ctrl-C.
#
#     check.sh FOLDER      where `vellum` and `Sample` were built
set -uo pipefail
bin=$(cd "$1" && pwd)
work=$(mktemp -d)
server="vellum-check-$$"
export PATH="$bin:$PATH" HOME="$work/home" XDG_CACHE_HOME="$work/home/.cache" TZ=UTC LC_ALL=C.UTF-8
unset COLUMNS NO_COLOR
mkdir -p "$HOME/.cache"
trap 'tmux -L "$server" kill-server 2>/dev/null; rm -rf "$work"' EXIT
failures=0 checks=0

check() {  # check NAME COMMAND…: succeeds
    checks=$((checks + 1))
    local name=$1; shift
    "$@" >"$work/check.log" 2>&1 && return
    failures=$((failures + 1))
    echo "failed: $name"; sed 's/^/    /' "$work/check.log" | head -n 12 | cat -v
}
status() {  # status EXPECTED COMMAND…: ends with that status, with at most one line of errors
    local expected=$1 actual; shift
    "$@" >"$work/out" 2>"$work/err" </dev/null; actual=$?
    [ "$actual" = "$expected" ] || { echo "status $actual, not $expected: $*"; cat "$work/err"; return 1; }
    [ "$expected" = 0 ] || [ ! -s "$work/err" ] || head -n 1 "$work/err" | grep -q '^vellum: ' || { cat "$work/err"; return 1; }
    no_controls "$work/err"
}
no_controls() {  # no_controls FILE: nothing that a terminal acts on
    ! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]' "$1"
}
json() { local filter=$1; shift; "$@" </dev/null | jq -e "$filter"; }
all() { local filter=$1; shift; "$@" | jq -es "$filter"; }  # of all lines
line() { "$@" </dev/null | head -n 1; }
# run COLUMNS COMMAND [SECONDS]: the screen after a command. A prompt ends it.
run() {
    local name="s$RANDOM"
    tmux -L "$server" -f /dev/null new-session -d -s "$name" -x "$1" -y 40 "PS1='> ' bash --norc --noprofile"
    tmux -L "$server" set-option -g status off
    printf '%s\n' "clear" "$2" 'echo "<$?>"' >"$work/c"
    tmux -L "$server" send-keys -t "$name" -l ". $work/c"
    tmux -L "$server" send-keys -t "$name" Enter
    for _ in $(seq 100); do
        tmux -L "$server" capture-pane -p -t "$name" | grep -q '^<[0-9]*>' && break
        sleep 0.1
    done
    tmux -L "$server" capture-pane -p -e -t "$name" >"$work/colored"
    tmux -L "$server" capture-pane -p -J -t "$name" | sed -n '/^<[0-9]*>/q; /./p' >"$work/joined"
    tmux -L "$server" capture-pane -p -t "$name" | sed '/^$/d' >"$work/screen"
    tmux -L "$server" kill-session -t "$name"
}
shows() { grep -qF -- "$1" "$work/screen" || { cat "$work/screen"; return 1; }; }
# No line of the output was broken: joined lines are as long as those of the screen.
fits() { [ "$(wc -L <"$work/joined")" -le "$1" ] || { cat "$work/joined"; return 1; }; }

Sample make "$work/s" || exit 1
file="$work/s/Archives.sqlite" caches="$work/s/Pictures.sqlite"
export stranger; stranger=$(printf '\033[31m<b>stranger</b>\342\200\256')

# --- Lists ---
check "an empty folder" status 1 vellum
mkdir -p "$HOME/.cache/Airports" && Sample make "$HOME/.cache/Airports"
check "files are found" json 'map(.kind) | sort == ["archives", "caches"]' vellum --json
check "entries are counted" json 'map(.entries) | sort == [20, 308]' vellum --json
check "ls" json '.archives | length == 2 and .[0].entries == 305 and .[0].limitBytes == 8388608 and .[0].isLimitGiven' vellum ls --json "$file"
check "ls of a folder" json '.kind == "archives"' vellum ls --json "$work/s"
check "ls of caches" json '.archives[0] | .name == "Thumbnails" and .cacheVersion == "3" and .entries == 20' vellum ls --json "$caches"
check "dates are of RFC 3339" json '.archives[0].newestUse | fromdateiso8601? // (sub("\\.[0-9]+"; "") | fromdateiso8601) > 0' vellum ls --json "$file"
check "keys" json 'select(.key == "LSZH") | .bytes > 10' vellum keys --json "$file" Sample.Airport --prefix LSZH
check "a short name" test "$(line vellum keys "$file" Airport)" = LSZH
check "keys by size" test "$(vellum keys "$caches" Thumbnails --by size --limit 1)" = "picture 19"
check "head ends it quietly" bash -c "vellum keys '$file' Airport 2>'$work/err' | head -n 1 | grep -q LSZH && [ ! -s '$work/err' ]"
vellum ls "$file" >"$work/out"; check "ls is safe" no_controls "$work/out"
vellum keys "$file" "$stranger" >"$work/out"; check "keys are safe" no_controls "$work/out"
check "three lines for three keys" test "$(wc -l <"$work/out")" = 3
key=$(grep title "$work/out")
check "an escaped key is found" json '.text | length > 10' vellum get --escaped "$file" "$stranger" "$key"
vellum get --escaped "$file" "$stranger" "$key" >"$work/out"; check "a value is safe" no_controls "$work/out"
vellum get --json --escaped "$file" "$stranger" "$key" >"$work/out"; check "JSON is safe" no_controls "$work/out"
check "JSON is exact" json '.key | explode[0] == 27' cat "$work/out"

# --- Reading changes nothing ---
look() { (cd "$work/s" && ls -A | grep -v -e '-shm$' -e '-wal$' && cat Archives.sqlite | cksum); }
before=$(look)
for words in "ls $file" "keys $file Airport" "get $file Airport LSZH" "find $file Airport --count" "verify $file" "report $file"; do
    vellum $words >/dev/null
    check "$words changes nothing" test "$(look)" = "$before"
done

# --- Values and queries ---
check "get" json '.name == "Zürich"' vellum get "$file" Airport LSZH
check "get --json" json '.key == "LSZH" and .value.country == "CH" and (.archive == "Sample.Airport")' vellum get --json "$file" Airport LSZH
check "raw bytes" bash -c "vellum get '$file' Airport LSZH --raw | grep -aq rich"
check "raw bytes into a file" status 0 vellum get "$file" Airport LSZH --raw -o "$work/raw"
check "mode 0600" test "$(stat -c %a "$work/raw")" = 600
check "not over a file" status 7 vellum get "$file" Airport LSZH --raw -o "$work/raw"
check "with --force" status 0 vellum get "$file" Airport LSZH --raw -o "$work/raw" --force
check "find" test "$(vellum find "$file" Airport 'country == "CH" sort elevation desc' | jq -r .key | tr '\n' ' ')" = "LSZS LSZH LSGG "
check "fields" json '.value == {"name": "Samedan"}' vellum find "$file" Airport 'country == "CH" and elevation > 2000' --fields name
check "dates" json '.value.opened == "1973-11-17T00:00:00Z"' vellum find "$file" Airport 'name == "Zürich"' --dates opened
check "count" test "$(vellum find "$file" Airport --count)" = 305
check "a stored text is found" test "$(vellum find "$file" Airport 'tags.1 == "Zürich"' | jq -r .key)" = LSZH
check "nothing matches" status 1 vellum find "$file" Airport 'country == "AQ"'
check "a wrong query" status 2 vellum find "$file" Airport 'country == and'
check "a mark" grep -q '^ *^$' "$work/err"

# --- Statuses ---
check "no such archive" status 1 vellum keys "$file" Nothing
check "no such key" status 1 vellum get "$file" Airport NONE
check "no such option" status 2 vellum ls --nonsense "$file"
check "no such file" status 3 vellum ls "$work/none"
echo "no database, only a text of some length" >"$work/text"; check "no database" status 3 vellum ls "$work/text"
check "was not changed" test "$(wc -l <"$work/text")" = 1
if command -v python3 >/dev/null; then
    python3 -c "import sqlite3; c = sqlite3.connect('$work/foreign'); c.execute('CREATE TABLE t(x)'); c.commit()"
    check "a database of another program" status 3 vellum ls "$work/foreign"
fi
check "nobody to ask" status 2 vellum delete "$file" Airport X1000
check "nothing to delete" status 1 vellum delete "$file" Airport NONE --yes
check "verify" json '.isIntact and .soundEntries == 308' vellum verify --json "$file"

# --- Carrying away ---
check "export" status 0 vellum export "$file" -o "$work/all.jsonl"
check "export has lines" all 'map(select(.key)) | length == 308' cat "$work/all.jsonl"
check "export mode" test "$(stat -c %a "$work/all.jsonl")" = 600
check "export to a pipe" bash -c "[ \$(vellum export '$file' --archive Airport | grep -c '\"key\"') = 305 ]"
check "head ends an export quietly" bash -c "vellum export '$file' 2>'$work/err' | head -n 1 | grep -q vellum && [ ! -s '$work/err' ]"
check "export not over a file" status 7 vellum export "$file" -o "$work/all.jsonl"
head -c 3000 "$work/all.jsonl" >"$work/some.jsonl.part"
check "export of other archives is not resumed" status 3 vellum export "$file" -o "$work/some.jsonl" --resume --archive Airport
check "its part stays" test "$(stat -c %s "$work/some.jsonl.part")" = 3000
check "--force begins again" status 0 vellum export "$file" -o "$work/some.jsonl" --force --archive Airport
echo mine >"$work/some.jsonl.part"
check "--force removes no other file" status 7 vellum export "$file" -o "$work/some.jsonl" --force
check "the other file stays" test "$(cat "$work/some.jsonl.part")" = mine
rm "$work/some.jsonl.part"
check "redacted" bash -c "vellum export '$file' --redact >'$work/red' && ! grep -q 'LSZH\|rich' '$work/red' && [ \$(grep -c '\"key\":\"#' '$work/red') = 308 ]"
cp -r "$work/s" "$work/copy"
check "delete" json '.removed == 3' vellum delete --json --yes "$work/copy" Airport --where 'country == "CH"'
check "deleted" test "$(vellum find "$work/copy" Airport --count)" = 302
check "import" json '.entries == 308' vellum import --json "$work/copy" "$work/all.jsonl"
check "imported" test "$(vellum find "$work/copy" Airport --count)" = 305
check "drop" json '.removed == 305' vellum drop --json --yes "$work/copy" Airport
check "dropped" status 1 vellum keys "$work/copy" Airport
check "what was dropped is not dropped again" status 1 vellum drop --yes "$work/copy" Sample.Airport
check "nor listed" json '.archives | map(.name) | index("Sample.Airport") == null' vellum ls --json "$work/copy"
check "compact" json '.bytes <= .bytesBefore' vellum compact --json "$work/copy"
check "backup" status 0 vellum backup "$file" "$work/backup.sqlite"
check "backup mode" test "$(stat -c %a "$work/backup.sqlite")" = 600
check "backup has all" json '[.archives[].entries] == [305, 3]' vellum ls --json "$work/backup.sqlite"
check "backup not over a file" status 7 vellum backup "$file" "$work/backup.sqlite"
check "restore" json '.oldFile | contains("Archives.sqlite")' vellum restore --json --yes "$work/backup.sqlite" "$work/copy/Archives.sqlite"
check "restored" test "$(vellum find "$work/copy" Airport --count)" = 305
check "nobody to ask before restoring" status 2 vellum restore "$work/backup.sqlite" "$work/copy/Archives.sqlite"
check "an intact file is not salvaged" json '.damagedFile == null and .isIntact' vellum salvage --json --yes "$work/backup.sqlite"

# --- The page ---
check "report" status 0 vellum report "$file" -o "$work/page.html"
check "report mode" test "$(stat -c %a "$work/page.html")" = 600
check "report is safe" no_controls "$work/page.html"
check "report has no markup of a stranger" bash -c "! grep -q '<b>stranger\|<img\|<script' '$work/page.html'"
check "redacted report" bash -c "vellum report '$file' --redact | grep -q '>#' && ! vellum report '$file' --redact | grep -q 'X1299\|$work'"
check "report as JSON" json '.statistics | length == 2' vellum report --json "$file"

# --- A terminal ---
for width in 80 40; do
    for words in "vellum" "vellum ls $file" "vellum ls $caches" "vellum keys -l --by size --limit 9 $file \"\$stranger\"" \
        "vellum keys $file \"\$stranger\"" "vellum find $file Airport 'elevation > 300 sort name'" "vellum get --escaped $file \"\$stranger\" '<img src=x>'"; do
        run "$width" "$words"
        check "$words fits $width" fits "$width"
        check "$words ends with 0" shows '<0>'
    done
done
run 80 "vellum ls $file"
check "a table" shows 'archive'
check "colours" grep -q $'\033\[1m' "$work/colored"
run 80 "NO_COLOR=1 vellum ls $file"
check "no colours" bash -c "! grep -q $'\033\\[[0-9]*m[a-zA-Z]' '$work/colored'"
run 80 "vellum find $file Airport 'country == \"JP\"'"
check "wide letters" shows '東京国際空港'
run 80 "vellum get $file Airport LSZH --raw"
check "no raw bytes on a terminal" shows '<2>'
run 80 "echo n | vellum drop $work/copy \"\$stranger\""
check "a pipe cannot answer" shows '<2>'
COLUMNS=50 vellum ls "$file" | awk -F'\t' 'NF < 6 { bad = 1 } END { exit bad }'; check "tabs in a pipe" test $? = 0
tmux -L "$server" new-session -d -s ask -x 80 -y 20 "PS1='> ' bash --norc --noprofile"
tmux -L "$server" send-keys -t ask -l "vellum delete $file Airport X1000 X1001; echo \"<\$?>\""; tmux -L "$server" send-keys -t ask Enter
for _ in $(seq 50); do tmux -L "$server" capture-pane -p -t ask | grep -q 'y/N' && break; sleep 0.1; done
tmux -L "$server" send-keys -t ask n Enter; sleep 1
check "asks how many" bash -c "tmux -L '$server' capture-pane -p -t ask | grep -q 'Delete 2 entries'"
check "no is no" bash -c "tmux -L '$server' capture-pane -p -t ask | grep -q '<6>'"
check "nothing was deleted" test "$(vellum find "$file" Airport --count)" = 305

# --- Watching and Ctrl-C ---
vellum watch --json "$file" >"$work/watched" 2>"$work/err" & watch=$!
sleep 1; Sample touch "$work/s" LSZB; sleep 1; Sample touch "$work/s" LSZB; sleep 1
kill -INT $watch; wait $watch; check "watch ends with 0" test $? = 0
check "a change" all 'any(.[]; .present == ["LSZB"])' cat "$work/watched"
check "a removal" all 'any(.[]; .removed == 1)' cat "$work/watched"
Sample many "$work/large" 100000
# interrupt SIGNAL OUTPUT COMMAND…: sends the signal when the output, or a part of it, appears. It takes some hundredths of a second: the moment is
# not always met.
interrupt() {
    local signal=$1 output=$2 job; shift 2
    for _ in $(seq 40); do
        rm -f "$output"*
        "$@" 2>/dev/null & job=$!
        until compgen -G "$output*" >/dev/null || compgen -G "$work/.vellum-*" >/dev/null || ! kill -0 $job 2>/dev/null; do :; done
        kill "-$signal" $job 2>/dev/null; wait $job 2>/dev/null; ended=$?
        [ $ended = 0 ] || break
    done
}
interrupt INT "$work/large.copy" vellum backup "$work/large" "$work/large.copy"
check "a backup is cancelled" test "$ended" = 6
check "a cancelled backup leaves nothing" bash -c "! compgen -G '$work/large.copy*' && ! ls -A '$work' | grep -q '[.]part\|^[.]vellum-'"
interrupt INT "$work/large.jsonl" vellum export "$work/large" -o "$work/large.jsonl"
check "an export is cancelled" test "$ended" = 6
check "a cancelled export leaves nothing" bash -c "! compgen -G '$work/large.jsonl*'"
interrupt KILL "$work/large.jsonl" vellum export "$work/large" -o "$work/large.jsonl"
check "a part is not overwritten" status 7 vellum export "$work/large" -o "$work/large.jsonl"
check "a killed export is resumed" status 0 vellum export "$work/large" -o "$work/large.jsonl" --resume
check "and complete" test "$(grep -c '"key"' "$work/large.jsonl")" = 100000

# --- Damage ---
cp -r "$work/large" "$work/damaged"; rm -f "$work/damaged/"*-wal "$work/damaged/"*-shm
size=$(stat -c %s "$work/damaged/Archives.sqlite")
dd if=/dev/urandom of="$work/damaged/Archives.sqlite" bs=4096 seek=$((size / 4096 / 2)) count=6 conv=notrunc 2>/dev/null
check "damage is found" status 4 vellum verify "$work/damaged"
check "and found again" status 4 vellum verify "$work/damaged"
sound=$(vellum verify --json "$work/damaged" | jq .soundEntries)
vellum salvage --yes "$work/damaged" >"$work/out" 2>&1
check "salvaged" json '.isIntact' vellum verify --json "$work/damaged"
check "as many as were sound" json ".soundEntries == $sound" vellum verify --json "$work/damaged"
check "most of it" test "$(vellum find "$work/damaged" Letter --count)" -gt 90000

# --- Completions ---
for shell in bash zsh fish; do check "completions for $shell" bash -c "vellum --generate-completion-script $shell | grep -q vellum"; done

echo "$checks checks of the command, $failures failed"
[ "$failures" = 0 ]
