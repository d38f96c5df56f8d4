import Foundation
import Synchronization

/// A flag that tasks and threads share.
final class Stop: Sendable {
  private let flag = Atomic(false)

  var isSet: Bool { flag.load(ordering: .acquiring) }

  func set() {
    flag.store(true, ordering: .releasing)
  }
}

/// Runs a body on a thread of its own, returns once the body has said that it is ready, and returns a semaphore that is signalled at its end.
func onThread(_ body: @escaping @Sendable (_ ready: DispatchSemaphore) -> Void) -> DispatchSemaphore {
  let (ready, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
  Thread.detachNewThread {
    body(ready)
    done.signal()
  }
  ready.wait()
  return done
}
