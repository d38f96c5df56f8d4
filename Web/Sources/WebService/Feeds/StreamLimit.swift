import Synchronization

/// Counts open event streams, whose number is limited.
final class StreamLimit: Sendable {
  private let limit: Int
  private let openCount = Mutex(0)

  init(_ limit: Int) { self.limit = limit }

  /// The number of places that are taken.
  var count: Int { openCount.withLock { $0 } }

  /// Takes a place, which is given back with its last reference; `nil` if there is none.
  func enter() -> Place? {
    let isFree = openCount.withLock { count in
      guard count < limit else { return false }
      count += 1
      return true
    }
    return isFree ? Place(self) : nil
  }

  /// The place of a stream.
  ///
  /// The answer owns it. An answer that nobody writes because the browser has left gives it back, too.
  final class Place: Sendable {
    private let limit: StreamLimit

    fileprivate init(_ limit: StreamLimit) { self.limit = limit }

    deinit { limit.openCount.withLock { $0 -= 1 } }
  }
}
