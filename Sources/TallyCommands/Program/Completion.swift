import Foundation
import Tally
import TallySync

/// `tally __complete WORD… START`, which the scripts of shells call.
///
/// It is not a command of the parser, which would interpret the words. It reports no errors: without candidates it prints
/// nothing.
struct ShellCompletion {
  /// The word by which the scripts ask.
  static let command = "__complete"

  /// Something that the word at the cursor may become.
  struct Candidate {
    let text: String
    var label = ""
  }

  enum Answer {
    case candidates([Candidate])
    case files, directories
  }

  private let question: CompletionQuestion
  private let words: [String]
  private let invocation: Invocation
  private let settings: Settings

  /// - Parameter invocation: One whose first argument is ``command``.
  init(_ invocation: Invocation) {
    let words = Array(invocation.arguments.dropFirst())
    self.words = Array(words.dropLast())
    // A broken file is reported by the command itself.
    settings = (try? Settings(of: invocation.environment)) ?? Settings()
    // Without a command, the word at the cursor may become one; the default command is left out then.
    let hasCommand = GlobalOptions.indexOfCommand(in: self.words) != nil
    question = CompletionQuestion(
      words: hasCommand ? settings.expanding(self.words) : self.words, prefix: words.last ?? "")
    self.invocation = invocation
  }

  /// The lines for the script: the kind of the answer, then the candidates.
  func lines() -> String {
    var candidates: [Candidate] = []
    for wanted in question.wanted {
      switch answer(to: wanted) {
      case .files: return "files\n"
      case .directories: return "directories\n"
      case .candidates(let more): candidates += more
      }
    }
    let lines = candidates.filter(fits).map { candidate in
      let label = candidate.label.escapedForDisplay().truncated(toWidth: Self.labelWidth)
      return "\(question.start)\(candidate.text)\t\(label)\n"
    }
    return "candidates\n" + lines.joined()
  }

  /// More columns than most windows have beside the text.
  private static let labelWidth = 60

  /// Whether a candidate begins with the typed start, in any case; one with control characters cannot be typed.
  private func fits(_ candidate: Candidate) -> Bool {
    candidate.text.lowercased().hasPrefix(question.prefix.lowercased())
      && candidate.text.escapedForDisplay() == candidate.text
  }

  private func answer(to wanted: CompletionQuestion.Wanted) -> Answer {
    switch wanted {
    case .command:
      .candidates(
        CommandDescription.commands(below: question.commandPath)
          .map { Candidate(text: $0.path.last ?? "", label: $0.abstract) }
          + (question.commandPath.isEmpty ? aliases : []))
    case .option:
      .candidates(
        question.options.compactMap { option in
          option.spellings.first.map { Candidate(text: $0, label: option.abstract) }
        })
    case .value(let argument): values(of: argument)
    }
  }

  private var aliases: [Candidate] {
    settings.aliases.sorted { $0.key < $1.key }.map { Candidate(text: $0.key, label: $0.value) }
  }

  private func values(of argument: CommandDescription.Argument) -> Answer {
    if !argument.values.isEmpty { return .candidates(argument.values.map { Candidate(text: $0) }) }
    switch argument.valueName {
    case "file": return .files
    case "dir": return .directories
    default: return .candidates((try? candidates(for: argument, in: session())) ?? [])
    }
  }

  /// The candidates for a value, by the name of the value in the help; the likeliest first.
  ///
  /// At most some hundred records are read through indexes, whatever the size of the store.
  private func candidates(
    for argument: CommandDescription.Argument, in session: Session
  ) throws -> [Candidate] {
    let path = question.commandPath
    switch argument.valueName {
    case "task": return try session.tasksToComplete(startingWith: question.prefix, areCompleted: path == ["reopen"])
    case "name" where path.first == "filter" || path.first == "filters":
      return try session.snapshot { try $0.savedFilters().map { Candidate(text: $0.name, label: $0.text) } }
    case "name": return try session.snapshot { try $0.lists().map { Candidate(text: $0.name) } }
    case "tag": return try session.tagsToComplete().map { Candidate(text: $0) }
    case "filter": return try session.conditionsToComplete(startingWith: question.prefix)
    case "day", "place", "when":
      // In a search for finished work, a weekday means the last one.
      let isPast = ["stats", "completed"].contains(path.first) || argument.spellings.contains("--at")
      return try Self.dayWords.map { word in
        let day = try session.clock.day(word, of: word, looking: isPast ? .backward : .forward)
        return Candidate(text: word, label: session.clock.name(of: day))
      }
    case "id": return TimeZone.knownTimeZoneIdentifiers.sorted().map { Candidate(text: $0) }
    case "priority": return ["low", "medium", "high", "none"].map { Candidate(text: $0) }
    case "key": return Settings.Key.allCases.map { Candidate(text: $0.rawValue, label: $0.meaning) }
    case "number": return try session.conflictsToComplete()
    // Only as an argument: the option of the same name sets a new name for this device.
    case "device" where argument.kind == .positional: return try session.devicesToComplete()
    default: return []
    }
  }

  private static let dayWords = [
    "today", "tomorrow", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "eow", "eom",
    "eoy",
  ]

  /// A session that says nothing.
  private func session() throws -> Session {
    var store = CompletionQuestion.store(in: words)
    // A shell expands the tilde only when it runs the command.
    if let path = store, path.hasPrefix("~/") {
      store = try (invocation.environment.value(of: "HOME") ?? "~") + path.dropFirst()
    }
    return try Session(
      options: .quiet(store: store), settings: settings, commandName: "", invocation: invocation,
      output: BufferedOutput(invocation.output))
  }
}

extension Session {
  /// Reads the store; there must be one, since an empty one would have to be created to read from it.
  fileprivate func snapshot<R>(_ body: (borrowing StoreReadTransaction) throws -> R) throws -> R {
    try openStore(for: .copying).read { try body($0) }
  }

  /// The handles of tasks.
  fileprivate func tasksToComplete(
    startingWith prefix: String, areCompleted: Bool
  ) throws -> [ShellCompletion.Candidate] {
    try snapshot { transaction in
      var seen: Set<UUID> = []
      return try transaction.likelyTasks(startingWith: prefix, areCompleted: areCompleted)
        .filter { $0.isClosed == areCompleted && seen.insert($0.id).inserted }
        .map { task in
          let handle = try transaction.handle(of: task.id)
          // A view may have shown some digits more, at the front.
          let digits = task.id.text.filter { $0 != "-" }
          let shown = (handle.utf8.count...handle.utf8.count + 4).map { String(digits.suffix($0)) }
          return ShellCompletion.Candidate(text: shown.first { $0.hasPrefix(prefix) } ?? handle, label: task.title)
        }
    }
  }

  /// The names of the devices of the space, or their handles where several have the same name.
  fileprivate func devicesToComplete() throws -> [ShellCompletion.Candidate] {
    guard isSynchronizing else { return [] }
    let members = try inSpace { try await $0.members() }
    return members.map { member in
      let isAlone = members.count { $0.name == member.name } == 1
      return ShellCompletion.Candidate(
        text: isAlone ? member.name ?? member.handle : member.handle, label: isAlone ? member.handle : member.name ?? ""
      )
    }
  }

  /// The numbers of the conflicts.
  fileprivate func conflictsToComplete() throws -> [ShellCompletion.Candidate] {
    guard isSynchronizing else { return [] }
    return try inSpace { try await $0.conflicts() }.map {
      ShellCompletion.Candidate(text: "\($0.id)", label: "\($0.field): \($0.lost)")
    }
  }

  fileprivate func tagsToComplete() throws -> [String] {
    try snapshot { try $0.tagNames(limit: 200) }.sorted()
  }

  /// Words of a filter: tags, lists and properties.
  fileprivate func conditionsToComplete(startingWith prefix: String) throws -> [ShellCompletion.Candidate] {
    let properties = TaskFilter.Property.allCases.map { "is:\($0.rawValue)" }
    if prefix.isEmpty || prefix.hasPrefix("i") { return properties.map { ShellCompletion.Candidate(text: $0) } }
    if let mark = prefix.first, "#+@".contains(mark) {
      return try tagsToComplete().map { ShellCompletion.Candidate(text: "\(mark)\($0)") }
    }
    let lists = try snapshot { try $0.lists() }
    return lists.map { ShellCompletion.Candidate(text: "list:" + ($0.name.contains(" ") ? "\"\($0.name)\"" : $0.name)) }
  }
}

extension StoreTransaction where Base: ~Copyable {
  /// The tasks that people are likely to name: those in progress, late or planned for today, then the past, the inbox, the
  /// days to come and the lists; or the last closed ones.
  fileprivate func likelyTasks(startingWith prefix: String, areCompleted: Bool) throws -> [TaskItem] {
    // The limit for each view: together they fill a screen, and most of the time goes into pages that nothing else has
    // read.
    let limit = 25
    // A start that is a handle is a lookup.
    var tasks = try taskIDs(withHandle: prefix, limit: limit).compactMap { try task($0) }
    let closed: [TaskView] = [.completed(nil), .matching(.is(.cancelled), by: .updated)]
    let views: [TaskView] = areCompleted ? closed : [.active, .overdue, .today, .past, .inbox, .upcoming]
    for view in views { tasks += try page(of: view, limit: limit).tasks }
    if areCompleted { return tasks }
    for list in try lists() where tasks.count < 3 * limit { tasks += try page(of: .list(list.id), limit: limit).tasks }
    return tasks
  }
}
