import SystemPackage

// Processes that wait for a lock can say so, and its holder can let them go first. It is a courtesy and no lock: where the
// system refuses it, and after a process has closed another descriptor of the file, nobody knows who waits.

extension FileLock {
  /// The byte that a waiting process locks, for others to see; no file is that long.
  private static let waitingByte = 1 << 60

  /// Whether another process has said that it waits for the lock.
  package var isAwaitedByOthers: Bool {
    (try? SystemCalls.isLockedByOthers(descriptor, byte: Self.waitingByte)) ?? false
  }

  /// Says that this process waits for the lock, or that it does no longer; its end says so, too.
  package func showWaiting(_ isWaiting: Bool) {
    try? SystemCalls.setSharedLock(descriptor, byte: Self.waitingByte, isHeld: isWaiting)
  }
}
