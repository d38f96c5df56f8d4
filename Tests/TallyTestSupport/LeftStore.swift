import Foundation
package import LMDB
public import SystemPackage
import TallySystem

/// An environment or a store that version 0e4248f left with a journal: closed, killed, or as a power cut left the disk.
///
/// `left-stores.tar.gz` has a directory for each, made by that version's suites `journal-images` and `store-images`, which
/// copied what the disk held before they opened it: `data.mdb`, `journal`, and `expected`, what that version itself then found.
/// A directory's name says which run it is from and how it ended.
public struct LeftStore: CustomStringConvertible, Sendable {
  /// How the directory was left.
  public enum End: String, Sendable {
    /// The last process closed it.
    case clean
    /// All processes were killed, and the system went on.
    case killed
    /// The power failed.
    case cut
  }

  /// The directory's name.
  public let name: String
  /// How it was left.
  public let end: End
  /// The store's sequence; `nil` for an environment with other tables.
  public let sequence: UInt64?
  /// The last transaction that was acknowledged as durable.
  public let acknowledged: UInt64
  /// How many entries each table has, and their checksum.
  public let tables: [String]
  private let files: [String: Data]

  /// The directory's name.
  public var description: String { name }
  /// Whether a `TaskStore` can open it.
  public var isStore: Bool { sequence != nil }

  private static let archive = FilePath(#filePath).removingLastComponent().appending("left-stores.tar.gz")

  /// All of them; unpacked once.
  public static let all: [LeftStore] = (try? unpacked()) ?? []

  private static func unpacked() throws -> [LeftStore] {
    try withTemporaryDirectory { directory in
      let tar = Process()
      tar.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      tar.arguments = ["tar", "-xzf", archive.string, "-C", directory.string]
      try tar.run()
      tar.waitUntilExit()
      return try FileManager.default.contentsOfDirectory(atPath: directory.string).sorted().compactMap { name in
        try LeftStore(name, in: directory.appending(name))
      }
    }
  }

  private init?(_ name: String, in directory: FilePath) throws {
    let data = { (name: String) in try Data(contentsOf: URL(fileURLWithPath: directory.appending(name).string)) }
    let lines = String(decoding: try data("expected"), as: UTF8.self).split(separator: "\n").map(String.init)
    let number = { (word: String) in
      lines.first { $0.hasPrefix(word + " ") }.flatMap { UInt64($0.dropFirst(word.count + 1)) }
    }
    let words = name.split(separator: "-").dropLast()
    guard let end = words.last.flatMap({ End(rawValue: String($0)) }) else { return nil }
    (self.name, self.end, sequence, acknowledged) = (name, end, number("sequence"), number("acknowledged") ?? 0)
    tables = lines.filter { $0.hasPrefix("table ") }
    files = ["data.mdb": try data("data.mdb"), "journal": try data("journal")]
  }

  /// The bytes of one of its files.
  public func bytes(of name: String) -> [UInt8] { Array(files[name] ?? Data()) }

  /// Writes its files to a new directory.
  public func place(at directory: FilePath) throws {
    try FileManager.default.createDirectory(atPath: directory.string, withIntermediateDirectories: true)
    for (name, data) in files { try data.write(to: URL(fileURLWithPath: directory.appending(name).string)) }
  }

  /// What the tables of an environment are, in the words of `tables`; the one with a store's header is left out.
  package static func tables(of environment: LMDBEnvironment) throws -> [String] {
    try environment.read { try $0.databaseNames() }.filter { $0 != "meta" }.sorted().map { name in
      let table = try Database<[UInt8], [UInt8]>(opening: name, in: environment)
      var (count, sum) = (0, UInt64(0xCBF2_9CE4_8422_2325))
      func add(_ bytes: [UInt8]) {
        for byte in bytes { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01B3 }
      }
      try environment.read { (transaction) throws in
        try table.forEach(in: transaction) { key, value in
          for bytes in [try [UInt8](decoding: key), try [UInt8](decoding: value)] {
            add((0..<4).map { UInt8(truncatingIfNeeded: bytes.count >> (8 * $0)) })
            add(bytes)
          }
          count += 1
          return true
        }
      }
      return "table \(name) \(count) \(String(sum, radix: 16))"
    }
  }
}

extension LMDBEnvironment.Options {
  /// How an environment that a journal has left behind is opened.
  package static var recovering: Self {
    var options = Self()
    options.mapSizeInBytes = 1 << 30
    options.maxDatabases = 128
    options.recoversJournal = true
    options.writeWaitLimit = .seconds(20)
    return options
  }
}
