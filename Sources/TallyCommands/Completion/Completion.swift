import Foundation
import Tally

/// `tally __complete WORD… START`: what the scripts of shells ask for.
///
/// It is not a command of the parser, which would interpret the words. Nothing is an error: where nothing can be offered
/// nothing is printed.
struct Completion {
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
    // Without a command, the word at the cursor may become one; the default command does not stand in its way.
    let hasCommand = GlobalOptions.indexOfCommand(in: self.words) != nil
    question = CompletionQuestion(
      words: hasCommand ? settings.expanding(self.words) : self.words, prefix: words.last ?? "")
    self.invocation = invocation
  }

  /// The lines for the script: of what kind the answer is, then the candidates.
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
    switch CompletionSource(of: argument, below: question.commandPath) {
    case .files: return .files
    case .directories: return .directories
    case .none: return .candidates([])
    case .some(let source):
      let candidates = try? source.candidates(in: session(), startingWith: question.prefix, for: question.commandPath)
      return .candidates(candidates ?? [])
    }
  }

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
