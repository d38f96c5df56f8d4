import Foundation
import SystemPackage

/// The writes of a process to a store's data file, and its acknowledgements, in order; `record-writes.c` writes it.
struct WriteLog {
  enum Event {
    case write(offset: Int, bytes: [UInt8], isSynchronous: Bool)
    case flush
    case truncate(length: Int)
    /// A file or directory got its name.
    case naming
    case begun(UInt64)
    case acknowledged(UInt64)
  }

  let events: [Event]
  /// The first event after which the store is in its place.
  let firstInPlace: Int

  struct Malformed: Error {}

  init(_ file: FilePath) throws {
    let data = try bytes(of: file)
    var (events, offset) = ([Event](), 0)
    while offset < data.count {
      let head = data[offset..<min(offset + 17, data.count)]
      guard head.count == 17 else { throw Malformed() }
      let place = Int(Self.number(head.dropFirst().prefix(8)))
      let end = offset + 17 + Int(Self.number(head.dropFirst(9)))
      guard end <= data.count else { throw Malformed() }
      try events.append(contentsOf: Self.events(data[offset], place, Array(data[offset + 17..<end])))
      offset = end
    }
    guard let naming = events.firstIndex(where: { if case .naming = $0 { true } else { false } }) else {
      throw Malformed()
    }
    self.events = events
    firstInPlace = naming + 1
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
    Int64(bitPattern: bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) })
  }

  private static func events(_ kind: UInt8, _ place: Int, _ bytes: [UInt8]) throws -> [Event] {
    switch kind {
    case UInt8(ascii: "W"): return [.write(offset: place, bytes: bytes, isSynchronous: false)]
    case UInt8(ascii: "M"): return [.write(offset: place, bytes: bytes, isSynchronous: true)]
    case UInt8(ascii: "S"): return [.flush]
    case UInt8(ascii: "T"): return [.truncate(length: place)]
    case UInt8(ascii: "N"): return [.naming]
    case UInt8(ascii: "A"):
      let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
      guard words.count == 2, let number = UInt64(words[1]) else { throw Malformed() }
      return [words[0] == "begun" ? .begun(number) : .acknowledged(number)]
    default: throw Malformed()
    }
  }
}
