import SystemPackage

// A process that waits for a lock marks a byte of its file, so that the holder lets it go first and those that come later
// wait a moment. Only on Linux: elsewhere locks of bytes and flock exclude each other, and the mark would keep everybody
// out. The mark is a hint, and ends with the descriptor at the latest.

extension FileLock {
  /// The byte that a waiting process marks; it need not exist.
  private static let waitingByte = 1 << 60

  private var mark: ByteLock {
    ByteLock(descriptor, byte: Self.waitingByte, owner: ByteLock.strongestOwner)
  }

  /// Whether another owner is marked as waiting for the lock.
  package var isAwaitedByOthers: Bool {
    #if os(Linux)
      // The mark is a hint.
      (try? mark.isHeldByOthers()) ?? false
    #else
      false
    #endif
  }

  /// Marks the owner of this lock as waiting for it, or removes the mark.
  package func markWaiting(_ isWaiting: Bool) {
    #if os(Linux)
      if isWaiting { try? mark.acquire(.shared) } else { try? mark.release() }
    #endif
  }
}
