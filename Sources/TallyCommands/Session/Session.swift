import Foundation
import SystemPackage
import Tally

/// What a command works with: clock, store and streams, set up from the global options.
final class Session {
  let options: GlobalOptions
  /// The words of the command, such as `lists add`: the name of its changes in the history.
  let commandName: String
  /// Whether the store must know with which day a week begins.
  let countsWeeks: Bool
  let settings: Settings
  let clock: LocalClock
  let storePath: FilePath
  let painter: Painter
  /// The columns of a line; `nil` if lines may be of any length.
  let width: Int?
  let output: BufferedOutput
  /// Its output is for the library to write to; what `output` still holds comes after it.
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
    let given = try options.now.map { text in try CommandFailure.naming("--now") { try Timestamp(iso8601: text) } }
    let present = given ?? .now()
    clock = LocalClock(
      now: given ?? present.wholeSecond, exactNow: present,
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
      isTerminal: Terminal.isTerminal(invocation.output), environment: invocation.environment)
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
  /// Prints what changed, for people; with `--json` and `--plain` the result says it.
  func say(_ message: String) {
    if options.format == .human { note(message) }
  }

  /// Prints how to continue where a result is empty.
  func hint(_ message: String) {
    if options.format != .json { note(message) }
  }

  /// Prints what goes with a result without being part of it, in any format.
  ///
  /// - Parameters:
  ///   - message: what to say.
  ///   - wrapped: whether to break it into lines that fit the terminal, where it is no command to be copied.
  func note(_ message: String, wrapped: Bool = true) {
    guard !options.quiet else { return }
    // On a terminal it comes after the results so far. If those cannot be printed, the last flush fails, too.
    try? output.flush()
    // A message that cannot be printed does not fail the command.
    _ = try? invocation.errorOutput.writeAll(invocation.message(message + "\n", wrapped: wrapped).utf8)
  }
}
