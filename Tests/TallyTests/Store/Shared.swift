import Foundation
import LMDB
import TallySystem

/// A value that closures on several threads change, under a lock that ThreadSanitizer sees.
final class Shared<Value>: Sendable {
  private let value: Monitor<Value>

  init(_ value: Value) {
    self.value = Monitor(value)
  }

  func withLock<R>(_ body: (inout Value) -> R) -> R {
    value.withLock(body)
  }
}

/// An event that happens once, for which others wait.
final class Signal: Sendable {
  private let condition = NSCondition()
  private let isSent = Shared(false)

  func send() {
    condition.withLock {
      isSent.withLock { $0 = true }
      condition.broadcast()
    }
  }

  /// Waits on a thread of its own: blocking one of the pool would stall other tests.
  func waitOnThread() {
    condition.withLock {
      while !isSent.withLock({ $0 }) { condition.wait() }
    }
  }

  func wait() async {
    await waitUntil { [isSent] in isSent.withLock { $0 } }
  }
}

/// Polls on a thread of its own: one of the pool may be busy with other tests while the condition comes and goes.
func waitUntil(_ condition: @escaping @Sendable () -> Bool) async {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread {
      while !condition() { Thread.sleep(forTimeInterval: 0.001) }
      continuation.resume()
    }
  }
}

/// Starts a body that may wait, on a thread of its own.
func startThread<R: Sendable>(_ body: @escaping @Sendable () throws -> R) -> Task<R, any Error> {
  Task.detached {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
  }
}
