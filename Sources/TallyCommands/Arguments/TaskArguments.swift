/// The arguments of a command that name tasks.
struct TaskArguments {
  private let arguments: [String]
  /// Where the names are, each after as many characters of its argument: `--parent=milk` has the name in the same word.
  private var places: [(index: Int, start: Int)] = []

  init(in arguments: [String]) {
    self.arguments = arguments
    let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
    let question = CompletionQuestion(words: Array(arguments[..<end]), prefix: "")
    guard let command = GlobalOptions.indexOfCommand(in: arguments) else { return }
    var (positionalCount, index) = (0, command + question.commandPath.count)
    while index < arguments.endIndex {
      let word = arguments[index]
      if index == end {
        // Words follow.
      } else if index < end, word.hasPrefix("-"), word != "-" {
        let name = String(word.prefix { $0 != "=" })
        let isTask = question.valueOption(name)?.valueName == Self.valueName
        let place = name == word ? (index + 1, 0) : (index, name.count + 1)
        if isTask, place.0 < arguments.endIndex {
          places.append(place)
          ofOptions.append(String(arguments[place.0].dropFirst(place.1)))
        }
        if question.takesValue(word) { index += 1 }
      } else {
        if question.positional(at: positionalCount)?.valueName == Self.valueName { places.append((index, 0)) }
        positionalCount += 1
      }
      index += 1
    }
  }

  private static let valueName = "task"

  /// The names that are values of options.
  private(set) var ofOptions: [String] = []

  /// The arguments with a handle in place of a name, or of a title whose words are arguments of their own; `nil` if the name
  /// is none of them.
  func replacing(_ name: [String], with handle: String) -> [String]? {
    var rest = name[...]
    var (words, dropped) = (arguments, Set<Int>())
    for (index, start) in places {
      guard let next = rest.first ?? (name.count == 1 ? name.first : nil), arguments[index].dropFirst(start) == next
      else { continue }
      if rest.count == name.count || name.count == 1 {
        words[index] = arguments[index].prefix(start) + handle
      } else {
        dropped.insert(index)
      }
      rest = rest.dropFirst()
    }
    return rest.isEmpty ? words.indices.filter { !dropped.contains($0) }.map { words[$0] } : nil
  }
}

extension CommandFailure {
  /// The failure with the command that was meant, if that is known.
  ///
  /// - Parameters:
  ///   - arguments: The arguments of the program.
  ///   - line: Returns the line that runs a command on the same store.
  ///   - isTask: Whether a name is that of a task: a command with an option for a name that is none is not offered.
  /// - Returns: The failure.
  func offeringCommand(
    in arguments: [String], _ line: (String) -> String, where isTask: (String) -> Bool
  ) -> CommandFailure {
    let tasks = TaskArguments(in: arguments)
    guard let meant, let words = tasks.replacing(meant.arguments, with: meant.handle),
      tasks.ofOptions.allSatisfy({ meant.arguments.contains($0) || $0.isNone || isTask($0) })
    else {
      guard hasCommand else { return self }
      // The commands of another remedy are for the same store, too.
      return with(remedy: remedy.replacing(": tally ", with: ": \(line(""))"))
    }
    let lead = candidates.areSeveral ? "Give the handle of one, as in" : "Run"
    return with(remedy: "\(lead): \((["tally"] + words.map(\.shellQuoted)).joined(separator: " "))")
  }
}
