import Foundation
import Synchronization

/// The memory that this process uses, where the system reports it as Linux does; otherwise 0.
///
/// Resident memory includes the touched pages of a store's memory map: they are the system's file cache and are released
/// when others need memory. Private memory is that allocated by the process itself.
package enum MemoryUse {
  /// The greatest resident memory so far.
  package static var peakResidentInKilobytes: Int { field("VmHWM:") }

  /// The current private memory.
  package static var privateInKilobytes: Int { field("RssAnon:") }

  /// The greatest private memory while work runs, sampled every millisecond or two.
  package static func peakPrivateInKilobytes(of work: () throws -> Void) rethrows -> Int {
    let watch = MemoryWatch()
    watch.start()
    defer { watch.stop() }
    try work()
    return max(watch.peakInKilobytes.withLock { $0 }, privateInKilobytes)
  }

  private static func field(_ name: String) -> Int {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return 0 }
    let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
  }
}

/// Samples the private memory on a thread of its own, until stopped.
private final class MemoryWatch: Sendable {
  let peakInKilobytes = Mutex(0)
  private let isDone = Mutex(false)

  func start() {
    let thread = Thread { [self] in
      while !isDone.withLock({ $0 }) {
        let current = MemoryUse.privateInKilobytes
        peakInKilobytes.withLock { $0 = max($0, current) }
        Thread.sleep(forTimeInterval: 0.001)
      }
    }
    thread.start()
  }

  func stop() { isDone.withLock { $0 = true } }
}
