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
/// after at most 50 ms, so that the caller lists the directory.
package final class DirectoryWatch: Sendable {
  // Constants.
  private let events: FileDescriptor?
  private let wakePipe: (readEnd: FileDescriptor, writeEnd: FileDescriptor)?

  private static let shortBlindWait = Duration.milliseconds(50)

  private let longestBlindWait: Duration

  /// Begins to watch for writes.
  package init(_ directory: FilePath) {
    events = Self.events(of: directory)
    wakePipe = try? FileDescriptor.pipe()
    longestBlindWait = Self.shortBlindWait
  }

  /// Begins without a directory; `watchNames(in:)` adds some.
  ///
  /// If the system reports nothing, a wait lasts until its limit, and the caller chooses how often it lists the
  /// directory.
  ///
  /// - Parameter isBlind: Whether the system would not report changes of other machines.
  package init(isBlind: Bool) {
    events = isBlind ? nil : Self.openEvents()
    wakePipe = try? FileDescriptor.pipe()
    // Without a pipe an interruption would have to wait for the limit.
    longestBlindWait = wakePipe == nil ? Self.shortBlindWait : .longestWait
  }

  deinit {
    try? events?.close()
    try? wakePipe?.readEnd.close()
    try? wakePipe?.writeEnd.close()
  }

  /// Ends the wait in progress and all later ones.
  package func interrupt() {
    _ = try? wakePipe?.writeEnd.writeAll([0])
  }

  /// Watches a directory for names and content that change; a second time is as good as once.
  ///
  /// - Returns: Whether the system reports it.
  package func watchNames(in directory: FilePath) -> Bool {
    #if os(Linux)
      let names = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF
      let changes = names | IN_MODIFY | IN_CLOSE_WRITE
      return events.map { Self.watch(directory, changes | IN_ONLYDIR | IN_DONT_FOLLOW, with: $0) } ?? false
    #else
      return false
    #endif
  }

  /// Waits for a change, for an interruption, or for the end of a limit.
  ///
  /// - Returns: Whether the system has reported a change.
  @discardableResult
  package func wait(atMost limit: Duration) -> Bool {
    let limit = events == nil || wakePipe == nil ? min(limit, longestBlindWait) : limit
    var waits = [wakePipe?.readEnd, events].map { descriptor in
      // A negative number is ignored.
      pollfd(fd: descriptor?.rawValue ?? -1, events: Int16(POLLIN), revents: 0)
    }
    let milliseconds = CInt(clamping: Int64(max(limit, .zero) / .milliseconds(1)))
    // Only writes into the array, whose length it is given.
    let count = unsafe poll(&waits, nfds_t(waits.count), milliseconds)
    guard count > 0, waits[1].revents != 0 else { return false }
    discardEvents()
    return true
  }

  /// Reads the events, which only say that something has happened.
  private func discardEvents() {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while let events {
      // The descriptor does not block.
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe try? events.read(into: $0) }
      guard count == buffer.count else { return }
    }
  }

  private static func events(of directory: FilePath) -> FileDescriptor? {
    guard let events = openEvents() else { return nil }
    #if os(Linux)
      // A file that is renamed into place counts, too.
      if watch(directory, IN_MODIFY | IN_MOVED_TO, with: events) { return events }
    #endif
    try? events.close()
    return nil
  }

  private static func openEvents() -> FileDescriptor? {
    #if os(Linux)
      let descriptor = inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK))
      return descriptor >= 0 ? FileDescriptor(rawValue: descriptor) : nil
    #else
      return nil
    #endif
  }

  #if os(Linux)
    private static func watch(_ directory: FilePath, _ changes: Int32, with events: FileDescriptor) -> Bool {
      // The string outlives the call.
      unsafe directory.withPlatformString { path in
        unsafe inotify_add_watch(events.rawValue, path, UInt32(changes))
      } >= 0
    }
  #endif
}
