extension PageWalk {
  /// Calls the body with every page in liblmdb's tree of free pages.
  ///
  /// Each entry of the tree is a list of page numbers that begins with its length.
  mutating func forEachFreePage(_ body: (inout PageWalk, Int) throws -> Void) throws {
    try walk(meta.freePages, order: .integers) { walk, page, node in
      guard node.key.count == MemoryLayout<UInt64>.size else {
        throw LMDBError.damagedPage(page.number, "has a key of an impossible length")
      }
      let list = try walk.value(of: node, in: page)
      guard let count = list.number(at: 0, as: UInt64.self), count <= UInt64(list.count / 8 - 1) else {
        throw LMDBError.damagedPage(page.number, "has a list of free pages that is cut off")
      }
      for index in 0..<Int(count) {
        let number = list.number(at: 8 * (index + 1), as: UInt64.self).flatMap { Int(exactly: $0) }
        guard let number, number >= 2, number <= walk.meta.lastPage else {
          throw LMDBError.damagedPage(page.number, "lists a free page that cannot be")
        }
        try body(&walk, number)
      }
    }
  }
}
