import ServiceLifecycle

/// The time that an export or an import still gets when the program stops; shorter than the deadline of all requests.
private let timeToFinish: Duration = .milliseconds(300)
/// The time that it gets to notice its cancellation; then its browser gets an answer in any case.
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

/// Waits for work that continues even if nobody waits for it.
///
/// When the program stops, the work is cancelled after a moment.
///
/// - Parameters:
///   - work: The work.
///   - giveUp: Called if the work does not end after its cancellation.
///   - body: Waits for the work.
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
