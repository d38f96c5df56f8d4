public import SystemPackage
package import TallySystem

extension LMDBEnvironment {
  /// How safe a commit is once the call has returned.
  public enum Durability: Sendable {
    /// It is on the disk.
    case full
    /// A power cut may undo the last commits, as a whole and without damage, until ``LMDBEnvironment/sync(force:)``.
    ///
    /// The corresponding C flag is `MDB_NOMETASYNC`.
    case noMetaSync
  }

  /// How an environment is opened.
  ///
  /// Not offered, each for a reason: `MDB_WRITEMAP` (a full disk kills the process), `MDB_NOSYNC` (a power cut
  /// destroys the file). `MDB_NOTLS` is always on: a reader slot belongs to its transaction, not to a thread.
  public struct Options: Sendable {
    /// How much address space to reserve; the file grows only as it is written.
    public var mapSizeInBytes = 64 << 30
    /// Where the system refuses the reservation, it is halved, down to this size.
    public var minimumMapSizeInBytes = 1 << 26
    /// The size beyond which the map does not grow by itself.
    public var maximumMapSizeInBytes = 1 << 43
    /// How many readers there can be at once, over all processes.
    ///
    /// The process that opens the environment first decides; every process should give the same number. Each takes 64
    /// bytes of the disk.
    public var maxReaders = 1024
    /// How many named databases can be open.
    public var maxDatabases = 32
    /// Whether the directory is created, with those above it, where it is missing; each is flushed to the disk.
    ///
    /// Created ones can be entered by their owner only (0700). Without it a missing directory throws `noSuchFile`, so
    /// that a mistyped path is noticed. Of no effect where nothing is written.
    public var createsDirectory = false
    /// Whether write transactions are refused and no file is created.
    ///
    /// Readers, too, write into the lock's file, unless the filesystem is mounted for reading only.
    public var isReadOnly = false
    /// Whether the path is that of a file, such as a copy, that nobody changes while it is open; then it is opened for
    /// reading only, without a lock, so that it may lie where nothing can be written.
    ///
    /// Another file may take its name: this environment goes on with the one that it has. The corresponding C flags are
    /// `MDB_NOSUBDIR` and `MDB_NOLOCK`.
    public var isFrozenFile = false
    /// How safe a commit is once the call has returned.
    public var durability = Durability.full
    /// The permissions of files that are created, narrowed by the process's mask.
    public var fileMode: FilePermissions = [.ownerReadWrite]
    /// How long a call waits for this process's own transactions, where it must, before it throws `busy`.
    public var waitLimitInSeconds = 60
    /// How long a write waits for that of another process, or of another thread, before it throws `busy`.
    ///
    /// `nil` for as long as it takes: liblmdb's own lock has no limit. With a limit each write also takes a lock on the
    /// directory, so that every process must set one: one that does not holds up the others without limit. Waiting
    /// means trying again and again.
    public var writeWaitLimit: Duration?
    /// Whether a data file that a journal of an earlier version has left behind is recovered before it is opened.
    package var recoversJournal = false
    /// Whether commits are left to a flush of the data file that its owner makes; recovery does.
    var skipsFlushes = false
    /// What the locks belong to that make this process visible to others; tests set a weaker owner.
    package var lockOwner = ByteLock.strongestOwner
    /// Called once for each snapshot that keeps pages from being reused for too long.
    package var onLongRead: (@Sendable (LongRead) -> Void)?

    /// Creates the defaults.
    public init() {}

    var waitLimit: Duration { .seconds(max(waitLimitInSeconds, 0)) }
  }
}
