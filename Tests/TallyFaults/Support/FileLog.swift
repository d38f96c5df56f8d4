import Foundation
import SystemPackage

/// The changes of processes to files and directories, in order; `record-files.c` writes it.
struct FileLog {
  enum Event {
    case write(file: UInt64, offset: Int, bytes: [UInt8], isSynchronous: Bool)
    case resize(file: UInt64, length: Int)
    case beginningOfFlush
    /// A process has been killed.
    case ending
    /// All that was written before an event is on the disk.
    case flush(UInt64, since: Int)
    /// A directory has an entry, for a new file or for one that it had already.
    case entry(directory: UInt64, name: String, target: UInt64, isDirectory: Bool)
    case link(directory: UInt64, name: String, target: UInt64)
    case move(from: UInt64, oldName: String, to: UInt64, newName: String, target: UInt64)
    case removal(directory: UInt64, name: String)

    /// Whether it changes or flushes names: after such an event a power cut is worth trying.
    var isOfNames: Bool {
      switch self {
      case .write, .resize, .beginningOfFlush, .ending: false
      default: true
      }
    }
  }

  let events: [Event]

  struct Malformed: Error {}

  init(_ events: [Event]) {
    self.events = events
  }

  init(_ file: FilePath) throws {
    let data = try bytes(of: file)
    var (events, offset) = ([Event](), 0)
    var beginnings: [UInt64: Int] = [:]
    while offset < data.count {
      guard offset + 40 <= data.count else { throw Malformed() }
      let numbers = (0..<5).map { Self.number(data[offset + 8 * $0..<offset + 8 * $0 + 8]) }
      let end = offset + 40 + Int(numbers[4])
      guard end <= data.count else { throw Malformed() }
      if UInt8(truncatingIfNeeded: numbers[0]) == UInt8(ascii: "B") { beginnings[numbers[2]] = events.count }
      let since = beginnings[numbers[2]] ?? events.count
      events.append(try Self.event(numbers, Array(data[offset + 40..<end]), flushedSince: since))
      offset = end
    }
    self.events = events
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  private static func event(_ numbers: [UInt64], _ bytes: [UInt8], flushedSince since: Int) throws -> Event {
    let (first, second, third) = (numbers[1], numbers[2], numbers[3])
    let kind = UInt8(truncatingIfNeeded: numbers[0])
    // Those of a write are no names, and many.
    let names =
      "ELRU".utf8.contains(kind)
      ? bytes.split(separator: 0, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) } : []
    switch kind {
    case UInt8(ascii: "W"): return .write(file: first, offset: Int(second), bytes: bytes, isSynchronous: false)
    case UInt8(ascii: "M"): return .write(file: first, offset: Int(second), bytes: bytes, isSynchronous: true)
    case UInt8(ascii: "T"): return .resize(file: first, length: Int(second))
    case UInt8(ascii: "K"): return .ending
    case UInt8(ascii: "B"): return .beginningOfFlush
    case UInt8(ascii: "S"): return .flush(first, since: since)
    case UInt8(ascii: "E"): return .entry(directory: first, name: names[0], target: second, isDirectory: third != 0)
    case UInt8(ascii: "L"): return .link(directory: first, name: names[0], target: second)
    case UInt8(ascii: "R") where names.count == 2:
      return .move(from: first, oldName: names[0], to: second, newName: names[1], target: third)
    case UInt8(ascii: "U"): return .removal(directory: first, name: names[0])
    default: throw Malformed()
    }
  }
}
