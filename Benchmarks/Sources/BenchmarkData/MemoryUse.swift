import Foundation
import Synchronization

/// How much memory this process uses, where the system says so as Linux does; else 0.
///
/// Resident memory counts the pages of a store's memory map that have been touched: they are the system's file cache and
/// leave when others need room. Private memory is what the process itself has asked for.
package enum MemoryUse {
  /// The most resident memory so far.
  package static var peakResidentInKilobytes: Int { field("VmHWM:") }

  /// The private memory of now.
  package static var privateInKilobytes: Int { field("RssAnon:") }

  /// The most private memory while work runs, looked at every millisecond or two.
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

/// Looks at the private memory on a thread of its own, until it is told to stop.
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
