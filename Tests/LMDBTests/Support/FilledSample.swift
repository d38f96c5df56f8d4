import Foundation
import SystemPackage
import Testing

@testable import LMDB

/// A small environment with some of everything: branches, values on pages of their own, and free pages.
struct FilledSample {
  typealias Table = Database<[UInt8], [UInt8]>

  let file: [UInt8]
  let contents: [String: [[UInt8]: [UInt8]]]
  /// Before the last commit.
  let earlierContents: [String: [[UInt8]: [UInt8]]]

  static let names = ["long", "short", "plain"]
  static var options: LMDBEnvironment.Options { Sample.options(mapSizeInBytes: 1 << 24) }

  init() throws {
    let directory = try TemporaryDirectory()
    let environment = try LMDBEnvironment(path: directory.path, options: Self.options)
    var contents = [String: [[UInt8]: [UInt8]]](uniqueKeysWithValues: Self.names.map { ($0, [:]) })
    try environment.write { transaction in
      for name in Self.names { _ = try Table(opening: name, creating: true, in: &transaction) }
    }
    // All lengths are even: an odd one may be wrong by the byte that fills up its room, which only its reader can
    // notice.
    for number in UInt8(0)..<24 { contents["plain"]?[[0, number]] = Array(repeating: number, count: 300) }
    for number in UInt8(1)..<9 { contents["short"]?[Array(repeating: number, count: 2 * Int(number))] = [] }
    for number in UInt8(0)..<2 { contents["long"]?[[number, 0]] = Array(repeating: number, count: 5_000) }
    try environment.write { transaction in
      for (name, rows) in contents {
        let table = try Table(opening: name, creating: false, in: &transaction)
        for (key, value) in rows { try table.put(value, forKey: key, in: &transaction) }
      }
    }
    // A reader keeps what the changes free from being used again at once, so that there are several lists.
    do {
      let reader = try environment.beginRead()
      defer { extendLifetime(reader) }
      for round in 10..<14 { try Self.change(&contents, round: round, in: environment) }
    }
    earlierContents = contents
    try Self.change(&contents, round: 14, in: environment)
    self.contents = contents
    try environment.close()
    file = Array(try Data(contentsOf: URL(filePath: directory.path.appending("data.mdb").string)))
  }

  /// Writes to every database, and removes something.
  static func change(
    _ contents: inout [String: [[UInt8]: [UInt8]]], round: Int, in environment: LMDBEnvironment
  ) throws {
    let number = UInt8(round)
    var changed = contents
    for part in UInt8(0)..<6 { changed["plain"]?[[number, part]] = Array(repeating: part, count: 290 + 2 * Int(part)) }
    changed["plain"]?[[0, number]] = nil
    changed["short"]?[[number, 0]] = [number, 1]
    changed["long"]?[[2, 0]] = Array(repeating: number, count: 4_100 + 100 * round)
    try environment.write { transaction in
      for name in names {
        let table = try Table(opening: name, creating: false, in: &transaction)
        let (old, new) = (contents[name] ?? [:], changed[name] ?? [:])
        for key in old.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) where new[key] == nil {
          _ = try table.remove(forKey: key, in: &transaction)
        }
        for (key, value) in new where old[key] != value { try table.put(value, forKey: key, in: &transaction) }
      }
    }
    contents = changed
  }

  static func contents(of environment: LMDBEnvironment) throws -> [String: [[UInt8]: [UInt8]]] {
    var contents: [String: [[UInt8]: [UInt8]]] = [:]
    for name in names {
      let table = try Table(opening: name, in: environment)
      var rows: [[UInt8]: [UInt8]] = [:]
      try environment.read { transaction in
        try table.forEach(in: transaction) { key, value in
          rows[Array(key)] = Array(value)
          return true
        }
      }
      contents[name] = rows
    }
    return contents
  }

  /// The bytes that say where something is, or how much there is; not those of keys and values.
  func structuralPlaces() throws -> [Int] {
    let newest = try newestMeta()
    let places = (0..<MetaPage.byteCount).flatMap { [$0, Self.pageSize + $0] }
    return try places + placesOfTree(newest.names.root) + placesOfTree(newest.freePages.root, isListOfPages: true)
  }

  private static let pageSize = 4_096

  func newestMeta() throws -> MetaPage {
    let metas = try (0...1).map { try meta($0) }
    return metas[0].transactionID > metas[1].transactionID ? metas[0] : metas[1]
  }

  func page(_ number: Int) throws -> Page {
    let start = number * Self.pageSize
    return try Page(number: number, bytes: Array(file[start..<start + Self.pageSize]))
  }

  /// Where a list of free pages that is not empty begins.
  func placeOfFreePageList() throws -> Int {
    let number = try #require(try newestMeta().freePages.root)
    let page = try page(number)
    let node = try #require(
      page.nodes.first { page.bytes.number(at: $0.key.upperBound, as: UInt64.self).map { $0 > 0 } == true })
    try #require(!page.isBranch && !node.isBigValue)
    return number * Self.pageSize + node.key.upperBound
  }

  /// Where the last key of the first leaf lies, in a tree with a branch.
  func placeOfLastKeyOfFirstLeaf() throws -> Int {
    let names = try page(try #require(try newestMeta().names.root))
    let roots = names.nodes.compactMap { TreeRecord(names.bytes, at: $0.key.upperBound)?.root }
    let branch = try #require(try roots.map { try page($0) }.first { $0.isBranch })
    let leaf = try page(branch.nodes[0].child)
    return leaf.number * Self.pageSize + leaf.nodes[leaf.nodes.count - 1].key.lowerBound
  }

  /// The pages of all trees except the free pages.
  func usedPages() throws -> Set<Int> {
    let root = try newestMeta().names.root
    return Set(try placesOfTree(root).map { $0 / Self.pageSize })
  }

  private func meta(_ index: Int) throws -> MetaPage {
    let start = index * Self.pageSize
    let meta = try #require(MetaPage(Array(file[start..<start + MetaPage.byteCount])))
    try #require(meta.pageSizeInBytes == Self.pageSize)
    return meta
  }

  private func placesOfTree(_ root: Int?, isListOfPages: Bool = false) throws -> [Int] {
    guard let root else { return [] }
    let start = root * Self.pageSize
    let page = try page(root)
    var places = Array(0..<Page.headByteCount + 2 * page.nodes.count)
    for node in page.nodes {
      // Only its reader can notice that a value ends early or late on its own pages.
      let sizeByteCount = 4
      places += (node.isBigValue ? node.start + sizeByteCount : node.start)..<node.key.lowerBound
      if isListOfPages && !page.isBranch { places += node.key.lowerBound..<node.end }
      if node.isTree || node.isBigValue { places += node.key.upperBound..<node.end }
    }
    return try places.map { start + $0 } + page.nodes.flatMap { try placesBelow($0, of: page, isListOfPages) }
  }

  private func placesBelow(_ node: Node, of page: Page, _ isListOfPages: Bool) throws -> [Int] {
    if page.isBranch { return try placesOfTree(node.child, isListOfPages: isListOfPages) }
    if node.isTree { return try placesOfTree(TreeRecord(page.bytes, at: node.key.upperBound)?.root) }
    guard node.isBigValue else { return [] }
    let first = try #require(page.bytes.number(at: node.key.upperBound, as: UInt64.self))
    let start = Int(first) * Self.pageSize
    return Array(start..<start + Page.headByteCount)
  }
}

extension Array where Element == UInt8 {
  fileprivate init(_ bytes: borrowing RawSpan) {
    // Within the call.
    self = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
  }
}
