extension PageWalk {
  /// Calls the body with every page in liblmdb's tree of free pages.
  ///
  /// Each entry of the tree is a list of page numbers that begins with its length. Its key is the number of a commit: one
  /// that freed its pages, or an earlier one. The list descends, as liblmdb merges lists without sorting them. It fills
  /// its room exactly, or is empty: of the room that liblmdb reserves in a commit some may stay unused.
  mutating func forEachFreePage(_ body: (inout PageWalk, Int) throws -> Void) throws {
    let numberByteCount = MemoryLayout<UInt64>.size
    try walk(meta.freePages, order: .integers) { walk, page, node in
      guard node.key.count == numberByteCount,
        let key = Array(page.bytes[node.key]).number(at: 0, as: UInt64.self), key > 0, key <= walk.meta.transactionID
      else { throw LMDBError.damagedPage(page.number, "has a list of free pages of an impossible commit") }
      guard !node.isTree else { throw LMDBError.damagedPage(page.number, "has a tree among lists of free pages") }
      let list = try walk.value(of: node, in: page)
      guard let count = list.number(at: 0, as: UInt64.self), list.count % numberByteCount == 0,
        count == 0 || count == UInt64(list.count / numberByteCount - 1)
      else { throw LMDBError.damagedPage(page.number, "has a list of free pages of another length than it says") }
      var previous = Int.max
      for index in 0..<Int(count) {
        let number = list.number(at: numberByteCount * (index + 1), as: UInt64.self).flatMap { Int(exactly: $0) }
        guard let number, number >= 2, number <= walk.meta.lastPage, number < previous else {
          throw LMDBError.damagedPage(page.number, "lists a free page that cannot be")
        }
        previous = number
        try body(&walk, number)
      }
    }
  }
}
