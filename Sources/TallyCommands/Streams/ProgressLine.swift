import SystemPackage

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
    let isCovered = resultIsShown && Terminal.isTerminal(session.invocation.output)
    isShown = !session.options.quiet && !isCovered && Terminal.isTerminal(errorOutput)
    nextUpdate = start + .seconds(1)
  }

  /// Shows the progress, a few times per second.
  ///
  /// - Parameters:
  ///   - count: What has been done, in words.
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
