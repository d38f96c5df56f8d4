import Foundation
import Tally

/// The answer of a command: a tree of names and values, written once and printed as JSON or as the records of
/// `--plain`.
///
/// The names are keys of the JSON and, joined by dots, the names of the records; both are part of the command line's
/// contract, and so is their order.
enum Facts {
  case value(FieldValue?)
  case flag(Bool)
  /// Values in order; in records each has its label before it, if there are labels.
  case array([Facts], labels: [String] = [])
  case object([Member])

  typealias Member = (Name, Facts)

  /// The name of a member, which may be in the JSON only or in the records only.
  struct Name: ExpressibleByStringLiteral {
    enum Audience {
      case all, json, plain
    }

    let text: StaticString
    let audience: Audience

    init(stringLiteral text: StaticString) {
      self.init(text)
    }

    init(_ text: StaticString, onlyIn audience: Audience = .all) {
      (self.text, self.audience) = (text, audience)
    }
  }

  static func text(_ text: String?) -> Facts { .value(text.map { .text($0) }) }
  static func integer(_ number: Int64?) -> Facts { .value(number.map { .integer($0) }) }
  static func count(_ number: Int) -> Facts { .integer(Int64(number)) }
  static func id(_ id: UUID?) -> Facts { .value(id.map { .id($0) }) }
  static func instant(_ instant: Timestamp?) -> Facts { .value(instant.map { .instant($0) }) }
  static func day(_ day: CalendarDay?) -> Facts { .value(day.map { .day($0) }) }
}

extension Facts: ExpressibleByDictionaryLiteral {
  init(dictionaryLiteral elements: (Name, Facts)...) {
    self = .object(elements)
  }

  /// The object with further members.
  func adding(_ more: Facts) -> Facts { .object(members + more.members) }

  /// The members of an object; empty for any other value.
  var members: [Member] {
    if case .object(let members) = self { members } else { [] }
  }
}

extension OffsetTimestamp {
  /// The offset from UTC as `+03:00`.
  var offsetText: String {
    let minutes = abs(utcOffsetInMinutes)
    return (utcOffsetInMinutes < 0 ? "-" : "+") + WallTime.clock(ofMinute: minutes)
  }
}

extension String {
  /// Ranges of the text as offsets in Unicode scalars.
  func scalarOffsets(of ranges: [Range<Index>]) -> [Range<Int>] {
    var (index, count) = (startIndex, 0)
    func offset(of other: Index) -> Int {
      count += unicodeScalars.distance(from: index, to: other)
      index = other
      return count
    }
    return ranges.map { offset(of: $0.lowerBound)..<offset(of: $0.upperBound) }
  }
}

extension Facts {
  /// The facts as one line of JSON.
  var json: [UInt8] {
    TerminalSafeJSON.line { $0.write(self) }
  }
}

extension JSONWriter {
  /// Writes a value of any kind.
  mutating func write(_ facts: Facts) {
    switch facts {
    // Programs get one form of times: the offset of a completion is a member of its own.
    case .value(.offsetInstant(let instant)): value(.instant(instant.instant))
    case .value(let field): value(field)
    case .flag(let isTrue): value(isTrue)
    case .array(let elements, _):
      beginArray()
      for element in elements { write(element) }
      endArray()
    case .object:
      beginObject()
      write(membersOf: facts)
      endObject()
    }
  }

  /// Writes the members of an object that has begun.
  mutating func write(membersOf facts: Facts) {
    for (name, value) in facts.members where name.audience != .plain {
      key(name.text)
      write(value)
    }
  }
}

/// JSON in which nothing drives a terminal.
///
/// JSON allows DEL, the control characters from U+0080 on and those that turn the reading direction unescaped, and so
/// does the writer, whose exports go into files. Standard output may be read on a terminal. Outside texts a JSON document
/// is ASCII, so the characters can be escaped wherever they occur; a reader gets the same texts.
enum TerminalSafeJSON {
  /// Writes one JSON value on one line.
  static func line(_ write: (inout JSONWriter) throws -> Void) rethrows -> [UInt8] {
    var json = JSONWriter(layout: .compact)
    try write(&json)
    json.lineFeed()
    return bytes(json.takeBytes())
  }

  /// The document with such characters escaped.
  static func bytes(_ document: [UInt8]) -> [UInt8] {
    // Most documents are ASCII, and the largest byte is found many at a time.
    guard document.reduce(0, max) >= 0x7F else { return document }
    var result: [UInt8] = []
    result.reserveCapacity(document.count)
    for scalar in String(decoding: document, as: UTF8.self).unicodeScalars {
      if scalar.value >= 0x7F, scalar.drivesOrHides {
        for unit in String(scalar).utf16 {
          let digits = String(unit, radix: 16)
          result += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
        }
      } else {
        result += String(scalar).utf8
      }
    }
    return result
  }
}

/// The layout of facts with `--plain`: fields separated by tabs, one record per line, columns that never change.
enum RecordLayout {
  /// A line per fact: its path, a tab, its value. Repeated lines have the elements' values as further columns.
  case fields
  /// One record of these columns.
  case record([String])
  /// A record per element of each array, by its path; without columns the elements are the records.
  case records([(path: String, columns: [String])])
}

extension RecordLayout {
  /// The layout with other columns for the records of tasks, which have a handle and a title.
  func replacingTaskColumns(_ names: [String]) -> RecordLayout {
    func replaced(_ columns: [String]) -> [String] {
      for prefix in ["", "task."] where columns.contains(prefix + "handle") && columns.contains(prefix + "title") {
        return names.map { prefix + $0 }
      }
      return columns
    }
    switch self {
    case .fields: return self
    case .record(let columns): return .record(replaced(columns))
    case .records(let tables): return .records(tables.map { ($0.path, replaced($0.columns)) })
    }
  }
}

extension Facts {
  /// The records of `--plain`.
  func records(_ layout: RecordLayout) -> String {
    switch layout {
    case .fields: fields(at: "").map(RecordColumns.line).joined()
    case .record(let names):
      RecordColumns(names, in: self).record(of: self)
    case .records(let tables):
      tables.map { path, names in
        let rows = elements(at: path.split(separator: ".")[...])
        guard let first = rows.first else { return "" }
        let columns = RecordColumns(names, in: first)
        return rows.map(columns.record).joined()
      }.joined()
    }
  }

  private func fields(at path: String) -> [[String?]] {
    switch self {
    case .object(let members):
      members.filter { $0.0.audience != .json }.flatMap { name, value in
        value.fields(at: path.isEmpty ? "\(name.text)" : "\(path).\(name.text)")
      }
    case .array(let elements, let labels):
      elements.enumerated().map { index, element in
        [path] + (labels.isEmpty ? [] : [labels[index]]) + element.leaves
      }
    default: [[path, plainText]]
    }
  }

  private var leaves: [String?] {
    if case .object(let members) = self { members.flatMap(\.1.leaves) } else { [plainText] }
  }

  /// The elements of the array at a path; of arrays on the way every element is followed.
  private func elements(at path: ArraySlice<Substring>) -> [Facts] {
    if case .array(let elements, _) = self {
      return path.isEmpty ? elements : elements.flatMap { $0.elements(at: path) }
    }
    guard let name = path.first else { return [] }
    return members.filter { "\($0.0.text)" == name }.flatMap { $0.1.elements(at: path.dropFirst()) }
  }

  /// A single value as text; `nil` if it is absent.
  fileprivate var plainText: String? {
    switch self {
    case .value(let field): field?.plainText
    case .flag(let isTrue): String(isTrue)
    case .array, .object: nil
    }
  }
}

extension FieldValue {
  fileprivate var plainText: String {
    switch self {
    case .text(let text): text
    case .state(let state): state.name
    case .integer(let number): String(number)
    case .instant(let instant): instant.iso8601
    case .offsetInstant(let instant): instant.iso8601
    case .day(let day): day.iso8601
    case .id(let id): id.text
    case .priority(let priority): priority.name
    case .tags(let tags): tags.joined(separator: ",")
    case .ids(let ids): ids.map(\.text).joined(separator: ",")
    case .reminders(let reminders): reminders.map(\.text).joined(separator: ",")
    case .recurrence(let recurrence): recurrence.text
    case .flag(let isTrue): String(isTrue)
    case .series(let series): "\(series.occurrence.iso8601) \(series.index)"
    case .attributes(let attributes):
      attributes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.text)" }.joined(separator: ",")
    }
  }
}

/// Columns by name: found once, then read from the same places of further facts of the same shape.
struct RecordColumns {
  /// The members to follow for each column.
  private let places: [[Int]]

  init(_ names: [String], in facts: Facts) {
    places = names.isEmpty ? [[]] : names.map { Self.place(of: $0.split(separator: ".")[...], in: facts) }
  }

  private static func place(of path: ArraySlice<Substring>, in facts: Facts) -> [Int] {
    guard let name = path.first else { return [] }
    guard let index = facts.members.firstIndex(where: { "\($0.0.text)" == name }) else {
      preconditionFailure("There is no column \(name)")
    }
    return [index] + place(of: path.dropFirst(), in: facts.members[index].1)
  }

  func record(of facts: Facts) -> String {
    Self.line(places.map { $0.reduce(facts) { $0.members[$1].1 }.plainText })
  }

  /// Fields as one line; an absent value is empty, and no field can hold a tab or a line break.
  static func line(_ fields: [String?]) -> String {
    var line = ""
    for (index, field) in fields.enumerated() {
      if index > 0 { line += "\t" }
      if let field { line += field.escapedForDisplay(escapingBackslash: true) }
    }
    return line + "\n"
  }
}
