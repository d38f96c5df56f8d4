/// The scripts by which shells complete commands.
///
/// Each script passes the words before the cursor, and the start of the word at the cursor, to `tally __complete` and
/// shows its output. So all three offer the same, by the program and the store at hand. The parser's own scripts were
/// tried: bash's puts candidates through `compgen -W`, which expands them, so that the title `$(rm -r ~)` would be run.
enum CompletionScript: String, CaseIterable {
  case bash, zsh, fish

  /// The option for a script; the parser has it, too, and would print its own.
  static let option = "--generate-completion-script"

  /// The script that the arguments ask for, wherever the option stands; `nil` if they do not.
  ///
  /// Without a name it is that of the shell in use.
  ///
  /// - Throws: ``CommandFailure`` for a shell without a script.
  init?(askedForBy arguments: [String], environment: EnvironmentVariables) throws {
    let options = arguments.prefix { $0 != "--" }
    guard let index = options.firstIndex(where: { $0 == Self.option || $0.hasPrefix(Self.option + "=") }) else {
      return nil
    }
    let named = options[index].split(separator: "=", maxSplits: 1).dropFirst().first.map(String.init)
    let shell =
      named ?? options[(index + 1)...].first
      ?? (try? environment.value(of: "SHELL"))?.split(separator: "/").last.map(String.init) ?? ""
    guard let script = Self(rawValue: shell) else {
      throw CommandFailure.usage(
        "There is no completion script for the shell \(shell.quotedForMessage)", remedy: "Name bash, zsh or fish")
    }
    self = script
  }

  var text: String {
    switch self {
    case .bash: Self.bashText
    case .zsh: Self.zshText
    case .fish: Self.fishText
    }
  }
}

// The first line of an answer names its kind. After `candidates` each line is a candidate: its text, a tab, and a
// description.
extension CompletionScript {
  private static let bashText = #"""
    # Completes tally in bash: commands, options, and the tasks, lists, tags and filters of the store.
    _tally() {
        local quote=${COMP_WORDS[COMP_CWORD]:0:1} answer= line value shown width=0
        local rest=${COMP_LINE:0:COMP_POINT} blank word start index
        local -a words values labels
        # bash also splits words at = and :, which are one word where no blank is between them. All are as typed, with
        # quotation marks and backslashes; nothing is expanded.
        for ((index = 0; index <= COMP_CWORD; index++)); do
            blank=${rest%%[![:blank:]]*}
            rest=${rest#"$blank"}
            line=${COMP_WORDS[index]}
            ((index == COMP_CWORD)) && line=$rest
            rest=${rest#"$line"}
            if [[ -n $blank || $index == 0 ]]; then
                words+=("$line")
            else
                words[${#words[@]}-1]+=$line
            fi
        done
        words=("${words[@]//[\'\"\\]/}")
        # The start of the word is not inserted again.
        word=${words[${#words[@]}-1]}
        unset "words[${#words[@]}-1]"
        start=${2//[\'\"\\]/}
        start=${word%"$start"}
        COMPREPLY=()
        while IFS= read -r line; do
            if [[ -z $answer ]]; then
                answer=$line
                continue
            fi
            value=${line%%$'\t'*}
            value=${value:${#start}}
            case $quote in
            \' | \") ;;
            *) printf -v value %q "$value" ;;
            esac
            values+=("$value")
            labels+=("${line#*$'\t'}")
            ((${#value} > width)) && width=${#value}
        done < <("${1/#\~/$HOME}" __complete "${words[@]:1}" "$word" 2>/dev/null)
        case $answer in
        files) compopt -o default 2>/dev/null ;;
        directories) compopt -o dirnames 2>/dev/null ;;
        esac
        # The inserted text must be the value alone: one candidate, or keys that insert one after the other (% and *).
        if ((${#values[@]} < 2)) || [[ $COMP_TYPE == 37 || $COMP_TYPE == 42 ]]; then
            COMPREPLY=("${values[@]}")
            return
        fi
        for line in "${!values[@]}"; do
            printf -v shown "%-${width}s  %s" "${values[line]}" "${labels[line]}"
            [[ -n ${labels[line]} ]] || shown=${values[line]}
            COMPREPLY+=("$shown")
        done
    }
    complete -o nosort -F _tally tally 2>/dev/null || complete -F _tally tally

    """#

  private static let zshText = #"""
    #compdef tally
    # Completes tally in zsh: commands, options, and the tasks, lists, tags and filters of the store.
    _tally() {
        emulate -L zsh
        local -a answer values shown
        local line value label
        local -i width=0
        answer=("${(@f)$("${words[1]/#\~/$HOME}" __complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
        case ${answer[1]} in
        files) _files; return ;;
        directories) _files -/; return ;;
        esac
        shift answer
        for line in "${answer[@]}"; do
            value=${line%%$'\t'*}
            values+=("$value")
            ((${#value} > width)) && width=${#value}
        done
        for line in "${answer[@]}"; do
            label=${line#*$'\t'}
            value=${line%%$'\t'*}
            shown+=("${(r:width:)value}${label:+  -- $label}")
        done
        compadd -l -V tally -d shown -a values
    }
    if [[ ${funcstack[1]} == _tally ]]; then
        _tally "$@"
    else
        compdef _tally tally
    fi

    """#

  private static let fishText = #"""
    # Completes tally in fish: commands, options, and the tasks, lists, tags and filters of the store.
    function __tally_complete
        set -l words (commandline -opc)
        set -l word (commandline -ct | string replace -ra '[\'"\\\\]' '')
        set -l program (string replace -r '^~' "$HOME" -- $words[1])
        set -l answer (command $program __complete $words[2..] "$word" 2>/dev/null)
        switch "$answer[1]"
            case files
                __fish_complete_path "$word"
            case directories
                __fish_complete_directories "$word" ''
            case '*'
                string join \n -- $answer[2..]
        end
    end
    complete -c tally -f -k -a '(__tally_complete)'

    """#
}
