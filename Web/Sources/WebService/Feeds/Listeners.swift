/// The streams that wait for news.
struct Listeners {
  typealias Continuation = AsyncStream<Void>.Continuation

  private var continuations: [Int: Continuation] = [:]
  private var lastID = 0
  private var isEnded = false

  var isEmpty: Bool { continuations.isEmpty }

  /// Wakes a stream at each piece of news, until it ends.
  ///
  /// - Parameters:
  ///   - continuation: the continuation of the stream; it may listen to others, too.
  ///   - onTermination: called when the stream has ended, with the id that ``remove(_:)`` takes.
  mutating func add(_ continuation: Continuation, onTermination: @escaping @Sendable (Int) -> Void) {
    guard !isEnded else { return continuation.finish() }
    lastID += 1
    let id = lastID
    continuations[id] = continuation
    let others = continuation.onTermination
    continuation.onTermination = { reason in
      others?(reason)
      onTermination(id)
    }
  }

  mutating func remove(_ id: Int) { continuations[id] = nil }

  func wake() {
    for continuation in continuations.values { continuation.yield() }
  }

  /// Ends all streams, those to come included: their browsers connect again, and get the error.
  mutating func end() {
    for continuation in continuations.values { continuation.finish() }
    continuations = [:]
    isEnded = true
  }
}
