import LMDB
package import SystemPackage
package import TallySystem

/// The lock on having a store open: any number of processes share it, or a single one holds it to replace or rebuild
/// the file.
///
/// Every open store holds a shared lock on a file of its own in its directory. Restoring, compacting, repairing and
/// migrating lock it exclusively. The first two replace the data file, and a process that still had the old one open
/// would continue with a file that no longer has a name. The other two rebuild tables on which an open store relies.
/// liblmdb's own lock file cannot serve: its locks end when the process closes that file anywhere, and they mean
/// something else.
package struct StoreAccess {
  package static let fileName = "access.lock"

  /// How long to wait between two attempts.
  private static let pauseInMilliseconds = 10
  /// How long the opening of a store gives way to a process that waits for exclusive access.
  ///
  /// That process then gets its turn however many others open and close the store, unless one of them keeps it open for
  /// longer. In that case the others must not wait as long as that.
  private static let courtesy = Duration.seconds(1)

  private let lock: FileLock?
  /// Whether nobody else can have the store open, until ``share()``.
  package let isExclusive: Bool

  /// The access to a published snapshot, which needs no lock, because nobody replaces its file during a read.
  package static let ofSnapshot = StoreAccess(lock: nil, isExclusive: false)

  private init(lock: FileLock?, isExclusive: Bool) {
    (self.lock, self.isExclusive) = (lock, isExclusive)
  }

  /// Waits for the lock, for as long as the configuration allows.
  package init(_ mode: FileLock.Mode, to directory: FilePath, configuration: StoreConfiguration) throws {
    // This process would wait for itself.
    let isOpen = { LMDBEnvironment.isOpenInThisProcess(directory, forLongerThan: configuration.dropLimit) }
    if mode == .exclusive, isOpen() { throw TallyError.openInThisProcess }
    let path = directory.appending(Self.fileName)
    isExclusive = mode == .exclusive
    do {
      let lock = try FileLock(opening: path)
      defer { if mode == .exclusive { lock.markWaiting(false) } }
      let begin = configuration.instant()
      var report: ContinuousClock.Instant? = begin + .seconds(1)
      let taken = try waitForResult(
        until: configuration.instant() + configuration.waitLimit, now: configuration.instant,
        pausing: { _ in
          // Mark it on every attempt: the file may have been replaced, and the mark with it.
          if mode == .exclusive { lock.markWaiting(true) }
          configuration.pause(.milliseconds(Self.pauseInMilliseconds))
          guard let due = report, configuration.instant() >= due else { return }
          report = nil
          configuration.onLongWait(lock.holders)
        },
        { () throws(Errno) -> Bool? in
          let isOthersTurn = mode == .shared && lock.isAwaitedByOthers
          if isOthersTurn, configuration.instant() < begin + min(Self.courtesy, configuration.waitLimit) { return nil }
          return try lock.tryAcquire(mode) ? true : nil
        })
      if taken == nil { throw mode == .shared ? TallyError.heldExclusively : TallyError.inUse }
      self.lock = lock
    } catch Errno.readOnlyFileSystem where configuration.isReadOnly {
      // Nobody can replace anything on a read-only filesystem.
      lock = nil
    } catch Errno.noSuchFileOrDirectory {
      // The directory was removed after the check, or during the wait.
      throw TallyError.storeMissing
    } catch let error as Errno {
      throw TallyError.cannotOpen(error)
    }
  }

  /// Exclusive access if nobody has the store open, or only a command that is about to end; `nil` otherwise.
  static func alone(in directory: FilePath, configuration: StoreConfiguration) -> StoreAccess? {
    let isOpen = LMDBEnvironment.isOpenInThisProcess(directory, forLongerThan: configuration.dropLimit)
    // Errors are ignored here: opening the store without exclusive access reports them.
    guard !isOpen, let lock = try? FileLock(opening: directory.appending(Self.fileName)) else { return nil }
    let end = configuration.instant() + min(commandDuration, configuration.waitLimit)
    while true {
      // A process that waits for exclusive access needs it for longer.
      if lock.isAwaitedByOthers { return nil }
      if (try? lock.tryAcquire(.exclusive)) == true { return StoreAccess(lock: lock, isExclusive: true) }
      guard configuration.instant() < end else { return nil }
      configuration.pause(.milliseconds(pauseInMilliseconds))
    }
  }

  /// How long a command usually has the store open.
  private static let commandDuration = Duration.milliseconds(50)

  /// Lets others have the store open as well; returns false, without any access, if another process has gained
  /// exclusive access in the meantime.
  func share() throws(Errno) -> Bool {
    guard isExclusive, let lock else { return true }
    return try lock.tryAcquire(.shared)
  }

  /// Releases the lock, which is otherwise released with the last copy.
  package func end() {
    lock?.release()
  }
}

extension TallyError {
  package static let heldExclusively = TallyError(
    .storeBusy, "The store is being restored, compacted, repaired or migrated",
    remedy: "Try again when that has finished")

  package static let openInThisProcess = TallyError(
    .alreadyOpen, "This process has the store open", remedy: "Close or suspend it there, then try again")

  package static let inUse = TallyError(
    .storeBusy, "The store is open in another process",
    remedy: "Close it there, then try again; 'tally info' names the processes that read it")
}
