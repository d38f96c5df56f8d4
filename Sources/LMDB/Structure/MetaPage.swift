import TallySystem

/// The fields of liblmdb's first pages that matter here, in the machine's own byte order as they are stored.
struct MetaPage {
  static let headByteCount = 16
  static let byteCount = headByteCount + 136
  static let magic: UInt32 = 0xBEEF_C0DE
  /// The version of liblmdb's format that its 0.9 releases write.
  static let knownVersion: UInt32 = 1
  private static let pageFlag: UInt16 = 0x08
  /// Of the tree of free pages: its keys are integers (`MDB_INTEGERKEY`).
  private static let integerKeysFlag: UInt16 = 0x08
  /// Stored there, too, by a copy of a file without a directory (`MDB_NOSUBDIR`).
  private static let lacksDirectoryFlag: UInt16 = 0x4000

  /// Whether the page says of itself that it is one of the first two (`P_META`).
  let isMarked: Bool
  let version: UInt32
  let pageSizeInBytes: Int
  /// The tree of free pages.
  let freePages: TreeRecord
  /// The tree of the names of all others.
  let names: TreeRecord
  let lastPage: Int
  let transactionID: UInt64

  init?(_ bytes: [UInt8]) {
    guard bytes.count >= Self.byteCount, bytes.isPrefixOfMetaPage, let pageSize = bytes.number(at: 40, as: UInt32.self),
      let version = bytes.number(at: 20, as: UInt32.self), let freePages = TreeRecord(bytes, at: 40),
      let names = TreeRecord(bytes, at: 88), let last = bytes.number(at: 136, as: UInt64.self),
      let transactionID = bytes.number(at: 144, as: UInt64.self), let lastPage = Int(exactly: last),
      (512...65_536).contains(pageSize), pageSize.nonzeroBitCount == 1, lastPage < Int.max >> 17
    else { return nil }
    isMarked = bytes.number(at: 10, as: UInt16.self).map { $0 & Self.pageFlag != 0 } ?? false
    pageSizeInBytes = Int(pageSize)
    self.version = version
    self.freePages = freePages
    self.names = names
    self.lastPage = lastPage
    self.transactionID = transactionID
  }
}

extension MetaPage {
  /// The bytes with which a meta page begins.
  static func head(ofPage number: Int) -> [UInt8] {
    var head = UInt64(number).storedBytes + [UInt8](repeating: 0, count: headByteCount - 8)
    head[10] = UInt8(pageFlag)
    return head
  }

  /// Whether liblmdb's own two trees have the flags that they always have.
  var hasSoundFlags: Bool {
    freePages.flags & ~Self.lacksDirectoryFlag == Self.integerKeysFlag && names.flags == 0
  }

  /// How often the two pages are read while commits change them.
  private static let maximumAttempts = 100

  /// The newer one of the two first pages, which commits write in turn.
  ///
  /// Commit `n` writes page `n % 2`, and liblmdb looks for it there. So the numbers of a sound file are consecutive,
  /// and each lies on its own page; the first commit of a new file follows two zeros. Anything else is damage: liblmdb
  /// would take an older commit for the last one, or a page that no commit wrote.
  ///
  /// Not every wrong number can be noticed: if that of the last commit is lower by two, or the other one higher, the
  /// file is as after a commit whose last step failed.
  ///
  /// Throws `corrupted`.
  static func latest(of reader: DataFileReader) throws -> MetaPage {
    try latest { try consistentLatest(of: reader) }
  }

  /// The first page that a look at the two finds, as soon as they are consistent.
  static func latest(_ look: () throws -> MetaPage?) throws -> MetaPage {
    var attempt = 1
    while true {
      if let latest = try look() { return latest }
      // Commits may have come between the two reads, or into one; damage stays.
      guard attempt < maximumAttempts else {
        throw LMDBError.foreignMetaPages
      }
      if attempt > 1 { pause(microseconds: 200) }
      attempt += 1
    }
  }

  /// The page of a commit, if that is the last one or the one before; `nil` if a later commit has overwritten it, or if the
  /// two pages are not those of two consecutive commits.
  static func page(ofSnapshot number: UInt64, in reader: DataFileReader) throws -> MetaPage? {
    guard let (first, second) = try consistentPages(of: reader) else { return nil }
    return [first, second].first { $0.transactionID == number }
  }

  private static func consistentLatest(of reader: DataFileReader) throws -> MetaPage? {
    guard let (first, second) = try consistentPages(of: reader) else { return nil }
    return first.transactionID > second.transactionID ? first : second
  }

  /// The two pages, if their numbers are consecutive and each lies in its own place.
  private static func consistentPages(of reader: DataFileReader) throws -> (MetaPage, MetaPage)? {
    guard let first = MetaPage(try reader.bytes(count: byteCount, at: 0)),
      let second = MetaPage(try reader.bytes(count: byteCount, at: first.pageSizeInBytes)),
      first.pageSizeInBytes == second.pageSizeInBytes, first.version == second.version,
      first.isMarked, second.isMarked
    else { return nil }
    let (even, odd) = (first.transactionID, second.transactionID)
    if even == 0 && odd == 0 { return (first, second) }
    guard even % 2 == 0, max(even, odd) - min(even, odd) == 1 else { return nil }
    return (first, second)
  }
}

extension LMDBError {
  static let foreignMetaPages = LMDBError.damagedTree(
    "The first two pages of the file are not those of two consecutive commits")
}
