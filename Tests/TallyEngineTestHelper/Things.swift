import Foundation
import TallyEngine
import TestSupport

/// What every record of the random tests contains, whatever its type.
struct Content: Hashable, Sendable {
  var name: String
  var place: String?
  var code: String?
  var tags: [String]
  var microseconds: Int64
  var day: Int
  var amount: Int
  /// As bits, because zero has two forms.
  private var bits: UInt64
  var isOpen: Bool

  init(
    name: String, place: String?, code: String?, tags: [String], microseconds: Int64, day: Int, amount: Int,
    weight: Double, isOpen: Bool
  ) {
    (self.name, self.place, self.code, self.tags) = (name, place, code, tags)
    (self.microseconds, self.day, self.amount) = (microseconds, day, amount)
    (bits, self.isOpen) = (weight.bitPattern, isOpen)
  }

  var weight: Double {
    get { Double(bitPattern: bits) }
    set { bits = newValue.bitPattern }
  }
  var date: Date { Timestamp(clamping: microseconds).date }
  var timestamp: Timestamp { Timestamp(clamping: microseconds) }
  var calendarDay: CalendarDay { CalendarDay(clamping: Int64(day)) }
}

/// A record of the random tests: a number, which its id follows from, and a content.
protocol Thing: StoredRecord, Hashable {
  /// The name of the collection.
  static var collectionName: String { get }
  /// The name of the field that an upgrade changes.
  static var nameField: String { get }
  /// Whether the collection is a log of events.
  static var isEventLog: Bool { get }
  /// The id of a number.
  static func id(of number: Int) -> ID
  /// The id of a number, as the model orders ids.
  static func order(of number: Int) -> Value

  var number: Int { get }
  var content: Content { get set }

  init(number: Int, content: Content)
}

extension Thing {
  static var isEventLog: Bool { false }
}

/// A record with fields of the common types, some of which may be absent.
struct Parcel: Thing, Codable {
  static let collectionName = "parcels"
  static let nameField = "name"

  let id: Int
  private var name: String
  private var place: String?
  private var code: String?
  private var tags: [String]
  private var at: Date
  private var day: Int
  private var amount: Int
  private var weight: Double
  private var isOpen: Bool

  init(number: Int, content: Content) {
    id = number - 20
    (name, place, code, tags) = (content.name, content.place, content.code, content.tags)
    (at, day, amount) = (content.date, content.day, content.amount)
    (weight, isOpen) = (content.weight, content.isOpen)
  }

  static func id(of number: Int) -> Int { number - 20 }
  static func order(of number: Int) -> Value { .number(Int64(number)) }

  var number: Int { id + 20 }
  var content: Content {
    get {
      Content(
        name: name, place: place, code: code, tags: tags,
        microseconds: Timestamp(clamping: at).microsecondsSince1970, day: day, amount: amount, weight: weight,
        isOpen: isOpen)
    }
    set { self = Parcel(number: number, content: newValue) }
  }
}

/// A record that writes its fields itself, and whose ids are texts with zero bytes.
struct Sample: Thing, BinaryRecord {
  static let collectionName = "samples"
  static let nameField = "1"

  let id: String
  var content: Content

  init(number: Int, content: Content) {
    (id, self.content) = (Self.id(of: number), content)
  }

  static func id(of number: Int) -> String {
    ["\u{0}\(number)", "\(number)\u{0}ß", "\(number)"][number % 3]
  }
  static func order(of number: Int) -> Value { .bytes(Array(id(of: number).utf8)) }

  var number: Int { Int(id.filter(\.isWholeNumber)) ?? 0 }

  func encode(to fields: inout FieldOutput) {
    fields.append(content.name, as: 1)
    if let place = content.place { fields.append(place, as: 2) }
    if let code = content.code { fields.append(code, as: 3) }
    fields.append(content.tags.joined(separator: "|"), as: 4)
    fields.append(content.microseconds, as: 5)
    fields.append(content.day, as: 7)
    fields.append(content.amount, as: 300)
    fields.append(content.weight, as: 301)
    fields.append(content.isOpen, as: 302)
  }

  init(id: String, fields: inout FieldInput) throws {
    self.id = id
    content = Content(
      name: try fields.string(1), place: try fields.stringIfPresent(2), code: try fields.stringIfPresent(3),
      tags: try fields.string(4).split(separator: "|").map(String.init), microseconds: try fields.int64(5),
      day: try fields.int(7), amount: try fields.int(300), weight: try fields.double(301),
      isOpen: try fields.bool(302))
  }
}

/// A record that is never changed, with a nested value.
struct Happening: Thing, Codable {
  static let collectionName = "happenings"
  static let nameField = "name"
  static let isEventLog = true

  struct Rest: Hashable, Codable {
    var place: String?
    var code: String?
    var tags: [String]
    var weight: Double
    var isOpen: Bool
  }

  let id: UUID
  private var name: String
  private var microseconds: Int64
  private var day: Int
  private var amount: Int
  private var rest: Rest

  init(number: Int, content: Content) {
    id = Self.id(of: number)
    (name, microseconds, day, amount) = (content.name, content.microseconds, content.day, content.amount)
    rest = Rest(
      place: content.place, code: content.code, tags: content.tags, weight: content.weight, isOpen: content.isOpen)
  }

  static func id(of number: Int) -> UUID {
    let (first, last) = (UInt8(truncatingIfNeeded: number &* 167), UInt8(truncatingIfNeeded: number))
    return UUID(uuid: (first, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, last))
  }
  static func order(of number: Int) -> Value {
    .number(Int64(UInt8(truncatingIfNeeded: number &* 167)) << 8 | Int64(UInt8(truncatingIfNeeded: number)))
  }

  var number: Int { Int(id.uuid.15) }
  var content: Content {
    get {
      Content(
        name: name, place: rest.place, code: rest.code, tags: rest.tags, microseconds: microseconds, day: day,
        amount: amount, weight: rest.weight, isOpen: rest.isOpen)
    }
    set { self = Happening(number: number, content: newValue) }
  }
}

extension Content {
  /// The first instant that is usual: 2021-03-01, some weeks before clocks change in many zones.
  static let start: Int64 = 1_614_556_800_000_000

  private static let names = ["", "a", "a\u{0}", "a\u{0}b", "ab", "ü", "z", "zz\u{0}\u{0}", "日本", "a\u{1}", "\u{ffff}"]

  /// A random content; with `isHuge`, some amounts are near the limits of 64 bits.
  static func random(isHuge: Bool, using generator: inout SeededGenerator) -> Content {
    func one(_ texts: [String]) -> String { texts.randomElement(using: &generator) ?? "" }
    let quarters = Int64.random(in: 0..<3_800, using: &generator)
    var instant = start + quarters * 900_000_000
    if generator.oneIn(2) { instant += Int64.random(in: 0..<900_000_000, using: &generator) }
    if generator.oneIn(12) { instant -= Int64.random(in: 0..<40, using: &generator) * 2_592_000_000_000 }
    var amount = Int.random(in: -20...200, using: &generator)
    if generator.oneIn(6) { amount *= 1_000_003 }
    if isHuge, generator.oneIn(3) {
      amount =
        [Int.max, Int.max - 1, Int.min, Int.min + 1, Int.max / 2, Int.min / 2].randomElement(using: &generator) ?? 0
    }
    return Content(
      name: one(names), place: generator.oneIn(3) ? nil : one(names),
      code: generator.oneIn(2) ? nil : "c\u{0}\(Int.random(in: 0..<60, using: &generator))",
      tags: (0..<Int.random(in: 0...3, using: &generator)).map { _ in one(["x", "y", "y\u{0}", "ß"]) },
      microseconds: instant, day: 18_687 + Int.random(in: 0..<40, using: &generator), amount: amount,
      weight: one(["-1.5", "-0.0", "0.0", "2.25", "1e300", "-inf", "1e-310"]).weight,
      isOpen: generator.oneIn(2))
  }
}

extension String {
  fileprivate var weight: Double { Double(self) ?? 0 }
}

/// A part of a key in the model, which orders values without their bytes.
indirect enum Value: Hashable {
  case nothing
  case number(Int64)
  /// A number with a fraction, by its bits: zero has two forms.
  case real(bits: UInt64)
  case bytes([UInt8])
  case falling(Value)

  static func real(_ number: Double) -> Value { .real(bits: number.bitPattern) }
  static func text(_ text: String) -> Value { .bytes(Array(text.utf8)) }
  static func text(_ text: String?) -> Value { text.map { .text($0) } ?? .nothing }
  static func flag(_ flag: Bool) -> Value { .number(flag ? 1 : 0) }
  static func instant(_ date: Date) -> Value { .number(Timestamp(clamping: date).microsecondsSince1970) }

  func precedes(_ other: Value) -> Bool {
    switch (self, other) {
    case (.nothing, .nothing): false
    case (.nothing, _): true
    case (.number(let left), .number(let right)): left < right
    case (.real(let left), .real(let right)):
      Double(bitPattern: left).isTotallyOrdered(belowOrEqualTo: Double(bitPattern: right)) && left != right
    case (.bytes(let left), .bytes(let right)): left.lexicographicallyPrecedes(right)
    case (.falling(let left), .falling(let right)): right.precedes(left)
    default: false
    }
  }
}

extension [Value] {
  /// Whether these parts come before others; a beginning of others comes before them.
  func precede(_ others: [Value]) -> Bool {
    lexicographicallyPrecedes(others) { $0.precedes($1) }
  }
}

/// An answer that is not that of the model.
struct Difference: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }

  /// Throws unless two values are equal.
  static func check<T: Equatable>(_ found: T, _ expected: T, _ what: @autoclosure () -> String) throws {
    if found != expected { throw Difference("\(what()): is \(found), not \(expected)") }
  }
}
