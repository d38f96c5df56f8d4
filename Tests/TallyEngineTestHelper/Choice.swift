import Foundation
import TallyEngine
import TestSupport

/// The questions that a reader or a writer answers.
struct Asked: StoreQueries {
  let snapshot: StoreSnapshot
  /// The present of the store's clock.
  let date: Date
}

/// A member that a random schema may have, and how its answers follow from the records.
struct Choice<Record: Thing> {
  /// What happens in a measure: its group, its instant and its amount.
  struct Event {
    let group: [Value]
    let instant: Int64
    let amount: Int128
  }

  typealias Check = (Asked, [Record], inout SeededGenerator) throws -> Void

  let name: String
  let version: Int
  let members: [Member<Record>]
  /// The keys of a record that no other may have.
  var uniqueKeys: ((Content) -> [[Value]])?
  /// The amounts that are kept as sums, and whether the sum over all groups is kept, too.
  var sums: (events: (Content) -> [Event], hasTotals: Bool)?
  /// Compares the answers with those that follow from all records.
  let check: Check
  /// Of an index: its pages, and the entries that they should have.
  var pages: (read: (Asked, Position?, Int) throws -> Page<Record>, entries: ([Record]) -> [Entry])?
  /// Deletes the records in a random range; returns the numbers of those that should have been deleted.
  var deleteRange: ((inout Writer, [Record], inout SeededGenerator) throws -> [Int])?
}

extension Choice {
  // MARK: Indexes

  /// An index of one part.
  static func one<A>(
    _ index: Index<Record, Key1<A>>, _ version: Int = 1, isUnique: Bool = false,
    _ value: @escaping (A.PlainKey) -> Value, _ keys: @escaping (Content) -> [A.PlainKey]
  ) -> Choice {
    @MemberBuilder<Record> var members: [Member<Record>] { index }
    let entries = { (records: [Record]) in Entry.all(records) { keys($0).map { [value($0)] } } }
    var choice = Choice(name: index.name, version: version, members: members) { asked, records, generator in
      let all = entries(records)
      try Difference.check(asked.count(in: index), all.count, index.name)
      let bounds = (anyKey(keys, of: records, &generator), anyKey(keys, of: records, &generator))
      let range = all.within([], bounds.0.map(value), bounds.1.map(value))
      try compare(
        "\(index.name) from \(bounds)", range, &generator,
        { try asked.records(in: index, from: bounds.0, upTo: bounds.1, reversed: $0, limit: $1) },
        { try asked.page(in: index, from: bounds.0, upTo: bounds.1, after: $0, reversed: $1, limit: $2) })
      try Difference.check(asked.count(in: index, from: bounds.0, upTo: bounds.1), range.count, index.name)
      guard let key = anyKey(keys, of: records, &generator) else { return }
      let expected = all.filter { $0.key == [value(key)] }.map(\.record)
      try Difference.check(asked.records(in: index, key), expected, "\(index.name) of \(key)")
      if isUnique { try Difference.check(asked.record(in: index, key), expected.first, "\(index.name) of \(key)") }
    }
    if isUnique { choice.uniqueKeys = { keys($0).map { [value($0)] } } }
    choice.deleteRange = { writer, records, generator in
      let bounds = (anyKey(keys, of: records, &generator), anyKey(keys, of: records, &generator))
      let expected = Set(entries(records).within([], bounds.0.map(value), bounds.1.map(value)).map(\.record.number))
      let count = try writer.deleteRecords(in: index, from: bounds.0, upTo: bounds.1)
      try Difference.check(count, expected.count, "the number of deleted records of \(index.name)")
      return Array(expected)
    }
    choice.pages = ({ try $0.page(in: index, after: $1, limit: $2) }, entries)
    return choice
  }

  /// An index of two parts.
  static func two<A, B>(
    _ index: Index<Record, Key2<A, B>>, _ version: Int = 1, isUnique: Bool = false,
    _ first: @escaping (A.PlainKey) -> Value, _ second: @escaping (B.PlainKey) -> Value,
    _ keys: @escaping (Content) -> [(A.PlainKey, B.PlainKey)]
  ) -> Choice {
    @MemberBuilder<Record> var members: [Member<Record>] { index }
    let entries = { (records: [Record]) in Entry.all(records) { keys($0).map { [first($0.0), second($0.1)] } } }
    var choice = Choice(name: index.name, version: version, members: members) { asked, records, generator in
      let all = entries(records)
      try compare(
        index.name, all, &generator, { try asked.records(in: index, reversed: $0, limit: $1) },
        { try asked.page(in: index, after: $0, reversed: $1, limit: $2) })
      let parts = all.map { $0.key[0] }.reduce(into: [Value]()) { if $0.last != $1 { $0.append($1) } }
      try Difference.check(asked.firstParts(of: index).map(first), parts, "the first parts of \(index.name)")
      guard let (a, b) = anyKey(keys, of: records, &generator) else { return }
      let bounds = (anyKey(keys, of: records, &generator)?.1, anyKey(keys, of: records, &generator)?.1)
      let expected = all.within([first(a)], bounds.0.map(second), bounds.1.map(second))
      try compare(
        "\(index.name) of \(a) from \(bounds)", expected, &generator,
        { try asked.records(in: index, a, from: bounds.0, upTo: bounds.1, reversed: $0, limit: $1) },
        { try asked.page(in: index, a, from: bounds.0, upTo: bounds.1, after: $0, reversed: $1, limit: $2) })
      try Difference.check(asked.count(in: index, a, from: bounds.0, upTo: bounds.1), expected.count, index.name)
      let one = all.first { $0.key == [first(a), second(b)] }?.record
      try Difference.check(asked.record(in: index, a, b), one, "\(index.name) of \(a), \(b)")
    }
    if isUnique { choice.uniqueKeys = { keys($0).map { [first($0.0), second($0.1)] } } }
    choice.deleteRange = { writer, records, generator in
      guard let (a, _) = anyKey(keys, of: records, &generator) else { return [] }
      let bounds = (anyKey(keys, of: records, &generator)?.1, anyKey(keys, of: records, &generator)?.1)
      let range = entries(records).within([first(a)], bounds.0.map(second), bounds.1.map(second))
      let expected = Set(range.map(\.record.number))
      let count = try writer.deleteRecords(in: index, a, from: bounds.0, upTo: bounds.1)
      try Difference.check(count, expected.count, "the number of deleted records of \(index.name)")
      return Array(expected)
    }
    choice.pages = ({ try $0.page(in: index, after: $1, limit: $2) }, entries)
    return choice
  }

  /// An index of three parts.
  static func three<A, B, C>(
    _ index: Index<Record, Key3<A, B, C>>, _ version: Int = 1, _ first: @escaping (A.PlainKey) -> Value,
    _ second: @escaping (B.PlainKey) -> Value, _ third: @escaping (C.PlainKey) -> Value,
    _ keys: @escaping (Content) -> [(A.PlainKey, B.PlainKey, C.PlainKey)]
  ) -> Choice {
    @MemberBuilder<Record> var members: [Member<Record>] { index }
    let entries = { (records: [Record]) in
      Entry.all(records) { keys($0).map { [first($0.0), second($0.1), third($0.2)] } }
    }
    var choice = Choice(name: index.name, version: version, members: members) { asked, records, generator in
      let all = entries(records)
      try compare(
        index.name, all, &generator,
        { reversed, limit in try asked.page(in: index, reversed: reversed, limit: limit).records },
        { try asked.page(in: index, after: $0, reversed: $1, limit: $2) })
      guard let (a, b, _) = anyKey(keys, of: records, &generator) else { return }
      try compare(
        "\(index.name) of \(a)", all.within([first(a)], nil, nil), &generator,
        { try asked.records(in: index, a, reversed: $0, limit: $1) },
        { try asked.page(in: index, a, after: $0, reversed: $1, limit: $2) })
      let bounds = (anyKey(keys, of: records, &generator)?.2, anyKey(keys, of: records, &generator)?.2)
      try compare(
        "\(index.name) of \(a), \(b) from \(bounds)",
        all.within([first(a), second(b)], bounds.0.map(third), bounds.1.map(third)), &generator,
        { try asked.records(in: index, a, b, from: bounds.0, upTo: bounds.1, reversed: $0, limit: $1) },
        { try asked.page(in: index, a, b, from: bounds.0, upTo: bounds.1, after: $0, reversed: $1, limit: $2) })
    }
    choice.pages = ({ try $0.page(in: index, after: $1, limit: $2) }, entries)
    return choice
  }

  /// A record under one of its keys.
  struct Entry {
    let key: [Value]
    let record: Record

    /// What orders entries: the key, then the record's id.
    var order: [Value] { key + [Record.order(of: record.number)] }

    /// The entries of all records in the order of the index.
    static func all(_ records: [Record], _ keys: (Content) -> [[Value]]) -> [Entry] {
      records.flatMap { record in Set(keys(record.content)).map { Entry(key: $0, record: record) } }.sorted {
        $0.order.precede($1.order)
      }
    }
  }

  /// Compares a range of an index, read as a whole, from its end and by pages.
  private static func compare(
    _ what: String, _ expected: [Entry], _ generator: inout SeededGenerator,
    _ records: (_ reversed: Bool, _ limit: Int) throws -> [Record],
    _ page: (Position?, _ reversed: Bool, _ limit: Int) throws -> Page<Record>
  ) throws {
    let expected = expected.map(\.record)
    try Difference.check(records(false, .max), expected, what)
    if generator.oneIn(2) {
      let limit = Int.random(in: 1...4, using: &generator)
      return try Difference.check(records(true, limit), Array(expected.reversed().prefix(limit)), "\(what), reversed")
    }
    let (isReversed, size) = (generator.oneIn(2), Int.random(in: 1...12, using: &generator))
    var (found, position): ([Record], Position?) = ([], nil)
    repeat {
      let next = try page(position, isReversed, size)
      found += next.records
      position = next.next
      if position != nil, next.records.count != size { throw Difference("\(what): a page is too short") }
    } while position != nil && found.count <= expected.count
    try Difference.check(found, isReversed ? expected.reversed() : expected, "\(what), by pages of \(size)")
  }
}

extension Array {
  /// The entries with a prefix and then a part within bounds.
  fileprivate func within<Record: Thing>(
    _ prefix: [Value], _ lower: Value?, _ upper: Value?
  ) -> [Element] where Element == Choice<Record>.Entry {
    filter { entry in
      guard entry.key.starts(with: prefix) else { return false }
      let part = entry.key[prefix.count]
      return !(lower.map { part.precedes($0) } ?? false) && (upper.map { part.precedes($0) } ?? true)
    }
  }
}

/// A random key: of a record, or of none; none in one of four cases.
private func anyKey<Key>(
  _ keys: (Content) -> [Key], of records: [some Thing], _ generator: inout SeededGenerator
) -> Key? {
  if generator.oneIn(4) { return nil }
  let some = generator.oneIn(6) ? nil : records.randomElement(using: &generator)?.content
  return keys(some ?? .random(isHuge: false, using: &generator)).randomElement(using: &generator)
}
