import ServiceLifecycle

/// How long an export or an import may still take when the program stops; less than what ends every request.
private let timeToFinish: Duration = .milliseconds(300)
/// How long it may take to notice that it is cancelled, before its browser gets an answer all the same.
private let timeToNotice: Duration = .milliseconds(200)

/// Runs work that may take long.
///
/// When the program stops, the work has a moment to finish, then it is cancelled.
///
/// - Parameter body: The work, which notices that it is cancelled.
/// - Returns: What the work returns.
/// - Throws: What the work throws; `cancelled` if it was cut off.
func finishingSoonWhenStopped<Result: Sendable>(
  _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
  let work = Task { try await body() }
  return try await withTaskCancellationHandler {
    try await finishingSoonWhenStopped(of: work, orElse: {}) { try await work.value }
  } onCancel: {
    work.cancel()
  }
}

/// Waits for work that goes on if nobody waits.
///
/// When the program stops, it is cancelled after a moment.
///
/// - Parameters:
///   - work: The work.
///   - giveUp: Called when the work goes on although it was cancelled some time ago.
///   - body: What waits for the work.
/// - Returns: What the body returns.
/// - Throws: What the body throws.
func finishingSoonWhenStopped<Success: Sendable, Failure: Error, Result>(
  of work: Task<Success, Failure>, orElse giveUp: @escaping @Sendable () -> Void,
  waiting body: () async throws -> Result
) async rethrows -> Result {
  try await withGracefulShutdownHandler {
    try await body()
  } onGracefulShutdown: {
    Task {
      try? await Task.sleep(for: timeToFinish)
      work.cancel()
      try? await Task.sleep(for: timeToNotice)
      giveUp()
    }
  }
}
