import Foundation
import Synchronization
import TallyEngine

@testable import TallyEngineTestHelper

/// What a store of the random tests contains: plain dictionaries, and a list of what each write has replaced.
struct EngineModel {
  struct Key: Hashable {
    let collection: Int
    let number: Int
  }

  /// A record as it is stored.
  struct Row: Equatable {
    var content: Content
    /// The version of the collection that wrote it.
    var version: Int
    /// The commit of its last change.
    var changed: UInt64

    func isSame(as other: Row) -> Bool { content == other.content && version == other.version }
  }

  /// A write in the history.
  struct Entry {
    enum Kind { case change, undo, redo }
    var id: ChangeID?
    let sequence: UInt64
    let kind: Kind
    let target: Int?
    let actionName: String?
    let date: Date
    /// What there was before the write of each record that it changed; the serial number of an entry is its place.
    let images: [Key: Row?]
  }

  /// A refusal, by the code of the error.
  struct Refusal: Error, Equatable {
    let code: TallyError.Code
  }

  private(set) var rows: [Key: Row] = [:]
  /// The commit that last deleted each record.
  private(set) var deletions: [Key: UInt64] = [:]
  /// Oldest first.
  var entries: [Entry] = []
  /// The last commit.
  var sequence: UInt64 = 0
  var schema: RandomSchema
  /// The present of the clock of whoever writes.
  var now = Timestamp(clamping: Content.start).date
  /// The state before each record that the present write has changed.
  private var images: [Key: Row?] = [:]
  private(set) var hasChanges = false

  init(_ schema: RandomSchema) {
    self.schema = schema
  }

  // MARK: Reading

  func version(of collection: Int) -> Int? {
    switch collection {
    case 0: schema.parcels?.version
    case 1: schema.samples?.version
    default: schema.happenings?.version
    }
  }

  /// The content of a stored record as a version reads it.
  private func read(_ row: Row, _ version: Int) -> Content {
    var content = row.content
    content.name = RandomSchema.Part<Parcel>.name(content.name, from: row.version, to: version)
    return content
  }

  func content(_ key: Key) -> Content? {
    guard let row = rows[key] else { return nil }
    return read(row, version(of: key.collection) ?? row.version)
  }

  /// The records of a collection.
  func records<Record: Thing>(_ type: Record.Type, _ collection: Int) -> [Record] {
    rows.keys.filter { $0.collection == collection }.sorted { $0.number < $1.number }.compactMap { key in
      content(key).map { Record(number: key.number, content: $0) }
    }
  }

  private func uniqueKeys(_ collection: Int) -> ((Content) -> [[Value]])? {
    switch collection {
    case 0: schema.parcels?.unique?.uniqueKeys
    case 1: schema.samples?.unique?.uniqueKeys
    default: schema.happenings?.unique?.uniqueKeys
    }
  }

  /// Whether two records of a collection have one key of a unique index, with some changed.
  func hasTwins(_ collection: Int, changing changed: [Int: Content?] = [:]) -> Bool {
    guard let keys = uniqueKeys(collection) else { return false }
    var owners: [[Value]: Int] = [:]
    var contents = [Int: Content]()
    for key in rows.keys where key.collection == collection { contents[key.number] = content(key) }
    for (number, content) in changed { contents[number] = content }
    for (number, content) in contents {
      for key in keys(content) {
        if let owner = owners.updateValue(number, forKey: key), owner != number { return true }
      }
    }
    return false
  }

  /// Whether a sum of the schema's measures cannot be stored: those of one group within sixteen days, in their order.
  func isOverflowing() -> Bool {
    func check<Record: Thing>(_ part: RandomSchema.Part<Record>?, _ collection: Int) -> Bool {
      guard let part else { return false }
      let contents = rows.keys.filter { $0.collection == collection }.compactMap { content($0) }
      return part.choices.contains { choice in
        guard let sums = choice.sums else { return false }
        let events = contents.flatMap(sums.events)
        let all =
          sums.hasTotals ? events.map { Choice<Record>.Event(group: [], instant: $0.instant, amount: $0.amount) } : []
        return Self.isOverflowing(events) || Self.isOverflowing(all)
      }
    }
    return check(schema.parcels, 0) || check(schema.samples, 1) || check(schema.happenings, 2)
  }

  private static func isOverflowing<Record>(_ events: [Choice<Record>.Event]) -> Bool {
    let blocks = Dictionary(grouping: events) { event in
      [event.group, [.number(Int64((Double(event.instant) / 1_382_400_000_000).rounded(.down)))]]
    }
    return blocks.values.contains { block in
      guard block.reduce(UInt128(0), { $0 + UInt128($1.amount.magnitude) }) > Int64.max else { return false }
      let slots = Dictionary(grouping: block) { Int((Double($0.instant) / 900_000_000).rounded(.down)) }
      var sum = Int128(0)
      for slot in slots.keys.sorted() {
        let amount = slots[slot]?.reduce(Int128(0)) { $0 + $1.amount } ?? 0
        sum += amount
        if Int64(exactly: amount) == nil || Int64(exactly: sum) == nil { return true }
      }
      return false
    }
  }

  // MARK: Writing

  /// Begins a write.
  mutating func begin() {
    (images, hasChanges) = ([:], false)
  }

  private mutating func set(_ key: Key, _ content: Content?) {
    if images[key] == nil { images[key] = .some(rows[key]) }
    hasChanges = true
    guard let content else {
      rows[key] = nil
      deletions[key] = sequence + 1
      return
    }
    rows[key] = Row(content: content, version: version(of: key.collection) ?? 1, changed: sequence + 1)
  }

  /// Performs an action; returns the code of the error if it must be refused.
  mutating func perform(_ action: Action) -> TallyError.Code? {
    switch action {
    case .save(let collection, let number, let content):
      return save(Key(collection: collection, number: number), content)
    case .insert(let collection, let records): return insert(collection, records)
    case .update(let collection, let number, let amount, let name):
      let key = Key(collection: collection, number: number)
      guard var content = content(key) else { return nil }
      (content.amount, content.name) = (amount, name)
      return save(key, content)
    case .delete(let collection, let numbers):
      for number in numbers { delete(Key(collection: collection, number: number)) }
      return nil
    case .exchange(let collection, let one, let other):
      let codes = [one, other].map { content(Key(collection: collection, number: $0))?.code }
      for (number, code) in Action.exchange(one, other, codes) {
        let key = Key(collection: collection, number: number)
        guard var content = content(key) else { continue }
        content.code = code
        if let refusal = save(key, content) { return refusal }
      }
      return nil
    }
  }

  mutating func delete(_ key: Key) {
    if rows[key] != nil { set(key, nil) }
  }

  private mutating func save(_ key: Key, _ new: Content) -> TallyError.Code? {
    if let row = rows[key] {
      if key.collection == 2 { return .unchangeableRecord }
      if row.content == new, row.version == version(of: key.collection) { return nil }
    }
    if hasTwins(key.collection, changing: [key.number: new]) { return .duplicateKey }
    set(key, new)
    return nil
  }

  private mutating func insert(_ collection: Int, _ records: [(number: Int, content: Content)]) -> TallyError.Code? {
    let numbers = records.map(\.number)
    guard Set(numbers).count == numbers.count,
      !numbers.contains(where: { rows[Key(collection: collection, number: $0)] != nil })
    else { return .duplicateID }
    let new = Dictionary(uniqueKeysWithValues: records.map { ($0.number, Content?.some($0.content)) })
    if hasTwins(collection, changing: new) { return .duplicateKey }
    for record in records { set(Key(collection: collection, number: record.number), record.content) }
    return nil
  }

  /// Puts the changes since the last entry into the history.
  mutating func record(_ kind: Entry.Kind = .change, target: Int? = nil, actionName: String? = nil, isKept: Bool = true)
  {
    guard !images.isEmpty || kind != .change else { return }
    if isKept || kind != .change {
      entries.append(
        Entry(
          sequence: sequence + 1, kind: kind, target: target, actionName: actionName, date: now,
          images: images))
    }
    (images, hasChanges) = ([:], true)
  }

  /// Ends a write that has changed something.
  mutating func commit() {
    if hasChanges { sequence += 1 }
    begin()
  }

  /// Stores the records of older versions anew; returns how many.
  mutating func upgrade() -> Int {
    begin()
    var count = 0
    for (key, row) in rows {
      guard let version = version(of: key.collection), row.version < version else { continue }
      set(key, read(row, version))
      count += 1
    }
    record(isKept: false)
    commit()
    return count
  }
}

extension EngineModel {
  // MARK: Undo

  /// Whether each entry has been reversed by one that has not been reversed in turn, newest first.
  var undone: [Bool] {
    var reversed: Set<Int> = []
    return entries.indices.reversed().map { index in
      let isUndone = reversed.contains(index)
      if !isUndone, let target = entries[index].target { reversed.insert(target) }
      return isUndone
    }
  }

  /// The places of the writes that can be undone, newest first.
  private var undoable: [Int] {
    var (undone, found): (Set<Int>, [Int]) = ([], [])
    for index in entries.indices.reversed() {
      if entries[index].kind == .undo {
        if let target = entries[index].target { undone.insert(target) }
      } else if !undone.contains(index) {
        found.append(index)
      }
    }
    return found
  }

  /// The write that an entry contains: its own or, for a redo, the one that it restored.
  func original(of index: Int) -> Int {
    guard entries[index].kind == .redo, let undo = entries[index].target, let target = entries[undo].target else {
      return index
    }
    return original(of: target)
  }

  /// Undoes the last write that has an effect; returns its place.
  mutating func undo() throws -> Int {
    for index in undoable {
      if try reverse(index, as: .undo) { return index }
    }
    throw Refusal(code: .nothingToUndo)
  }

  /// Undoes one write.
  mutating func undo(_ place: Int) throws -> Int {
    guard let index = undoable.first(where: { $0 == place || original(of: $0) == place }),
      try reverse(index, as: .undo)
    else { throw Refusal(code: .nothingToUndo) }
    return index
  }

  mutating func redo() throws -> Int {
    var redone: Set<Int> = []
    for index in entries.indices.reversed() {
      switch entries[index].kind {
      case .change: throw Refusal(code: .nothingToRedo)
      case .redo: if let target = entries[index].target { redone.insert(target) }
      case .undo:
        if redone.contains(index) { continue }
        guard try reverse(index, as: .redo) else { throw Refusal(code: .nothingToRedo) }
        return index
      }
    }
    throw Refusal(code: .nothingToRedo)
  }

  /// Restores what an entry has replaced; returns false if that is what there is.
  private mutating func reverse(_ place: Int, as kind: Entry.Kind) throws -> Bool {
    let entry = entries[place]
    if entry.images.keys.contains(where: { version(of: $0.collection) == nil }) { throw Refusal(code: .undoConflict) }
    let wanted = entry.images.filter { key, image in
      guard let image, let row = rows[key] else { return (image == nil) != (rows[key] == nil) }
      return !image.isSame(as: row)
    }
    if wanted.isEmpty { return false }
    let later = entries.indices.filter { $0 > place }
    let effective = effective(after: place)
    for index in effective where entries[index].images.keys.contains(where: { wanted[$0] != nil }) {
      throw Refusal(code: .undoConflict)
    }
    var targets: [Key: Content?] = [:]
    for (key, image) in wanted {
      let last = later.filter { entries[$0].images[key] != nil }.map { entries[$0].sequence }.max()
      let changed = rows[key]?.changed ?? deletions[key]
      let target = image.map { read($0, version(of: key.collection) ?? 1) }
      guard let changed, changed != max(last ?? 0, entry.sequence) else {
        targets[key] = .some(target)
        continue
      }
      guard merges(key.collection), let target, let current = content(key),
        let merged = RandomSchema.merge(target, current)
      else { throw Refusal(code: .undoConflict) }
      targets[key] = .some(merged)
    }
    for collection in Set(targets.keys.map(\.collection)) {
      let own = targets.filter { $0.key.collection == collection }
      let isNewKey = hasTwins(
        collection, changing: Dictionary(uniqueKeysWithValues: own.map { ($0.key.number, $0.value) }))
      if isNewKey { throw Refusal(code: .undoConflict) }
    }
    for (key, target) in targets {
      if let row = rows[key], row.content == target, row.version == version(of: key.collection) { continue }
      set(key, target)
    }
    record(kind, target: place)
    return true
  }

  private func merges(_ collection: Int) -> Bool {
    switch collection {
    case 0: schema.parcels?.merges ?? false
    case 1: schema.samples?.merges ?? false
    default: schema.happenings?.merges ?? false
    }
  }

  /// The entries after one that count: without those that were reversed, and without what has reversed them.
  private func effective(after place: Int) -> [Int] {
    var (cancelled, found): (Set<Int>, [Int]) = ([], [])
    for index in entries.indices.reversed() where index > place && !cancelled.contains(index) {
      if let target = entries[index].target, target > place {
        cancelled.insert(target)
      } else {
        found.append(index)
      }
    }
    return found
  }
}

/// A clock that stands still unless it is moved.
final class Clock: Sendable {
  private let microseconds: Mutex<Int64>

  init(_ microseconds: Int64) {
    self.microseconds = Mutex(microseconds)
  }

  var timestamp: Timestamp { Timestamp(clamping: microseconds.withLock(\.self)) }

  func advance(_ distance: Int64) {
    microseconds.withLock { $0 += distance }
  }
}

/// The place after a page of an index.
struct Place {
  let index: String
  let position: Position
  let order: [Value]
}
