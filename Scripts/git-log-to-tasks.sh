#!/usr/bin/env bash
# Prints a repository's history as Tally's ndjson, a completed task per commit:
#   Scripts/git-log-to-tasks.sh [REPOSITORY] | tally import - --format ndjson
#
# git cannot escape JSON, so awk does: unlike python3 and jq, it is everywhere git is. iconv drops bytes that are not
# UTF-8, which old commits may contain, since JSON has no way to write them.
set -euo pipefail

git -C "${1:-.}" -c log.showSignature=false log --encoding=UTF-8 --no-color --format='%H%x09%aI%x09%cI%x09%s' |
  iconv -c -f UTF-8 -t UTF-8 |
  LC_ALL=C awk -F '\t' '
    BEGIN {
      for (code = 1; code < 32; code++) escaped[sprintf("%c", code)] = sprintf("\\u%04x", code)
      escaped["\""] = "\\\""
      escaped["\\"] = "\\\\"
    }

    # Byte by byte, but only in texts that need an escape: no byte of a longer UTF-8 character is below 128.
    function json(text,    position, result, character) {
      if (text !~ /[[:cntrl:]"\\]/) return "\"" text "\""
      for (position = 1; position <= length(text); position++) {
        character = substr(text, position, 1)
        result = result (character in escaped ? escaped[character] : character)
      }
      return "\"" result "\""
    }

    # A UUID of version 8 (RFC 9562: by a custom rule) from the first digits of the commit'\''s hash, so that the same
    # commit is the same task in every import.
    function uuid(hash,    variant) {
      variant = substr("89ab", (index("0123456789abcdef", substr(hash, 17, 1)) - 1) % 4 + 1, 1)
      return substr(hash, 1, 8) "-" substr(hash, 9, 4) "-8" substr(hash, 14, 3) "-" variant substr(hash, 18, 3) \
        "-" substr(hash, 21, 12)
    }

    {
      # A subject may contain tabs; the fields before it cannot.
      subject = substr($0, length($1 $2 $3) + 4)
      if (subject !~ /[^ \t]/) subject = "(no subject) " substr($1, 1, 10)
      printf "{\"id\":\"%s\",\"text\":%s,\"state\":\"completed\",\"createdAt\":\"%s\",\"completedAt\":\"%s\"}\n",
        uuid($1), json(subject), $2, $3
    }'
