import Foundation
import SystemPackage
import TallyTestSupport

/// A directory tree as a power cut may leave it at some event of a log.
///
/// Everything flushed is there. Of a file's later writes any sectors may be there; of a directory's later changes any
/// may be, in their order: flushing a file says nothing about its name, nor flushing a directory about those above it.
/// The one assumption about the filesystem is that a renaming takes place as a whole or not at all, and is there once
/// the directory of the new name has been flushed.
struct CutDisk {
  /// The flushes that are ignored, synchronous writes included: a control, which must break.
  enum Forgotten: String {
    case nothing, files, directories, everything

    fileprivate var hasFiles: Bool { self == .files || self == .everything }
    fileprivate var hasDirectories: Bool { self == .directories || self == .everything }
  }

  private struct File {
    var flushed: [UInt8] = []
    /// As the processes see it.
    var written: [UInt8] = []
    /// The sectors written since the last flush.
    var unflushedSectors: Set<Int> = []
  }

  private typealias Entries = [String: UInt64]

  /// A change of entries: each gets a target, or goes.
  private struct Change {
    let entries: [(directory: UInt64, name: String, target: UInt64?)]
    /// The directory whose flush makes it last.
    let directory: UInt64
  }

  private let log: FileLog
  private let root: UInt64
  private let forgotten: Forgotten
  private var position = 0
  private var files: [UInt64: File] = [:]
  /// As the processes see them, and as they are on the disk.
  private var directories: [UInt64: Entries] = [:]
  private var flushedDirectories: [UInt64: Entries] = [:]
  private var changes: [Change] = []

  private static let sectorSizeInBytes = 512

  /// Begins with a copy of the tree that the log's processes found, whose inodes must be those of the original.
  init(log: FileLog, tree: FileTree, forgetting forgotten: Forgotten) {
    (self.log, self.forgotten) = (log, forgotten)
    root = tree.root
    for (inode, bytes) in tree.files { files[inode] = File(flushed: bytes, written: bytes) }
    (directories, flushedDirectories) = (tree.directories, tree.directories)
  }

  /// Applies all events before an index.
  mutating func advance(to event: Int) {
    while position < event {
      apply(log.events[position])
      position += 1
    }
  }

  /// Whether the processes see a file in the tree's root.
  func shows(_ name: String) -> Bool {
    directories[root]?[name] != nil
  }

  private mutating func apply(_ event: FileLog.Event) {
    switch event {
    case .write(let file, let offset, let bytes, let isSynchronous):
      write(bytes, to: file, at: offset, isSynchronous)
    case .resize(let file, let length):
      guard let count = files[file]?.written.count else { return }
      let kept = files[file]?.written.prefix(length) ?? []
      files[file]?.written = kept + [UInt8](repeating: 0, count: max(0, length - count))
    case .flush(let inode): flush(inode)
    case .entry(let directory, let name, let target, let isDirectory):
      guard directories[directory] != nil, directories[directory]?[name] != target else { return }
      if isDirectory { (directories[target], flushedDirectories[target]) = ([:], [:]) } else { files[target] = File() }
      change([(directory, name, target)], in: directory)
    case .link(let directory, let name, let target): change([(directory, name, target)], in: directory)
    case .move(let from, let oldName, let to, let newName, let target):
      change([(from, oldName, nil), (to, newName, target)], in: to)
    case .removal(let directory, let name): change([(directory, name, nil)], in: directory)
    }
  }

  private mutating func write(_ bytes: [UInt8], to inode: UInt64, at offset: Int, _ isSynchronous: Bool) {
    guard var file = files[inode], !bytes.isEmpty else { return }
    // Not copied while it is changed.
    files[inode] = nil
    Self.put(bytes, at: offset, in: &file.written)
    if isSynchronous && !forgotten.hasFiles {
      Self.put(bytes, at: offset, in: &file.flushed)
    } else {
      let size = Self.sectorSizeInBytes
      file.unflushedSectors.formUnion(offset / size...(offset + bytes.count - 1) / size)
    }
    files[inode] = file
  }

  private mutating func flush(_ inode: UInt64) {
    if let file = files[inode] {
      if !forgotten.hasFiles { files[inode] = File(flushed: file.written, written: file.written) }
    } else if directories[inode] != nil, !forgotten.hasDirectories {
      for change in changes where change.directory == inode { Self.make(change, in: &flushedDirectories) }
      changes.removeAll { $0.directory == inode }
    }
  }

  private mutating func change(_ entries: [(directory: UInt64, name: String, target: UInt64?)], in directory: UInt64) {
    guard directories[directory] != nil else { return }
    let change = Change(entries: entries, directory: directory)
    Self.make(change, in: &directories)
    changes.append(change)
  }

  private static func make(_ change: Change, in directories: inout [UInt64: Entries]) {
    for (directory, name, target) in change.entries { directories[directory]?[name] = target }
  }

  /// Writes the tree found after a power cut to a new directory.
  ///
  /// - Parameters:
  ///   - path: The directory.
  ///   - newestNameOnly: Whether of the unflushed changes of names the newest alone is there, rather than any of them.
  ///   - isIntact: Whether everything unflushed is there, too: the power did not fail here.
  ///   - generator: What decides.
  /// - Returns: The files that are not there as the processes saw them.
  /// - Throws: An error of the system.
  @discardableResult
  func place(
    at path: FilePath, newestNameOnly: Bool = false, isIntact: Bool = false, using generator: inout SeededGenerator
  ) throws -> [FilePath] {
    let percentages = isIntact ? [100] : [0, 0, 50, 50, 100]
    let namePercentage = percentages.randomElement(using: &generator) ?? 0
    let sectorPercentage = percentages.randomElement(using: &generator) ?? 0
    var found = flushedDirectories
    for (index, change) in changes.enumerated() {
      let isThere = Int.random(in: 0..<100, using: &generator) < namePercentage
      if newestNameOnly ? index == changes.count - 1 : isThere { Self.make(change, in: &found) }
    }
    return try place(root, at: path, found, sectorPercentage, &generator)
  }

  private func place(
    _ inode: UInt64, at path: FilePath, _ found: [UInt64: Entries], _ percentage: Int,
    _ generator: inout SeededGenerator
  ) throws -> [FilePath] {
    var torn: [FilePath] = []
    if let entries = found[inode] {
      try FileManager.default.createDirectory(atPath: path.string, withIntermediateDirectories: false)
      for (name, target) in entries.sorted(by: { $0.key < $1.key }) {
        torn += try place(target, at: path.appending(name), found, percentage, &generator)
      }
    } else if let file = files[inode] {
      let image = image(of: file, percentage, &generator)
      try TallyFaults.write(image, to: path)
      if image != file.written { torn.append(path) }
    }
    return torn
  }

  private func image(of file: File, _ percentage: Int, _ generator: inout SeededGenerator) -> [UInt8] {
    var image = file.flushed
    let size = Self.sectorSizeInBytes
    for sector in file.unflushedSectors.sorted() where Int.random(in: 0..<100, using: &generator) < percentage {
      let end = min((sector + 1) * size, file.written.count)
      if sector * size < end { Self.put(Array(file.written[sector * size..<end]), at: sector * size, in: &image) }
    }
    return image
  }

  private static func put(_ bytes: [UInt8], at offset: Int, in file: inout [UInt8]) {
    if file.count < offset + bytes.count {
      file += [UInt8](repeating: 0, count: offset + bytes.count - file.count)
    }
    file.replaceSubrange(offset..<offset + bytes.count, with: bytes)
  }
}

/// A directory with all that is in it, by inode.
struct FileTree {
  let root: UInt64
  private(set) var files: [UInt64: [UInt8]] = [:]
  private(set) var directories: [UInt64: [String: UInt64]] = [:]

  init(_ path: FilePath) throws {
    root = try Self.inode(of: path)
    try add(path, root)
  }

  private static func inode(of path: FilePath) throws -> UInt64 {
    UInt64(try path.stat().inode.rawValue)
  }

  private mutating func add(_ path: FilePath, _ inode: UInt64) throws {
    guard try path.stat().type == .directory else {
      files[inode] = try bytes(of: path)
      return
    }
    directories[inode] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: path.string) {
      let target = try Self.inode(of: path.appending(name))
      directories[inode]?[name] = target
      try add(path.appending(name), target)
    }
  }
}
