import Foundation
import SystemPackage
import TallySystem

/// The name of a file in the folder of a space.
///
/// A folder is shared with programs that copy it between devices, and they leave files of their own: conflict copies,
/// unfinished copies, placeholders. A name counts only if it is exactly one that this writes.
enum FolderName: Hashable, Sendable {
  /// One or more segments, one after the other.
  case segments(SegmentRange)
  /// A card, with its number.
  case card(UInt64)
  /// One part of a snapshot.
  case part(Int, of: SnapshotStem)
  /// A file that is being written, or that a crash has left; the number is random.
  case temporary(UInt64)
  /// Stands for a file that a program has not downloaded yet.
  indirect case placeholder(FolderName)

  /// The segments of a file.
  struct SegmentRange: Hashable {
    let first: UInt64
    let last: UInt64
    /// The start of the hash of the last one, eight bytes.
    let digest: [UInt8]

    /// The last segment.
    var head: SegmentHead { SegmentHead(number: last, digest: digest) }
    /// How many segments there are.
    var count: UInt64 { last - first + 1 }

    /// Whether all segments of another file are in this one, which is not the same.
    func covers(_ other: SegmentRange) -> Bool { first <= other.first && other.last <= last && count > other.count }
  }

  /// The name of a snapshot, without its replica.
  struct SnapshotStem: Hashable {
    let number: UInt64
    let digest: [UInt8]
    let partCount: Int
  }

  private static let numberDigitCount = 10
  private static let partDigitCount = 5
  /// The greatest number of parts that a name can have.
  static let mostParts = 99_999
  /// Larger numbers would leave no room to count further.
  static let greatestNumber = UInt64(Int64.max)

  private static let segmentEnding: StaticString = ".seg"
  private static let cardStart: StaticString = "card-"
  private static let cardEnding: StaticString = ".card"
  private static let partEnding: StaticString = ".snap"
  private static let partSeparator: StaticString = "of"
  private static let temporaryStart: StaticString = ".tmp-"
  private static let placeholderEnding: StaticString = ".icloud"

  /// Reads a name; `nil` for the names of other programs' files.
  ///
  /// - Parameter text: The name, without its directory.
  init?(_ text: String) {
    var reader = FolderNameReader(text)
    guard let name = Self.read(&reader), reader.isAtEnd else { return nil }
    self = name
  }

  /// The name as it is written.
  var text: String {
    switch self {
    case .segments(let range):
      "\(Self.padded(range.first))-\(Self.padded(range.last))-\(HexDigits.text(of: range.digest))\(Self.segmentEnding)"
    case .card(let number):
      "\(Self.cardStart)\(Self.padded(number))\(Self.cardEnding)"
    case .part(let part, let stem):
      "\(Self.padded(stem.number))-\(HexDigits.text(of: stem.digest))-\(Self.padded(part, Self.partDigitCount))"
        + "\(Self.partSeparator)\(Self.padded(stem.partCount, Self.partDigitCount))\(Self.partEnding)"
    case .temporary(let random):
      "\(Self.temporaryStart)\(Self.padded(random))"
    case .placeholder(let name):
      ".\(name.text)\(Self.placeholderEnding)"
    }
  }

  private static func padded(_ number: some BinaryInteger, _ digitCount: Int = numberDigitCount) -> String {
    let digits = "\(number)"
    return String(repeating: "0", count: max(0, digitCount - digits.count)) + digits
  }

  private static func read(_ reader: inout FolderNameReader) -> FolderName? {
    if reader.skip(cardStart) { return number(&reader, cardEnding).map { .card($0) } }
    if reader.skip(temporaryStart) { return reader.number(numberDigitCount).map { .temporary($0) } }
    if reader.skip(".") {
      // Other devices never have a temporary file or a placeholder.
      guard !reader.isAt("."), let name = read(&reader), reader.skip(placeholderEnding) else { return nil }
      return .placeholder(name)
    }
    guard let first = number(&reader, "-") else { return nil }
    // The names of parts and of segments both begin with a number. The name of a part is tried first.
    if let stem = stem(&reader, first) { return stem }
    guard let last = number(&reader, "-"), first <= last, let digest = reader.digest(), reader.skip(segmentEnding)
    else { return nil }
    return .segments(SegmentRange(first: first, last: last, digest: digest))
  }

  /// The rest of the name of a part, after its first number; for another name, returns `nil` and reads nothing.
  private static func stem(_ reader: inout FolderNameReader, _ number: UInt64) -> FolderName? {
    var ahead = reader
    guard let digest = ahead.digest(), ahead.skip("-"), let part = ahead.number(partDigitCount),
      ahead.skip(partSeparator), let count = ahead.number(partDigitCount), ahead.skip(partEnding),
      let part = Int(exactly: part), let count = Int(exactly: count)
    else { return nil }
    let snapshot = SnapshotStem(number: number, digest: digest, partCount: count)
    guard snapshot.hasPart(part) else { return nil }
    reader = ahead
    return .part(part, of: snapshot)
  }

  private static func number(_ reader: inout FolderNameReader, _ ending: StaticString) -> UInt64? {
    guard let number = reader.number(numberDigitCount), reader.skip(ending) else { return nil }
    return (1...greatestNumber).contains(number) ? number : nil
  }
}

extension FolderName.SegmentRange {
  /// One segment.
  init(_ head: SegmentHead) { self.init(first: head.number, last: head.number, digest: head.digest) }
}

extension FolderName.SnapshotStem {
  /// The name of a snapshot; `nil` if a file could not have it.
  init?(_ name: SnapshotName) {
    guard (1...FolderName.greatestNumber).contains(name.number), (1...FolderName.mostParts).contains(name.partCount),
      name.digest.count == SegmentHead.digestByteCount
    else { return nil }
    self.init(number: name.number, digest: name.digest, partCount: name.partCount)
  }

  /// Whether the snapshot has a part with a number.
  func hasPart(_ part: Int) -> Bool { (1...FolderName.mostParts).contains(partCount) && (0..<partCount).contains(part) }
}

/// Reads the pieces of a name, each only in the one form in which it is written.
///
/// It reads bytes, because every listing of a folder reads the names of all its files.
struct FolderNameReader {
  private var rest: ArraySlice<UInt8>

  init(_ text: String) { rest = Array(text.utf8)[...] }

  var isAtEnd: Bool { rest.isEmpty }

  /// Whether a text follows.
  func isAt(_ text: StaticString) -> Bool {
    // The text is constant, and compared within the closure.
    text.withUTF8Buffer { unsafe rest.starts(with: $0) }
  }

  /// Skips a text; returns false, and skips nothing, if another one follows.
  mutating func skip(_ text: StaticString) -> Bool {
    guard isAt(text) else { return false }
    rest = rest.dropFirst(text.utf8CodeUnitCount)
    return true
  }

  /// Reads a number that is padded with zeros to a number of digits; `nil` for another form, or if the number is too
  /// large.
  mutating func number(_ digitCount: Int) -> UInt64? {
    let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard digits.count == digitCount || digits.count > digitCount && digits.first != UInt8(ascii: "0") else {
      return nil
    }
    var number: UInt64 = 0
    for digit in digits {
      let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, hasCarried) = product.addingReportingOverflow(UInt64(digit - UInt8(ascii: "0")))
      guard !isTooLarge, !hasCarried else { return nil }
      number = sum
    }
    rest = rest[digits.endIndex...]
    return number
  }

  /// Reads the start of a hash.
  mutating func digest() -> [UInt8]? {
    let digits = rest.prefix(2 * SegmentHead.digestByteCount)
    guard let digest = HexDigits.bytes(of: digits), digest.count == SegmentHead.digestByteCount else { return nil }
    rest = rest[digits.endIndex...]
    return digest
  }
}

/// A file of a space's folder: its name, and the values that show that it has changed.
struct FolderEntry: Hashable, Sendable {
  let name: FolderName
  /// The directory; few entries are ever opened, so a path is made only when it is needed.
  private let directory: String
  let fileName: String
  let byteCount: Int64
  /// The times of the last modification and of the last change of the file's status, in seconds and nanoseconds.
  let modified: [Int]

  /// Reads the status of a file; `nil` if it is not there, or cannot be one of ours.
  init?(_ name: FolderName, named fileName: String, in directory: String) throws(Errno) {
    let status: Stat
    do throws(Errno) {
      status = try unsafe Stat("\(directory)/\(fileName)", followTargetSymlink: false)
    } catch .noSuchFileOrDirectory {
      return nil
    }
    guard status.type == .regular, status.size <= FolderDisk.largestFileInBytes else { return nil }
    (self.name, self.directory, self.fileName, byteCount) = (name, directory, fileName, status.size)
    modified = [status.st_mtim, status.st_ctim].flatMap { [Int($0.tv_sec), Int($0.tv_nsec)] }
  }

  /// The path of the file.
  var path: FilePath { FilePath("\(directory)/\(fileName)") }

  /// The file for which another one is a placeholder; its size is unknown.
  init(_ name: FolderName, replacing placeholder: FolderEntry) {
    (self.name, modified) = (name, placeholder.modified)
    (directory, fileName) = (placeholder.directory, placeholder.fileName)
    byteCount = FolderDisk.largestFileInBytes
  }
}

/// Finds the files of a space.
struct FolderListing: Sendable {
  /// How many times the names are listed while they change.
  static let mostListings = 8

  /// The directory of the space.
  let space: FilePath

  /// The parts of the folder, each with a directory for each replica.
  enum Part: String, CaseIterable {
    case replicas, snapshots
  }

  /// Creates a listing of a directory that need not exist.
  init(of space: FilePath) { self.space = space }

  /// The directory of the files of all replicas.
  ///
  /// Paths are made of strings: appending a component is slow in a debug build, where swift-system checks the whole path
  /// after each byte.
  func directory(_ part: Part) -> FilePath { FilePath("\(space)/\(part.rawValue)") }

  /// The directory of the files of a replica.
  func directory(_ part: Part, of replica: ReplicaID) -> FilePath { FilePath("\(space)/\(part.rawValue)/\(replica)") }

  /// The path of a file of a replica.
  func path(of name: FolderName, _ part: Part, of replica: ReplicaID) -> FilePath {
    FilePath("\(space)/\(part.rawValue)/\(replica)/\(name.text)")
  }

  /// Throws a fault unless the directory of the space is there.
  func requireReachable() throws(FolderFault) { try Self.requireDirectory(space, followingLink: false) }

  /// Throws a fault unless a path is that of a directory.
  static func requireDirectory(_ path: FilePath, followingLink: Bool) throws(FolderFault) {
    let reason: Errno
    do throws(Errno) {
      if try path.stat(followTargetSymlink: followingLink).type == .directory { return }
      reason = .notDirectory
    } catch {
      reason = error
    }
    throw FolderFault(kind: .unreachable, path: path, reason: "\(reason)")
  }

  /// The replicas that have a directory.
  func replicas(_ part: Part) throws(FolderFault) -> [ReplicaID] {
    try names(in: directory(part)).compactMap { name in
      let id = HexDigits.bytes(of: name).flatMap { ReplicaID(bytes: $0) }
      return id?.description == name ? id : nil
    }
  }

  /// The files of a replica whose names count.
  ///
  /// A file that vanishes after its name was listed is by now in a pack whose name was not listed, so the names are
  /// listed again.
  func entries(_ part: Part, of replica: ReplicaID) throws(FolderFault) -> [FolderEntry] {
    let directory = directory(part, of: replica)
    var listed = Set(try names(in: directory))
    for _ in 1..<Self.mostListings {
      let found = try entries(listed, in: directory.string)
      if found.count == listed.count { return found }
      let now = Set(try names(in: directory))
      if now == listed { return found }
      listed = now
    }
    return try entries(listed, in: directory.string)
  }

  private func entries(_ names: Set<String>, in directory: String) throws(FolderFault) -> [FolderEntry] {
    var entries: [FolderEntry] = []
    for text in names {
      guard let name = FolderName(text) else { continue }
      do throws(Errno) {
        if let entry = try FolderEntry(name, named: text, in: directory) { entries.append(entry) }
      } catch {
        throw FolderFault(error, at: FilePath("\(directory)/\(text)"))
      }
    }
    return entries
  }

  /// The names in a directory; none if it is not there, or a link to somewhere else.
  private func names(in directory: FilePath) throws(FolderFault) -> [String] {
    do {
      guard try FolderDisk.isDirectory(directory) else { return [] }
      return try FileManager.default.contentsOfDirectory(atPath: directory.string)
    } catch {
      let code = ((error as? CocoaError)?.underlying as? POSIXError)?.code.rawValue
      let errno = error as? Errno ?? code.map { Errno(rawValue: $0) } ?? .ioError
      if [.noSuchFileOrDirectory, .notDirectory].contains(errno) { return [] }
      throw FolderFault(errno, at: directory)
    }
  }
}

/// All files of a space that count, at one moment: two scans differ if something has changed.
struct FolderScan: Hashable, Sendable {
  /// The cards and segments of each replica, and the parts of its snapshots.
  private var files: [FolderListing.Part: [ReplicaID: [FolderEntry]]] = [:]
  /// The faults of replicas whose cards and segments could not be listed; those of all others were.
  private var unreadable: [ReplicaID: FolderFault] = [:]

  /// Lists the files.
  init(_ listing: FolderListing) throws(FolderFault) {
    try listing.requireReachable()
    for part in FolderListing.Part.allCases {
      for replica in try listing.replicas(part) {
        do throws(FolderFault) {
          replace(part, of: replica, with: try listing.entries(part, of: replica))
        } catch {
          if part == .replicas { unreadable[replica] = error }
        }
      }
    }
  }

  /// The cards and segments of each replica.
  var replicas: [ReplicaID: [FolderEntry]] { files[.replicas] ?? [:] }

  /// Records the files of a replica.
  mutating func replace(_ part: FolderListing.Part, of replica: ReplicaID, with entries: [FolderEntry]) {
    files[part, default: [:]][replica] = Self.relevant(entries)
  }

  /// The files that matter to other replicas, in an order that does not depend on the directory's.
  private static func relevant(_ entries: [FolderEntry]) -> [FolderEntry] {
    entries.filter { entry in
      if case .temporary = entry.name { false } else { true }
    }.sorted { $0.fileName < $1.fileName }
  }
}
