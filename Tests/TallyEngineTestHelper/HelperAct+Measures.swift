import Foundation
import Synchronization
import SystemPackage
import TallyEngine
import TestSupport

/// A value of the comparison with another program.
private struct Measured: BinaryRecord {
  let id: Int
  let at: Timestamp
  let amount: Int
  let group: String

  init(id: Int, at: Timestamp, amount: Int, group: String) {
    (self.id, self.at, self.amount, self.group) = (id, at, amount, group)
  }

  func encode(to fields: inout FieldOutput) {
    fields.append(at.microsecondsSince1970, as: 1)
    fields.append(amount, as: 2)
    fields.append(group, as: 3)
  }

  init(id: Int, fields: inout FieldInput) throws {
    self.id = id
    at = Timestamp(clamping: try fields.int64(1))
    (amount, group) = (try fields.int(2), try fields.string(3))
  }

  /// The day in UTC, as a day of no zone.
  var day: CalendarDay { CalendarDay(containing: at, in: .gmt) }

  static let byTime = index("byTime") { ($0.group, $0.at) }
  static let amounts = sum("amounts", of: \.amount, over: byTime, totals: true)
  static let parts = sum("parts", of: \.amount, at: \.at, by: \.group)
  static let number = count("number", at: \.at, by: \.group, totals: true)
  static let days = sum("days", of: \.amount, at: \.day, by: \.group)
  static let spread = distribution("spread", of: \.amount, by: \.group)
  static let collection = Collection<Measured>("measured") {
    byTime
    amounts
    parts
    number
    days
    spread
  }
}

extension HelperAct {
  /// Answers questions about values that it has stored, one a line, until there are no more.
  ///
  /// - `save ID MICROSECONDS AMOUNT GROUP`, `delete ID`: changes the store, before the next question.
  /// - `now MICROSECONDS`: sets the clock.
  /// - `total`, `series`, `profile`, `streak`, `before`, `year-before`, `quantile`, `groups`: questions; `answer` has
  ///   their parts. A group of `-` stands for all.
  func measure() throws {
    let present = Present()
    var configuration = StoreConfiguration()
    configuration.durability = .relaxed
    configuration.now = { present.value }
    let store = try Store(
      at: URL(filePath: directory.string), schema: Schema(Measured.collection), configuration: configuration)
    var waiting: [[String]] = []
    while let line = readLine() {
      let words = line.split(separator: " ").map(String.init)
      if words[0] == "save" || words[0] == "delete" {
        waiting.append(words)
        if waiting.count < 700 { continue }
      }
      try Self.change(store, waiting)
      waiting = []
      if words[0] == "now" {
        present.value = try Self.instant(words[1])
      } else if words[0] != "save", words[0] != "delete" {
        say(try store.read { try Question(words).answer($0) })
      }
    }
    try store.close()
  }

  private static func change(_ store: Store, _ lines: [[String]]) throws {
    guard !lines.isEmpty else { return }
    try store.writeAndWait { writer in
      for words in lines {
        guard let id = Int(words[1]) else { throw Misuse() }
        if words[0] == "delete" {
          try writer.delete(Measured.self, id)
        } else {
          guard let amount = Int(words[3]) else { throw Misuse() }
          try writer.save(Measured(id: id, at: instant(words[2]), amount: amount, group: words[4]))
        }
      }
    }
  }

  fileprivate static func instant(_ word: String) throws -> Timestamp {
    guard let microseconds = Int64(word) else { throw Misuse() }
    return Timestamp(clamping: microseconds)
  }
}

/// The present of a clock that a line sets.
private final class Present: Sendable {
  private let instant = Mutex(Timestamp.now())

  var value: Timestamp {
    get { instant.withLock(\.self) }
    set { instant.withLock { $0 = newValue } }
  }
}

/// A question about the values.
private struct Question {
  let words: [String]
  let measure: Measure<Measured, Key1<String>>
  let group: String?

  init(_ words: [String]) throws {
    let measures = [
      "amounts": Measured.amounts, "parts": Measured.parts, "number": Measured.number,
      "days": Measured.days, "spread": Measured.spread,
    ]
    guard words.count > 2, let measure = measures[words[1]] else { throw HelperAct.Misuse() }
    (self.words, self.measure, group) = (words, measure, words[2] == "-" ? nil : words[2])
  }

  private func range(at place: Int) throws -> Range<Date> {
    try HelperAct.instant(words[place]).date..<HelperAct.instant(words[place + 1]).date
  }

  private func zone() throws -> TimeZone {
    guard let zone = TimeZone(identifier: words[3]) else { throw HelperAct.Misuse() }
    return zone
  }

  /// - `total MEASURE GROUP [LOWER UPPER]`
  /// - `series MEASURE GROUP ZONE PERIOD WEEKDAY LOWER UPPER`
  /// - `profile MEASURE GROUP ZONE LOWER UPPER`, `year-before MEASURE GROUP ZONE LOWER UPPER`
  /// - `streak MEASURE GROUP ZONE [WEEKDAY …]`
  /// - `before MEASURE GROUP LOWER UPPER`, `groups MEASURE - LOWER UPPER`
  /// - `quantile MEASURE GROUP FRACTION`
  func answer(_ reader: borrowing Reader) throws -> String {
    switch words[0] {
    case "total":
      return "\(try reader.total(measure, for: group, over: words.count > 3 ? range(at: 3) : nil))"
    case "series":
      guard let period = Period(rawValue: words[4]), let weekday = Int(words[5]) else { throw HelperAct.Misuse() }
      let points = try reader.series(
        measure, for: group, by: period, over: range(at: 6), in: zone(), firstWeekday: weekday)
      return points.map { "\(Timestamp(clamping: $0.start).microsecondsSince1970)=\($0.value)" }
        .joined(separator: " ")
    case "profile":
      let rows = try reader.profile(measure, for: group, over: range(at: 4), in: zone())
      return rows.joined().map { "\($0)" }.joined(separator: " ")
    case "streak":
      let streak = try reader.streak(
        measure, for: group, in: zone(), restDays: Set(words.dropFirst(4).compactMap { Int($0) }))
      return "\(streak.current) \(streak.longest)"
    case "before":
      let both = try reader.comparisonWithBefore(measure, for: group, over: range(at: 3))
      return "\(both.value) \(both.earlier)"
    case "year-before":
      let both = try reader.comparisonWithYearBefore(measure, for: group, over: range(at: 4), in: zone())
      return "\(both.value) \(both.earlier)"
    case "quantile":
      guard let fraction = Double(words[3]) else { throw HelperAct.Misuse() }
      return try reader.quantile(fraction, of: measure, for: group).map { "\($0)" } ?? "none"
    case "groups":
      return try reader.totals(measure, over: range(at: 3)).map { "\($0.group)=\($0.value)" }.joined(separator: " ")
    default: throw HelperAct.Misuse()
    }
  }
}
