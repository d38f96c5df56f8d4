import Synchronization

/// Counts open event streams, of which there may be only a number at once.
final class StreamLimit: Sendable {
  private let limit: Int
  private let count = Mutex(0)

  init(_ limit: Int) { self.limit = limit }

  /// Takes a place; false if there is none.
  func enter() -> Bool {
    count.withLock { count in
      guard count < limit else { return false }
      count += 1
      return true
    }
  }

  /// Gives a place back.
  func leave() { count.withLock { $0 -= 1 } }
}
