import Synchronization

/// Counts open event streams, of which there may be only a number at once.
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
  /// The answer owns it: one that nobody writes, as the browser has left, gives it back, too.
  final class Place: Sendable {
    private let limit: StreamLimit

    fileprivate init(_ limit: StreamLimit) { self.limit = limit }

    deinit { limit.openCount.withLock { $0 -= 1 } }
  }
}
