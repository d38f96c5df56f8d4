import SystemPackage
import TallySystem

/// Who may have a store open: everybody at once, or one alone who is about to put another file in its place.
///
/// Every open store holds a shared lock on a file of ours in its directory. Restoring, compacting, repairing and
/// migrating take it exclusively: they replace the data file, and whoever has the old one open would go on with a file
/// that has no name any more. liblmdb's own lock file would not do: its locks end with any close of that file in the
/// process, and mean something else.
struct StoreAccess {
  static let fileName = "access.lock"

  /// How long to wait between two attempts.
  private static let pauseInMilliseconds = 10

  private let lock: FileLock?

  /// Of a file that nobody replaces under its readers: none is needed.
  static let ofSnapshot = StoreAccess(lock: nil)

  private init(lock: FileLock?) {
    self.lock = lock
  }

  /// Waits for the lock, for as long as the configuration says.
  init(_ mode: FileLock.Mode, to directory: FilePath, configuration: TaskStore.Configuration) throws {
    let path = directory.appending(Self.fileName)
    do {
      let lock = try FileLock(opening: path)
      let taken = try waitForResult(
        until: configuration.instant() + configuration.waitLimit, now: configuration.instant,
        pausing: { _ in configuration.pause(.milliseconds(Self.pauseInMilliseconds)) },
        { try lock.tryAcquire(mode) ? true : nil })
      if taken == nil { throw mode == .shared ? TallyError.heldExclusively : TallyError.inUse }
      self.lock = lock
    } catch Errno.readOnlyFileSystem where configuration.isReadOnly {
      // Nobody can replace anything there.
      lock = nil
    } catch Errno.noSuchFileOrDirectory {
      // The directory has been taken away, since it was looked at or while this waited.
      throw TallyError.storeMissing
    } catch let error as Errno {
      throw TallyError.cannotOpen(error)
    }
  }

  /// Lets others in; at the latest when the last copy of this goes.
  func end() {
    lock?.release()
  }
}

extension TallyError {
  static let heldExclusively = TallyError(
    .storeBusy, "The store is being restored, compacted, repaired or migrated",
    remedy: "Try again when that has finished")

  static let inUse = TallyError(
    .storeBusy, "The store is open in this or another process",
    remedy: "Close it there, then try again; 'tally info' names the processes that read it")
}
