/// What liblmdb records about a tree: in a meta page for its own two, in the tree of names for the others.
struct TreeRecord {
  static let byteCount = 48

  let flags: UInt16
  let depth: Int
  let entryCount: UInt64
  let pages: PageCounts
  /// `nil` for an empty tree.
  let root: Int?

  /// How many pages of each kind a tree has.
  struct PageCounts: Hashable {
    var branch: UInt64 = 0
    var leaf: UInt64 = 0
    var overflow: UInt64 = 0
  }

  init?(_ bytes: [UInt8], at offset: Int) {
    guard let flags = bytes.number(at: offset + 4, as: UInt16.self),
      let depth = bytes.number(at: offset + 6, as: UInt16.self),
      let branch = bytes.number(at: offset + 8, as: UInt64.self),
      let leaf = bytes.number(at: offset + 16, as: UInt64.self),
      let overflow = bytes.number(at: offset + 24, as: UInt64.self),
      let entryCount = bytes.number(at: offset + 32, as: UInt64.self),
      let root = bytes.number(at: offset + 40, as: UInt64.self)
    else { return nil }
    self.flags = flags
    self.depth = Int(depth)
    self.entryCount = entryCount
    pages = PageCounts(branch: branch, leaf: leaf, overflow: overflow)
    // All ones mean that there is none; any other number that does not fit an `Int` is outside every file.
    self.root = root == .max ? nil : Int(exactly: root) ?? .max
  }
}
