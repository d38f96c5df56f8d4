import Tally

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
