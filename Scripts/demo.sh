#!/usr/bin/env bash
# Shows Tally at work in a scratch store under .build/demo: on this repository's own history, on a small to-do list, and
# through an export and back. Every command is printed before it runs.
#
# The program is a debug build, which `make demo` makes: it takes half as long as a release build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# Messages go to standard error; joined with the output, they also keep their order in a log.
exec 2>&1

if [ -t 1 ] && [ -z "${NO_COLOR-}" ]; then
  bold=$'\e[1m' faint=$'\e[2m' plain=$'\e[0m'
  # Some output goes through a filter, which would turn colours off.
  export FORCE_COLOR=1
else
  bold='' faint='' plain=''
fi

title() { printf '\n%s== %s%s\n' "$bold" "$1" "$plain"; }

run() {
  printf '\n%s$ %s%s\n' "$faint" "$1" "$plain"
  eval "$1"
}

[ -x .build/debug/tally ] || {
  echo 'demo: the program is not built: run make demo' >&2
  exit 1
}
PATH=$PWD/.build/debug:$PATH

rm -rf .build/demo
mkdir -p .build/demo
run 'export TALLY_STORE=.build/demo/store'

title "This repository's history: each commit is a completed task"
if [ -e .git ] && git rev-parse --quiet --verify HEAD >/dev/null 2>&1; then
  run 'Scripts/git-log-to-tasks.sh | tally import - --format ndjson'
  printf '\nAgain: an id follows from the commit, so nothing is added twice.\n'
  run 'Scripts/git-log-to-tasks.sh | tally import - --format ndjson'

  title "Statistics of this repository's history"
  run 'tally stats'
  run 'tally stats --html .build/demo/statistics.html'
  page=$PWD/.build/demo/statistics.html
else
  page=''
  printf '\nNo git history here (no .git, no git or no commit): continuing without it.\n'
fi

title 'A small to-do list'
run "tally lists add Garden --color 34C759"
run "tally lists add Work"
run "tally add 'Water the plants' --today --list Garden"
run "tally add 'Repair the fence' --tomorrow --list Garden"
run "tally add 'Send the report' --today --list Work --due 'today 23:59'"
run "tally add 'Prepare the talk' --on friday --list Work --notes 'ten minutes, no slides'"
run "tally add 'Answer the letter' --due 'yesterday 18:00'"
run "tally add 'Read about 東京 🗼'"
plants=$(tally list Garden --plain | cut -f 1 | sed -n 1p)
report=$(tally list Work --plain | cut -f 1 | sed -n 1p)
run "tally start $report"
run "tally done $plants"

title 'Today'
run 'tally today'
title 'Upcoming'
run 'tally upcoming'
title 'Overdue'
run 'tally overdue'

title 'Tags, a task that repeats, sentences, queries and search'
run "tally add 'Renew the insurance' --tag paper --tag money --priority high --due 'today+3d'"
run "tally quick 'Water the tomatoes tomorrow 7am #garden every 2 days'"
run "tally add 'Pay the rent' --on today --repeat 'every month'"
rent=$(tally find 'text~"Pay the rent" is:open' --plain | cut -f 1)
run "tally done $rent"
run "tally find 'due<=today+7d (priority>=medium or #garden)' --explain"
run "tally filters add 'Due soon' 'due<=today+7d' is:open"
run "tally filter 'Due soon'"
run "tally tags"
run "tally count is:open"
run "tally search insur"

title 'Three devices that share a folder'
mkdir -p .build/demo/folder
for task in 'Call the dentist' 'Book the train'; do run "tally --store .build/demo/laptop add '$task'"; done
run 'tally --store .build/demo/laptop sync setup .build/demo/folder --name laptop'
invitation=$(tally --store .build/demo/laptop sync invite --plain)
for device in phone desk; do
  run "tally --store .build/demo/$device sync join $invitation --at .build/demo/folder --name $device"
done
dentist=$(tally --store .build/demo/laptop inbox --plain | cut -f 1 | sed -n 1p)
train=$(tally --store .build/demo/laptop inbox --plain | cut -f 1 | sed -n 2p)
printf '\nOffline: the laptop completes and reopens, the phone completes; the desk deletes what the phone edits later.\n'
run "tally --store .build/demo/laptop done $dentist"
run "tally --store .build/demo/laptop reopen $dentist"
run "tally --store .build/demo/phone done $dentist"
run "tally --store .build/demo/desk delete $train"
run "tally --store .build/demo/phone edit $train --on today --notes 'Window seat'"
for device in laptop phone desk laptop phone; do run "tally --store .build/demo/$device sync now"; done
for device in laptop phone desk; do
  run "tally --store .build/demo/$device"
  tally --store .build/demo/$device --plain >.build/demo/$device.agenda
  tally --store .build/demo/$device sync status --json | sed 's/.*"stateHash"/stateHash/' >>.build/demo/$device.agenda
done
run 'cmp .build/demo/laptop.agenda .build/demo/phone.agenda'
run 'cmp .build/demo/laptop.agenda .build/demo/desk.agenda'
printf '\nAll three show the same: the completion stays, and so does the task that was edited after its deletion.\n'

# GNU's date and BSD's have different options.
week_ago=$(date -d '7 days ago' +%F 2>/dev/null || date -v-7d +%F)
title 'Completed in the last week (the newest 20)'
# sed reads to the end, so that tally is not cut off as by head.
run "tally completed --from $week_ago | sed -n 1,22p"

title 'Export, import into a second store, and compare'
run 'tally export -o .build/demo/tasks.json'
run 'tally --store .build/demo/copy import .build/demo/tasks.json'
run 'tally --store .build/demo/copy export -o .build/demo/copy.json'
run "diff <(grep -v '\"exportDate\"' .build/demo/tasks.json) <(grep -v '\"exportDate\"' .build/demo/copy.json)"
printf '\nBoth stores agree: their exports differ only in exportDate.\n'
[ -z "$page" ] || printf 'The statistics as a page, for a browser: file://%s\n' "$page"
printf 'Continue with it: .build/debug/tally --store .build/demo/store\n'
