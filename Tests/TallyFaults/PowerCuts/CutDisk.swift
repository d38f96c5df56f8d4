import Foundation
import SystemPackage
import TallyTestSupport

/// A directory tree as a power cut may leave it at some event of a log.
///
/// Everything flushed is there, that is all writes from before the flush began. Of a file's later writes any sectors may be
/// there, each as after any of its writes; of a directory's later changes any may be, in their order: flushing a file says
/// nothing about its name, nor flushing a directory about those above it.
/// The one assumption about the filesystem is that a renaming takes place as a whole or not at all, and is there once
/// the directory of the new name has been flushed.
struct CutDisk {
  /// The flushes that are ignored, synchronous writes included: a control, which must break.
  enum Forgotten: String {
    case nothing, files, directories, everything

    fileprivate var hasFiles: Bool { self == .files || self == .everything }
    fileprivate var hasDirectories: Bool { self == .directories || self == .everything }
  }

  fileprivate struct File {
    var flushed: [UInt8] = []
    /// As the processes see it.
    var written: [UInt8] = []
    /// What each sector written since the last flush has been since, with the events that wrote it.
    var versions: [Int: [(event: Int, bytes: [UInt8])]] = [:]
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

  fileprivate static let sectorSizeInBytes = 512

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
    case .beginningOfFlush, .ending: break
    case .flush(let inode, let since): flush(inode, since: since)
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
      file.flushSectors(offset..<offset + bytes.count)
    } else {
      file.noteSectors(offset..<offset + bytes.count, at: position)
    }
    files[inode] = file
  }

  private mutating func flush(_ inode: UInt64, since: Int) {
    if files[inode] != nil {
      if !forgotten.hasFiles { files[inode]?.flush(before: since) }
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
  ///   - tornFile: The name of files whose sectors may be torn, too, which no disk does.
  ///   - generator: What decides.
  /// - Returns: The files that are not there as the processes saw them.
  /// - Throws: An error of the system.
  @discardableResult
  func place(
    at path: FilePath, newestNameOnly: Bool = false, isIntact: Bool = false, tearing tornFile: String? = nil,
    using generator: inout SeededGenerator
  ) throws -> [FilePath] {
    let namePercentage = (isIntact ? [100] : Self.percentages).randomElement(using: &generator) ?? 0
    var found = flushedDirectories
    for (index, change) in changes.enumerated() {
      let isThere = Int.random(in: 0..<100, using: &generator) < namePercentage
      if newestNameOnly ? index == changes.count - 1 : isThere { Self.make(change, in: &found) }
    }
    return try place(root, at: path, found, isIntact, tornFile, &generator)
  }

  private static let percentages = [0, 0, 50, 50, 100]

  private func place(
    _ inode: UInt64, at path: FilePath, _ found: [UInt64: Entries], _ isIntact: Bool,
    _ tornFile: String?, _ generator: inout SeededGenerator
  ) throws -> [FilePath] {
    var torn: [FilePath] = []
    if let entries = found[inode] {
      try FileManager.default.createDirectory(atPath: path.string, withIntermediateDirectories: false)
      for (name, target) in entries.sorted(by: { $0.key < $1.key }) {
        torn += try place(target, at: path.appending(name), found, isIntact, tornFile, &generator)
      }
    } else if let file = files[inode] {
      // Each file has its own, so that one may be new as a whole beside an old one.
      let percentage = (isIntact ? [100] : Self.percentages).randomElement(using: &generator) ?? 0
      let isTorn = !isIntact && path.lastComponent?.string == tornFile && generator.oneIn(3)
      let image = image(of: file, percentage, isNewest: isIntact || generator.oneIn(2), isTorn: isTorn, &generator)
      try TallyFaults.write(image, to: path)
      if image != file.written { torn.append(path) }
    }
    return torn
  }

  private func image(
    of file: File, _ percentage: Int, isNewest: Bool, isTorn: Bool, _ generator: inout SeededGenerator
  ) -> [UInt8] {
    var image = file.flushed
    for (sector, versions) in file.versions.sorted(by: { $0.key < $1.key })
    where Int.random(in: 0..<100, using: &generator) < percentage {
      let version = isNewest ? versions.last : versions.randomElement(using: &generator)
      let bytes = version?.bytes ?? []
      guard isTorn && generator.oneIn(3) else {
        Self.put(bytes, at: sector * Self.sectorSizeInBytes, in: &image)
        continue
      }
      for word in stride(from: 0, to: bytes.count, by: 8) where generator.oneIn(2) {
        let part = Array(bytes[word..<min(word + 8, bytes.count)])
        Self.put(part, at: sector * Self.sectorSizeInBytes + word, in: &image)
      }
    }
    return image
  }

  fileprivate static func put(_ bytes: [UInt8], at offset: Int, in file: inout [UInt8]) {
    if file.count < offset + bytes.count {
      file += [UInt8](repeating: 0, count: offset + bytes.count - file.count)
    }
    file.replaceSubrange(offset..<offset + bytes.count, with: bytes)
  }
}

extension CutDisk.File {
  /// Keeps what the sectors of a range are now.
  fileprivate mutating func noteSectors(_ range: Range<Int>, at event: Int) {
    let size = CutDisk.sectorSizeInBytes
    for sector in range.lowerBound / size...(range.upperBound - 1) / size {
      let bytes = Array(written[sector * size..<min((sector + 1) * size, written.count)])
      versions[sector, default: []].append((event, bytes))
    }
  }

  /// Makes the sectors of a range last as they are now.
  fileprivate mutating func flushSectors(_ range: Range<Int>) {
    let size = CutDisk.sectorSizeInBytes
    for sector in range.lowerBound / size...(range.upperBound - 1) / size {
      let bytes = Array(written[sector * size..<min((sector + 1) * size, written.count)])
      CutDisk.put(bytes, at: sector * size, in: &flushed)
      versions[sector] = nil
    }
  }

  /// Makes the writes from before an event last.
  fileprivate mutating func flush(before event: Int) {
    let size = CutDisk.sectorSizeInBytes
    for (sector, all) in versions {
      let later = all.firstIndex { $0.event >= event } ?? all.count
      guard later > 0 else { continue }
      CutDisk.put(all[later - 1].bytes, at: sector * size, in: &flushed)
      versions[sector] = later == all.count ? nil : Array(all[later...])
    }
    // A length may change without a write.
    if versions.isEmpty { flushed = written }
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

  /// A directory with nothing in it.
  init(emptyWith root: UInt64) {
    self.root = root
    directories[root] = [:]
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
