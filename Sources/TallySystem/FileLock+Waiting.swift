import SystemPackage

// A process that waits for a lock marks a byte of its file with a POSIX lock, so that the holder can let it go first. Only on
// Linux: elsewhere POSIX locks and flock exclude each other, and the mark would keep everybody out. It is a hint: it is lost
// when the process closes another descriptor of the file.

extension FileLock {
  /// The byte that a waiting process marks; it need not exist.
  private static let waitingByte = 1 << 60

  /// Whether another process has marked itself as waiting for the lock.
  package var isAwaitedByOthers: Bool {
    #if os(Linux)
      (try? SystemCalls.isLockedByOthers(descriptor, byte: Self.waitingByte)) ?? false
    #else
      false
    #endif
  }

  /// Marks this process as waiting for the lock, or removes the mark; it also ends with the process.
  package func markWaiting(_ isWaiting: Bool) {
    #if os(Linux)
      try? SystemCalls.setSharedLock(descriptor, byte: Self.waitingByte, isHeld: isWaiting)
    #endif
  }
}
