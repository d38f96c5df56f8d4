import ArgumentParser
import Dispatch
import Foundation
import Synchronization
import SystemPackage
import Tally
import TallySystem

/// The surroundings of a command: clock, store and streams, set up from the global options.
final class Session {
  let options: GlobalOptions
  /// The words of the command, such as `lists add`: the name of its changes in the history.
  let commandName: String
  /// Whether the store needs the first day of the week.
  let countsWeeks: Bool
  let settings: Settings
  let clock: LocalClock
  let storePath: FilePath
  let painter: Painter
  /// The columns of a line; `nil` if lines may be of any length.
  let width: Int?
  let output: BufferedOutput
  /// The library writes to its output directly; what `output` has buffered by then is written later.
  let invocation: Invocation

  /// - Throws: ``CommandFailure``, or the library's error for an instant that does not exist.
  init(
    options: GlobalOptions, settings: Settings = Settings(), commandName: String, countsWeeks: Bool = false,
    invocation: Invocation, output: BufferedOutput
  ) throws {
    self.options = options
    self.countsWeeks = countsWeeks
    self.settings = settings
    self.commandName = commandName
    self.output = output
    self.invocation = invocation
    storePath = try StorePath.resolve(option: options.store, environment: invocation.environment)
    let fixed = try options.now.map { text in try CommandFailure.naming("--now") { try Timestamp(iso8601: text) } }
    let present = fixed ?? .now()
    clock = LocalClock(
      now: fixed ?? present.wholeSecond, exactNow: present,
      in: try options.timeZone.map(Self.timeZone) ?? settings.timeZone(unlessSetIn: invocation.environment)
        ?? .system(environment: invocation.environment),
      beginningDaysAtMinute: settings.dayStartInMinutes,
      firstWeekday: { [weekStart = options.weekStart ?? settings.weekStart, environment = invocation.environment] in
        try weekStart?.rawValue ?? WeekStart.firstWeekday(environment: environment)
      },
      dateOrder: { [order = settings.dateOrder, environment = invocation.environment] in
        order ?? WeekStart.dateOrder(environment: environment)
      }
    )
    let isHuman = options.format == .human
    painter = Painter(
      isRefused: options.noColor || !isHuman, setting: settings[.color],
      isTerminal: SystemCalls.isTerminal(invocation.output), environment: invocation.environment)
    width = isHuman ? invocation.outputWidth : nil
    output.isASCII = isHuman && invocation.isASCII
  }

  private static func timeZone(_ id: String) throws -> NamedTimeZone {
    if let timeZone = NamedTimeZone(iana: id) { return timeZone }
    let near = id.nearNames(among: TimeZone.knownTimeZoneIdentifiers, limit: 1)
    throw CommandFailure.usage(
      "There is no time zone '\(id.truncated(toWidth: 60).escapedForDisplay())'", code: "unknownTimeZone",
      remedy: "\(near.first.map { "Did you mean '\($0)'? " } ?? "")Give an IANA name as in Europe/Istanbul")
  }
}

extension Session {
  /// Prints what changed, for people; with `--json` and `--plain` it is part of the result.
  func say(_ message: String) {
    if options.format == .human { report(message) }
  }

  /// Prints how to continue where a result is empty.
  func hint(_ message: String) {
    if options.format != .json { report(message) }
  }

  /// Prints a message beside the result, in any format.
  ///
  /// - Parameters:
  ///   - message: the message.
  ///   - wrapped: whether to break it into lines that fit the terminal, where it is no command to be copied.
  func report(_ message: String, wrapped: Bool = true) {
    guard !options.quiet else { return }
    // On a terminal it comes after the results so far. If those cannot be printed, the last flush fails, too.
    try? output.flush()
    // A message that cannot be printed does not fail the command.
    _ = try? invocation.errorOutput.writeAll(invocation.message(message + "\n", wrapped: wrapped).utf8)
  }
}

extension Session {
  /// Runs an asynchronous body to its end; an interruption cancels it.
  func wait<R: Sendable>(for body: @escaping @Sendable () async throws -> R) throws -> R {
    let outcome = Outcome<R>()
    return try Signals.deferringInterruption {
      let task = Task.detached {
        do {
          outcome.end(.success(try await body()))
        } catch {
          outcome.end(.failure(error))
        }
      }
      while true {
        if let result = outcome.wait(milliseconds: 100) { return try result.get() }
        if Signals.isInterrupted { task.cancel() }
      }
    }
  }
}

/// Passes the result of a task to a thread that waits for it.
private final class Outcome<R: Sendable>: Sendable {
  private let result = Mutex<Result<R, any Error>?>(nil)
  private let ended = DispatchSemaphore(value: 0)

  func end(_ new: Result<R, any Error>) {
    result.withLock { $0 = new }
    ended.signal()
  }

  /// The result; `nil` if it has not arrived in time.
  func wait(milliseconds: Int) -> Result<R, any Error>? {
    guard ended.wait(timeout: .now() + .milliseconds(milliseconds)) == .success else { return nil }
    return result.withLock { $0 }
  }
}

/// A command: its own arguments, and its work in a session.
protocol SessionCommand: ParsableArguments {
  static var configuration: CommandConfiguration { get }
  /// Whether the store needs the first day of the week.
  ///
  /// Loading the locale to know would cost every command milliseconds.
  var countsWeeks: Bool { get }

  /// The argument that takes any number of words; `nil` for a command without one, or with one of another type, such as
  /// numbers, all of which the parser reads.
  static var manyWords: WritableKeyPath<Self, [String]>? { get }

  /// Checks what several arguments decide together.
  ///
  /// Called once all arguments are known to exist: the parser's own `validate()` would complain before it names an unknown
  /// option.
  ///
  /// - Throws: `ValidationError`.
  func validate(with global: GlobalOptions) throws
  func run(in session: Session) throws
}

extension SessionCommand {
  var countsWeeks: Bool { false }
  static var manyWords: WritableKeyPath<Self, [String]>? { nil }
  static var takesManyWords: Bool { manyWords != nil }
  func validate(with global: GlobalOptions) throws {}
}

/// A command whose type the runtime creates only when it is needed: creating all of them takes longer than most commands.
typealias LazyCommand = @Sendable () -> any SessionCommand.Type

/// A command with an argument that is free text, such as a title or a list's name, which may begin with a dash.
protocol TextCommand: SessionCommand {}

/// A parsed command: its own arguments, and the options that every command takes.
struct ParsedCommand {
  /// The words that name it.
  let words: [String]
  let own: any SessionCommand
  let global: GlobalOptions
}

/// A command as the parser knows it.
protocol CompleteCommand: ParsableCommand {
  associatedtype Own: SessionCommand
  var own: Own { get }
  var global: GlobalOptions { get }
}

/// A command's own arguments, then the options that every command takes.
struct WithGlobalOptions<Own: SessionCommand>: CompleteCommand {
  static var configuration: CommandConfiguration { Own.configuration }

  @OptionGroup var own: Own

  // Named in one line below the command's own options (see `GlobalOptions.helpLine`).
  @OptionGroup(visibility: .hidden)
  var global: GlobalOptions
}

extension CommandConfiguration {
  /// A command of `tally`.
  ///
  /// - Parameters:
  ///   - path: The words that name it.
  ///   - abstract: The purpose of the command, in one line.
  ///   - forms: The arguments that can follow the words, a line for each form; `[<options>]` follows each of them.
  ///     `nil` for the command alone, and a line for its own commands if it has some.
  ///   - discussion: The rest of its help.
  ///   - subcommands: The commands below it.
  init(
    _ path: String, _ abstract: String, usage forms: String? = nil, discussion: String = "",
    subcommands: [any SessionCommand.Type] = []
  ) {
    var usage = (forms ?? "").split(separator: "\n", omittingEmptySubsequences: false).map { form in
      "tally \(path) \(form)\(form.isEmpty ? "" : " ")[<options>]"
    }
    if forms == nil, !subcommands.isEmpty { usage.append("tally \(path) <subcommand> ...") }
    self.init(
      commandName: path.split(separator: " ").last.map(String.init), abstract: abstract,
      usage: usage.joined(separator: "\n"), discussion: discussion, subcommands: withGlobalOptions(subcommands))
  }
}

/// The commands, each with the options that every command takes.
func withGlobalOptions(_ commands: [any SessionCommand.Type]) -> [any ParsableCommand.Type] {
  func complete<Own: SessionCommand>(_ command: Own.Type) -> any ParsableCommand.Type { WithGlobalOptions<Own>.self }
  return commands.map { complete($0) }
}

extension Session {
  /// Prints a command's result: the facts for programs, `printForPeople` for people.
  ///
  /// This is the one place that chooses by format, except for views, whose tasks are printed as they are read.
  func answer(
    _ facts: @autoclosure () -> Facts, plain layout: RecordLayout, _ printForPeople: () throws -> Void
  ) throws {
    switch options.format {
    case .json: try output.write(facts().json)
    case .plain:
      try output.write(facts().records(options.taskColumns.map { layout.replacingTaskColumns($0) } ?? layout))
    case .human: try printForPeople()
    }
  }

  /// Prints a command's result: the facts for programs, a text for people.
  func answer(
    _ facts: @autoclosure () -> Facts, plain layout: RecordLayout, text: @autoclosure () throws -> String
  ) throws {
    try answer(facts(), plain: layout) { try output.write(text()) }
  }

  /// Prints records: one array for programs that read JSON, a line of `--plain` for each.
  func answer(
    _ name: StaticString, _ records: @autoclosure () -> [Facts], columns: [String], _ printForPeople: () throws -> Void
  ) throws {
    try answer(
      .object([(Facts.Name(name), .array(records()))]), plain: .records([("\(name)", columns)]), printForPeople)
  }

  /// Prints one text, alone for people.
  func answer(_ name: StaticString, _ text: String) throws {
    try answer(.object([(Facts.Name(name), .text(text))]), plain: .record(["\(name)"]), text: text + "\n")
  }

  /// Writes text for people in lines that fit the terminal.
  func writeWrapped(_ text: String) throws {
    let lines = width.map { text.wrapped(toWidth: $0, cuttingWords: false).joined(separator: "\n") } ?? text
    try output.write(lines + "\n")
  }

  /// The facts printed before the tasks of a view.
  func headFacts(ofView name: String, completedCount: Int) -> Facts {
    [
      "view": .text(name), "asOf": .instant(clock.now), "timeZone": .text(clock.zone.name),
      "completedCount": .count(completedCount),
    ]
  }
}

/// A line on standard error that shows the progress of a long operation.
///
/// Shown only on a terminal, and only if the work takes longer than a second. A result that goes to the same terminal
/// shows progress enough.
final class ProgressLine {
  private let verb: String
  private let errorOutput: FileDescriptor
  private let isShown: Bool
  private let start = ContinuousClock.now
  private var nextUpdate: ContinuousClock.Instant
  private var isOnScreen = false

  init(_ verb: String, session: Session, resultIsShown: Bool) {
    self.verb = verb
    errorOutput = session.invocation.errorOutput
    let isCovered = resultIsShown && SystemCalls.isTerminal(session.invocation.output)
    isShown = !session.options.quiet && !isCovered && SystemCalls.isTerminal(errorOutput)
    nextUpdate = start + .seconds(1)
  }

  /// Shows the progress, a few times per second.
  ///
  /// - Parameters:
  ///   - count: The progress, in words.
  ///   - share: The share of the whole, from 0 to 1, if known.
  func update(_ count: @autoclosure () -> String, share: Double?) {
    guard isShown, ContinuousClock.now >= nextUpdate else { return }
    nextUpdate = .now + .milliseconds(100)
    isOnScreen = true
    let percentage = share.map { " (\(Int($0 * 100))%)" } ?? ""
    write("\r\(verb) \(count())\(percentage)\u{1B}[K")
  }

  /// Removes the line.
  func end() {
    if isOnScreen { write("\r\u{1B}[K") }
    isOnScreen = false
  }

  private func write(_ text: String) {
    // Progress that cannot be shown does not fail the command.
    _ = try? errorOutput.writeAll(text.utf8)
  }
}

extension Session {
  /// Runs an export or import, shows its progress and checks for signals meanwhile.
  func withProgress<R>(
    _ verb: String, resultIsShown: Bool = false, _ body: (@escaping InterchangeProgress.Observer) throws -> R
  ) throws -> R {
    try withProgressLine(verb, resultIsShown: resultIsShown) { update in
      try body { progress in try update(progress.taskCount.counted("task"), progress.share) }
    }
  }

  /// Runs a verification, or what ends with one, shows its progress and checks for signals meanwhile.
  func withVerificationProgress<R>(_ body: (@escaping VerificationProgress.Observer) throws -> R) throws -> R {
    try withProgressLine("Verifying") { update in
      try body { progress in
        let share = Double(progress.recordCount) / Double(max(1, progress.totalRecordCount))
        try update(progress.recordCount.counted("record"), share)
      }
    }
  }

  /// Runs an operation on the whole store that ends with a verification, and lets it clean up if it is interrupted.
  func maintain<R>(
    _ operation: (FilePath, TaskStore.Configuration, @escaping VerificationProgress.Observer) throws -> R
  ) throws -> R {
    try Signals.deferringInterruption {
      try withVerificationProgress { try operation(storePath, configuration, $0) }
    }
  }

  private func withProgressLine<R>(
    _ verb: String, resultIsShown: Bool = false,
    _ body: (@escaping (_ count: String, _ share: Double?) throws -> Void) throws -> R
  ) throws -> R {
    let line = ProgressLine(verb, session: self, resultIsShown: resultIsShown)
    defer { line.end() }
    return try body { count, share in
      line.update(count, share: share)
      guard Signals.isInterrupted else { return }
      throw CommandFailure(
        .interrupted, code: "cancelled", "\(verb) was interrupted", remedy: "Start it again; nothing was left behind")
    }
  }
}

extension InterchangeProgress {
  /// The share that is done, from 0 to 1, if the total is known.
  fileprivate var share: Double? {
    if let total = totalTaskCount { return Double(taskCount) / Double(max(1, total)) }
    return totalByteCount.map { Double(byteCount) / Double(max(1, $0)) }
  }
}
