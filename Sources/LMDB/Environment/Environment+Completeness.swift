extension Environment {
  /// Whether every page that the last commit needs lies inside the file.
  ///
  /// The last page a commit counts may lie beyond the file's end: liblmdb does not write pages that were taken and given
  /// back within one transaction, it only lists them as free. A file is cut off where a page beyond its end is not
  /// on that list. The list is read from the file and not through the map, where a missing page kills the process.
  ///
  /// Throws `closed`, `forked`, `corrupted`, `ioFailure`.
  ///
  /// - Complexity: a few system calls; where pages lie beyond the end, the length of the list of free pages.
  public func isFileComplete() throws(LMDBError) -> Bool {
    // While this snapshot lives no page that a later commit frees is used again, so the list stays as it is.
    let snapshot = try beginRead()
    defer { extendLifetime(snapshot) }
    return try DataFile(inDirectory: path).reading { reader in
      let meta = try latestMetaPage(reader)
      let pageCount = try reader.sizeInBytes() / meta.pageSizeInBytes
      if pageCount > meta.lastPage { return true }
      let list = FreePageList(reader: reader, pageSizeInBytes: meta.pageSizeInBytes, pageCount: pageCount)
      var freePages: Set<Int> = []
      guard try list.collect(pageCount...meta.lastPage, into: &freePages, below: meta.freePagesRoot) else {
        return false
      }
      return freePages.count == meta.lastPage - pageCount + 1
    }
  }

  /// The newer one of the two first pages, which commits write in turn.
  private func latestMetaPage(_ reader: DataFileReader) throws -> MetaPage {
    var latest: MetaPage?
    for index in 0...1 {
      let offset = index * (latest?.pageSizeInBytes ?? 0)
      guard let meta = MetaPage(try reader.bytes(count: MetaPage.byteCount, at: offset)) else { continue }
      if meta.transactionID >= latest?.transactionID ?? 0 { latest = meta }
    }
    guard let latest else { throw LMDBError(.corrupted, operation: "look at the file") }
    return latest
  }
}

/// liblmdb's tree of free pages, read without the map: its leaves hold lists that begin with their length.
private struct FreePageList {
  let reader: DataFileReader
  let pageSizeInBytes: Int
  /// How many whole pages the file has.
  let pageCount: Int

  /// Deeper trees do not occur: a page holds dozens of entries.
  private static let maximumDepth = 32
  private static let branchFlag: UInt16 = 0x01
  private static let leafFlag: UInt16 = 0x02
  private static let bigValueFlag: UInt16 = 0x01
  private static let nodeHeadByteCount = 8

  /// Collects the listed pages of a range; false if the tree itself is not whole.
  func collect(
    _ range: ClosedRange<Int>,
    into found: inout Set<Int>,
    below root: Int?,
    depth: Int = 0
  ) throws -> Bool {
    guard let root else { return true }
    guard depth < Self.maximumDepth, root < pageCount else { return false }
    let page = try reader.bytes(count: pageSizeInBytes, at: root * pageSizeInBytes)
    guard let flags = page.number(at: 10, as: UInt16.self), let lower = page.number(at: 12, as: UInt16.self),
      flags & (Self.branchFlag | Self.leafFlag) != 0
    else { return false }
    for slot in stride(from: MetaPage.headByteCount, to: Int(lower), by: 2) {
      guard let node = page.number(at: slot, as: UInt16.self).map(Int.init),
        let low = page.number(at: node, as: UInt32.self), let high = page.number(at: node + 4, as: UInt16.self),
        let keyByteCount = page.number(at: node + 6, as: UInt16.self)
      else { return false }
      if flags & Self.branchFlag != 0 {
        let child = Int(low) | Int(high) << 32
        guard try collect(range, into: &found, below: child, depth: depth + 1) else { return false }
      } else {
        let start = node + Self.nodeHeadByteCount + Int(keyByteCount)
        let isBig = high & Self.bigValueFlag != 0
        guard let list = try value(at: start, byteCount: Int(low), isBig: isBig, of: page) else { return false }
        found.formUnion(list.lazy.filter(range.contains))
      }
    }
    return true
  }

  /// The page numbers of one list; `nil` if it is cut off.
  private func value(at start: Int, byteCount: Int, isBig: Bool, of page: [UInt8]) throws -> [Int]? {
    var (bytes, offset) = (page, start)
    if isBig {
      // A long list lies on pages of its own, and the node holds the number of the first.
      guard let first = page.number(at: start, as: UInt64.self).flatMap({ Int(exactly: $0) }), first < pageCount,
        byteCount <= (pageCount - first) * pageSizeInBytes
      else { return nil }
      offset = 0
      bytes = try reader.bytes(count: byteCount, at: first * pageSizeInBytes + MetaPage.headByteCount)
    }
    guard let count = bytes.number(at: offset, as: UInt64.self), count <= UInt64(byteCount / 8) else { return nil }
    let numbers = (0..<Int(count)).map { bytes.number(at: offset + 8 * ($0 + 1), as: UInt64.self) }
    return numbers.contains(nil) ? nil : numbers.compactMap { $0.flatMap { Int(exactly: $0) } }
  }
}
