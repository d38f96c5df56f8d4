package import SystemPackage

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Waits until a process writes to a file in a directory.
///
/// On Linux the system says so (inotify(7)). Elsewhere, and where descriptors or the user's watches are used up, a wait ends
/// after at most 50 ms, so that the caller looks.
package final class DirectoryWatch: Sendable {
  // Constants.
  private let events: FileDescriptor?
  private let wakePipe: (readEnd: FileDescriptor, writeEnd: FileDescriptor)?

  private static let longestBlindWait = Duration.milliseconds(50)

  /// Begins to watch.
  package init(_ directory: FilePath) {
    events = Self.events(of: directory)
    wakePipe = try? FileDescriptor.pipe()
  }

  deinit {
    try? events?.close()
    try? wakePipe?.readEnd.close()
    try? wakePipe?.writeEnd.close()
  }

  /// Ends a wait, now or the next one; for good.
  package func interrupt() {
    _ = try? wakePipe?.writeEnd.writeAll([0])
  }

  /// Waits for a write, for an interruption, or for the end of a limit.
  package func wait(atMost limit: Duration) {
    let limit = events == nil || wakePipe == nil ? min(limit, Self.longestBlindWait) : limit
    var waits = [wakePipe?.readEnd, events].map { descriptor in
      // A negative number is ignored.
      pollfd(fd: descriptor?.rawValue ?? -1, events: Int16(POLLIN), revents: 0)
    }
    let milliseconds = CInt(clamping: Int64(max(limit, .zero) / .milliseconds(1)))
    // Only writes into the array, whose length it is given.
    let count = unsafe poll(&waits, nfds_t(waits.count), milliseconds)
    if count > 0, waits[1].revents != 0 { forgetEvents() }
  }

  /// Reads the events, which only say that something has happened.
  private func forgetEvents() {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while let events {
      // The descriptor does not block.
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe try? events.read(into: $0) }
      guard count == buffer.count else { return }
    }
  }

  private static func events(of directory: FilePath) -> FileDescriptor? {
    #if os(Linux)
      let descriptor = inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK))
      guard descriptor >= 0 else { return nil }
      let events = FileDescriptor(rawValue: descriptor)
      // The string outlives the call. A file that is renamed into place counts, too.
      let watch = unsafe directory.withPlatformString { path in
        unsafe inotify_add_watch(descriptor, path, UInt32(IN_MODIFY | IN_MOVED_TO))
      }
      if watch >= 0 { return events }
      try? events.close()
    #endif
    return nil
  }
}
