extension LMDBError {
  /// The kind of a failure.
  ///
  /// Open: a later version may add codes, so a `switch` over them needs a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    enum Name: String {
      case mapFull, mapResized, readersFull, databasesFull, transactionFull, keyExists, badKeySize, badValueSize
      case badTransaction, badDatabase, databaseNotFound, invalidFile, versionMismatch, corrupted, panic
      case commitOutcomeUnknown, incompatible, notFound, notPositioned, undecodable, alreadyOpen, reentrantWrite
      case wrongThread, forked, closed, busy, diskFull, permissionDenied, noSuchFile, fileExists, readOnly, ioFailure
      case invalidArgument, outOfMemory, other
    }

    let name: Name

    private init(_ name: Name) {
      self.name = name
    }

    /// The code as a word that stays the same from version to version.
    public var description: String { name.rawValue }

    /// The memory map is too small for what the transaction writes.
    public static let mapFull = Code(.mapFull)
    /// Another process has made the map larger than it is in this one, and it could not be adopted.
    public static let mapResized = Code(.mapResized)
    /// Every reader slot is taken by a live reader.
    public static let readersFull = Code(.readersFull)
    /// Every handle for a named database is taken.
    public static let databasesFull = Code(.databasesFull)
    /// The transaction changed more pages than one transaction may.
    public static let transactionFull = Code(.transactionFull)
    /// An appended key does not come after every key there is.
    public static let keyExists = Code(.keyExists)
    /// A key is empty or longer than 511 bytes.
    public static let badKeySize = Code(.badKeySize)
    /// A value is too long, or its codec wrote another number of bytes than it announced.
    public static let badValueSize = Code(.badValueSize)
    /// The transaction failed before, and can only be aborted.
    public static let badTransaction = Code(.badTransaction)
    /// The database handle belongs to another environment, or its opening transaction was aborted.
    public static let badDatabase = Code(.badDatabase)
    /// No database has the given name.
    public static let databaseNotFound = Code(.databaseNotFound)
    /// The file is not an LMDB file.
    public static let invalidFile = Code(.invalidFile)
    /// The file was written by another version of LMDB's format.
    public static let versionMismatch = Code(.versionMismatch)
    /// The file contradicts itself.
    public static let corrupted = Code(.corrupted)
    /// An earlier failure left the environment unusable until it is opened again.
    public static let panic = Code(.panic)
    /// The disk failed at the last step of a commit: it may or may not have taken place.
    public static let commitOutcomeUnknown = Code(.commitOutcomeUnknown)
    /// The name is taken by something that is not a plain database, or the flags differ.
    public static let incompatible = Code(.incompatible)
    /// Nothing has the given key; the binding turns this into `nil` or `false`.
    static let notFound = Code(.notFound)
    /// The cursor is at no entry.
    public static let notPositioned = Code(.notPositioned)
    /// Stored bytes are not what their codec writes.
    public static let undecodable = Code(.undecodable)
    /// This process has the environment open already, perhaps under another path.
    public static let alreadyOpen = Code(.alreadyOpen)
    /// A write transaction was begun inside another one of the same thread, which would wait for itself.
    public static let reentrantWrite = Code(.reentrantWrite)
    /// A write transaction was ended on another thread than it began on.
    public static let wrongThread = Code(.wrongThread)
    /// The environment was opened before this process was forked.
    public static let forked = Code(.forked)
    /// The environment has been closed.
    public static let closed = Code(.closed)
    /// Live transactions stand in the way.
    public static let busy = Code(.busy)
    /// The disk, or the quota on it, is full.
    public static let diskFull = Code(.diskFull)
    /// The system refused access.
    public static let permissionDenied = Code(.permissionDenied)
    /// A file or directory does not exist.
    public static let noSuchFile = Code(.noSuchFile)
    /// A file that is to be created exists.
    public static let fileExists = Code(.fileExists)
    /// The environment was opened for reading only, or lies on a read-only filesystem.
    public static let readOnly = Code(.readOnly)
    /// The system failed to read or write.
    public static let ioFailure = Code(.ioFailure)
    /// An argument is invalid.
    public static let invalidArgument = Code(.invalidArgument)
    /// Memory, or address space, is used up.
    public static let outOfMemory = Code(.outOfMemory)
    /// Anything else; see `returnCode`.
    public static let other = Code(.other)
  }
}
