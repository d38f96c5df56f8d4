import SystemPackage

/// A line on standard error that tells how far something long has come.
///
/// Shown on a terminal only, and only where the work lasts longer than a second. A result that goes to the same
/// terminal is progress enough.
final class ProgressLine {
  private let verb: String
  private let errorOutput: FileDescriptor
  private let isShown: Bool
  private let start = ContinuousClock.now
  private var nextUpdate: ContinuousClock.Instant
  private var isOnScreen = false

  init(_ verb: String, session: Session, resultIsShown: Bool) {
    self.verb = verb
    errorOutput = session.errorOutput
    let isCovered = resultIsShown && Terminal.isTerminal(session.outputDescriptor)
    isShown = !session.options.quiet && !isCovered && Terminal.isTerminal(session.errorOutput)
    nextUpdate = start + .seconds(1)
  }

  /// Tells how far the work has come, a few times a second.
  ///
  /// - Parameters:
  ///   - count: what has been done, in words.
  ///   - share: how much of all that is, from 0 to 1, where that is known.
  func update(_ count: @autoclosure () -> String, share: Double?) {
    guard isShown, ContinuousClock.now >= nextUpdate else { return }
    nextUpdate = .now + .milliseconds(100)
    isOnScreen = true
    let percentage = share.map { " (\(Int($0 * 100))%)" } ?? ""
    write("\r\(verb) \(count())\(percentage)\u{1B}[K")
  }

  /// Takes the line away.
  func end() {
    if isOnScreen { write("\r\u{1B}[K") }
    isOnScreen = false
  }

  private func write(_ text: String) {
    // A failure to tell progress is not worth failing for.
    _ = try? errorOutput.writeAll(text.utf8)
  }
}
