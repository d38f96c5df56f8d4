import Foundation
import LMDB
import SystemPackage
import TestSupport

@testable import TallyEngine
@testable import TallyEngineTestHelper

/// One store, its model, and what has happened to both.
final class EngineHistory {
  private var generator: SeededGenerator
  private let directory: URL
  private var store: Store?
  private var model: EngineModel
  /// Whether some amounts are near the limits of 64 bits.
  private let isHuge: Bool
  private let stepCount: Int
  /// The positions of followers, each with the records that they know.
  private var followers: [(position: StorePosition, rows: [EngineModel.Key: EngineModel.Row])] = []
  /// Places in indexes, from which somebody may read on.
  private var places: [Place] = []
  private var backup: (file: URL, model: EngineModel)?
  private let clock: Clock
  private(set) var steps: [String] = []

  init(seed: UInt64) throws {
    generator = SeededGenerator(seed: seed)
    isHuge = generator.oneIn(6)
    stepCount = Int.random(in: 10...30, using: &generator)
    directory = FileManager.default.temporaryDirectory.appending(path: "tally-schemas-\(UUID().uuidString)")
    clock = Clock(Content.start + Int64.random(in: 0..<3_456_000_000_000, using: &generator))
    model = EngineModel(RandomSchema(seed: 0, versions: [1, 1, 1], uniques: [-1, -1, -1]))
  }

  deinit {
    try? store?.close()
    try? FileManager.default.removeItem(at: directory)
    if let backup { try? FileManager.default.removeItem(at: backup.file) }
  }

  private func asked(_ snapshot: StoreSnapshot) -> Asked { Asked(snapshot: snapshot, date: clock.timestamp.date) }

  /// The open store.
  private func open() throws -> Store {
    guard let store else { throw Difference("no store is open") }
    return store
  }

  func run() throws {
    try reopen()
    for _ in 0..<stepCount {
      try step()
      try compare()
    }
    try open().close()
    store = nil
  }

  private func step() throws {
    clock.advance(Int64.random(in: 0..<100_000_000_000, using: &generator))
    model.now = clock.timestamp.date
    switch Int.random(in: 0..<32, using: &generator) {
    case 0..<10: try write()
    case 10..<13: try reverse()
    case 13..<16: try contest()
    case 16: try writeWithUndo()
    case 17..<21: try reopen()
    case 21, 22: try writeElsewhere()
    case 23: try crash()
    case 24: try compact()
    case 25: try copy()
    case 26: try restore()
    case 27: try damage()
    case 28: try deleteRange()
    case 29: try upgrade()
    default: try writeAndThrow()
    }
  }

  private func note(_ step: String) {
    steps.append("\(steps.count): \(step)")
  }

  // MARK: Opening

  private var configuration: StoreConfiguration {
    var configuration = StoreConfiguration()
    configuration.durability = .relaxed
    configuration.now = { [clock] in clock.timestamp }
    return configuration
  }

  /// The version of each collection that the store has been opened with for writing.
  private var versions = [1, 1, 1]

  private func randomSchema(uniques: [Int] = [-1, -1, -1], raising: Bool = true) -> RandomSchema {
    let versions = versions.map { $0 < 3 && raising && generator.oneIn(12) ? $0 + 1 : $0 }
    return RandomSchema(
      seed: Int.random(in: 1..<1 << 40, using: &generator), versions: versions, uniques: uniques)
  }

  /// Opens the store with another schema, until one fits the records.
  private func reopen() throws {
    try store?.close()
    store = nil
    while store == nil {
      let schema = randomSchema()
      note("open with \(schema.numbers)")
      let old = model.schema
      model.schema = schema
      let isRefused = (0..<3).contains { model.hasTwins($0) }
      let isOverflowing = model.isOverflowing()
      do {
        store = try Store(at: directory, schema: schema.schema, configuration: configuration)
        if isRefused || isOverflowing { throw Difference("a schema was admitted that does not fit the records") }
        for collection in 0..<3 { versions[collection] = model.version(of: collection) ?? versions[collection] }
      } catch let error as TallyError
        where error.code == .duplicateKey && isRefused || error.code == .valueOutOfRange && isOverflowing
      {
        note("refused: \(error.code)")
        model.schema = old
      }
    }
  }

  /// Continues with a store that was closed for some work.
  private func openAgain() throws {
    store = try Store(at: directory, schema: model.schema.schema, configuration: configuration)
  }

  // MARK: Writing

  private func randomActions(startingAt first: (collection: Int, number: Int)? = nil) -> [Action] {
    let count = Int.random(in: 1...5, using: &generator)
    return Action.several(count, in: model.schema, isHuge: isHuge, startingAt: first, using: &generator)
  }

  private func write(startingAt first: (collection: Int, number: Int)? = nil) throws {
    let (actions, isUndoable) = (randomActions(startingAt: first), !generator.oneIn(4))
    let name = generator.oneIn(3) ? "Change \(steps.count)" : nil
    note("write, \(isUndoable ? "undoable" : "not undoable"): \(actions.map(\.summary))")
    let before = model
    model.begin()
    let checks = generator.oneIn(3)
    try commit(before, isUndoable: isUndoable) { writer in
      try writer.setActionName(name)
      for action in actions {
        let expected = model.perform(action)
        try Difference.check(action.perform(in: &writer), expected, "the refusal of \(action)")
        if checks, Int64(exactly: model.rows.count) != nil { try compareMembers(asked(writer.snapshot)) }
      }
      model.record(actionName: name, isKept: isUndoable)
    }
  }

  /// Runs a write of which a sum that is too large leaves nothing.
  private func commit(
    _ before: EngineModel, isUndoable: Bool = true, _ body: (inout Writer) throws -> Void
  ) throws {
    do {
      try open().writeAndWait(undoable: isUndoable, body)
      model.commit()
      if model.isOverflowing() { throw Difference("a sum of more than 64 bits was stored") }
    } catch let error as TallyError where error.code == .valueOutOfRange && model.isOverflowing() {
      note("refused: \(error.code)")
      model = before
    }
    try compareSequence()
  }

  private func compareSequence() throws {
    try Difference.check(open().read { try $0.position }.sequence, model.sequence, "the number of commits")
  }

  private func writeAndThrow() throws {
    struct Thrown: Error {}
    let actions = randomActions()
    note("write and throw")
    var copy = model
    copy.begin()
    do {
      try open().writeAndWait { writer in
        for action in actions {
          try Difference.check(action.perform(in: &writer), copy.perform(action), "the refusal of \(action)")
        }
        throw Thrown()
      }
    } catch is Thrown {}
    try compareSequence()
  }

  private func deleteRange() throws {
    let before = model
    model.begin()
    func delete<Record: Thing>(
      _ part: RandomSchema.Part<Record>?, _ collection: Int, in writer: inout Writer
    ) throws {
      let able = part?.choices.filter { $0.deleteRange != nil } ?? []
      guard let choice = able.randomElement(using: &generator) else { return }
      note("delete a range of \(Record.collectionName).\(choice.name)")
      let records = model.records(Record.self, collection)
      for number in try choice.deleteRange?(&writer, records, &generator) ?? [] {
        model.delete(EngineModel.Key(collection: collection, number: number))
      }
    }
    try commit(before) { writer in
      switch Int.random(in: 0..<3, using: &generator) {
      case 0: try delete(model.schema.parcels, 0, in: &writer)
      case 1: try delete(model.schema.samples, 1, in: &writer)
      default: try delete(model.schema.happenings, 2, in: &writer)
      }
      model.record()
    }
  }

  private func upgrade() throws {
    note("upgrade the records")
    let before = model
    let expected = model.upgrade()
    try Difference.check(open().upgradeRecords(), expected, "the number of upgraded records")
    if expected == 0 { model = before }
    try compareSequence()
  }

  // MARK: Undo

  /// Changes one record several times, and undoes one of the writes.
  private func contest() throws {
    let present = (0..<3).filter { model.version(of: $0) != nil }
    let place = (present.randomElement(using: &generator) ?? 0, Int.random(in: 0..<5, using: &generator))
    for _ in 0..<Int.random(in: 2...3, using: &generator) {
      try write(startingAt: place)
      try compare()
    }
    try reverse()
  }

  private func reverse() throws {
    let before = model
    model.begin()
    let kind = Int.random(in: 0..<6, using: &generator)
    let place = model.entries.indices.suffix(generator.oneIn(2) ? 5 : .max).randomElement(using: &generator)
    note(kind > 3 ? "undo the write \(place ?? -1)" : kind == 3 ? "redo" : "undo")
    try commit(before) { writer in
      try Self.reverse(kind, place, &model, &writer)
    }
    if model.entries.count == before.entries.count { note("nothing was reversed") }
  }

  private static func reverse(
    _ kind: Int, _ place: Int?, _ model: inout EngineModel, _ writer: inout Writer
  ) throws {
    let copy = model
    var (expected, refusal): (Int?, TallyError.Code?) = (nil, nil)
    do {
      if kind > 3, let place {
        expected = try model.undo(place)
      } else if kind == 3 {
        expected = try model.redo()
      } else {
        expected = try model.undo()
      }
    } catch let error as EngineModel.Refusal {
      (model, refusal) = (copy, error.code)
    }
    do {
      let found: Reversal
      if kind > 3, let id = place.flatMap({ model.entries[$0].id }) {
        found = try writer.undo(id)
      } else if kind == 3 {
        found = try writer.redo()
      } else {
        found = try writer.undo()
      }
      if let refusal { throw Difference("a reversal of \(found) was not refused as \(refusal)") }
      if let id = expected.flatMap({ model.entries[$0].id }) {
        try Difference.check(found.change, id, "what was reversed")
      }
    } catch let error as TallyError {
      try Difference.check(error.code, refusal, "the refusal of a reversal (\(error.message))")
    }
  }

  /// Changes something and undoes it, or something else, within one write.
  private func writeWithUndo() throws {
    let (before, actions) = (model, randomActions())
    model.begin()
    note("write and undo at once: \(actions.map(\.summary))")
    let kinds = [Int.random(in: 0..<4, using: &generator), Int.random(in: 0..<4, using: &generator)]
    try commit(before) { writer in
      for kind in kinds {
        for action in actions.prefix(2) {
          try Difference.check(action.perform(in: &writer), model.perform(action), "the refusal of \(action)")
        }
        model.record()
        try Self.reverse(kind, nil, &model, &writer)
      }
    }
  }

  // MARK: Other processes

  /// The versions of the unique indexes that this schema has.
  private var uniques: [Int] {
    let schema = model.schema
    return [schema.parcels?.unique?.version, schema.samples?.unique?.version, schema.happenings?.unique?.version]
      .map { $0 ?? 0 }
  }

  private func helper(_ count: Int) throws -> (HelperProcess, RandomSchema, seed: Int) {
    let schema = randomSchema(uniques: uniques, raising: false)
    let seed = Int.random(in: 1..<1 << 30, using: &generator)
    note("another process writes \(count) times with \(schema.numbers), \(seed)")
    let path = FilePath(directory.path(percentEncoded: false))
    return (
      try HelperProcess(
        "TallyEngineTestHelper", "write", path, schema.numbers + [seed, isHuge ? 1 : 0, count]), schema, seed
    )
  }

  /// Repeats in the model what another process has written, up to a commit.
  private func repeatWrites(_ count: Int, _ schema: RandomSchema, _ seed: Int, upTo sequence: UInt64?) {
    let own = (model.schema, model.now)
    (model.schema, model.now) = (schema, Timestamp(clamping: Content.start).date)
    for number in 0..<count where model.sequence != sequence {
      let write = LonelyWrite(number, seed: seed, in: schema, isHuge: isHuge)
      let before = model
      model.begin()
      for action in write.actions { _ = model.perform(action) }
      model.record(isKept: write.isUndoable)
      model.commit()
      if model.isOverflowing() { model = before }
    }
    (model.schema, model.now) = own
  }

  /// Another process with another schema writes while this one has the store open.
  private func writeElsewhere() throws {
    let count = Int.random(in: 1...6, using: &generator)
    let (process, schema, seed) = try helper(count)
    let lines = process.lines()
    let own = model.schema
    model.schema = schema
    let isRefused = (0..<3).contains { model.hasTwins($0) } || model.isOverflowing()
    model.schema = own
    if isRefused { return note("refused: \(lines)") }
    try Difference.check(lines, ["open"] + (0..<count).map { "\($0)" }, "what another process says")
    repeatWrites(count, schema, seed, upTo: nil)
    try compareSequence()
    try letGoOfWhatDoesNotFit()
  }

  /// Another process may have stored what the members of this schema do not admit.
  private func letGoOfWhatDoesNotFit() throws {
    if model.isOverflowing() || (0..<3).contains(where: { model.hasTwins($0) }) { try reopen() }
  }

  /// Another process is killed in the middle of its writes.
  private func crash() throws {
    let (process, schema, seed) = try helper(100_000)
    if process.line() != "open" {
      // A unique index, or a sum, that the records do not fit.
      return note("refused: \(process.lines())")
    }
    let count = Int.random(in: 1...12, using: &generator)
    for number in 0..<count { try Difference.check(process.line(), "\(number)", "what another process says") }
    process.kill()
    // If it died right after a commit, the next write makes that commit known.
    try open().writeAndWait { _ in }
    let sequence = try open().read { try $0.position }.sequence
    let start = model
    repeatWrites(count, schema, seed, upTo: nil)
    if sequence < model.sequence { throw Difference("\(model.sequence - sequence) acknowledged writes are lost") }
    model = start
    repeatWrites(count + 10_000, schema, seed, upTo: sequence)
    try Difference.check(sequence, model.sequence, "the number of commits")
    note("killed after the commit \(sequence)")
    try letGoOfWhatDoesNotFit()
  }

  // MARK: Upkeep

  private func close() throws {
    try open().close()
    store = nil
  }

  private func compact() throws {
    note("compact")
    try close()
    try Store.compact(at: directory, schema: model.schema.schema, configuration: configuration)
    try openAgain()
  }

  private func copy() throws {
    note("back up")
    let file = URL(filePath: directory.path(percentEncoded: false) + ".backup")
    let found = try open().backup(to: file)
    let known = model.rows.keys.filter { model.version(of: $0.collection) != nil }
    try Difference.check(found.recordCount, known.count, "the number of records in a backup")
    backup = (file, model)
  }

  private func restore() throws {
    guard let backup else { return try write() }
    note("restore")
    try close()
    try Store.restore(from: backup.file, to: directory, schema: model.schema.schema, configuration: configuration)
    let own = (model.schema, model.now)
    model = backup.model
    (model.schema, model.now) = own
    try reopen()
    let position = try open().read { try $0.position }
    model.sequence = position.sequence
    for follower in followers {
      let isComplete = try open().read { try $0.changes(since: follower.position) }.isComplete
      if isComplete { throw Difference("changes since a position before a restored backup count as complete") }
    }
    followers = []
  }

  /// Removes rows that follow from the records, and repairs the store.
  private func damage() throws {
    let schema = model.schema
    func names<Record: Thing>(_ part: RandomSchema.Part<Record>?) -> [String] {
      guard let part else { return [] }
      let indexes = part.choices.filter { $0.pages != nil }.map { "@\(Record.collectionName).\($0.name)" }
      return indexes + ["@\(Record.collectionName)."]
    }
    // A repair knows nothing of the changes of a collection that its schema lacks.
    let isComplete = (0..<3).allSatisfy { model.version(of: $0) != nil }
    let all = names(schema.parcels) + names(schema.samples) + names(schema.happenings) + (isComplete ? ["changes"] : [])
    guard let name = all.randomElement(using: &generator) else { return }
    note("damage \(name), and repair")
    try close()
    // Opening builds what another program has left behind.
    try openAgain()
    let numbers = try numbersOfMeasures()
    try close()
    try removeRows(of: name) { !name.hasSuffix(".") || numbers.contains(Array($0.prefix(2))) }
    let report = try Store.repair(at: directory, schema: schema.schema, configuration: configuration)
    try Difference.check(report.after.isSound, true, "a store after its repair (\(report.after.faults))")
    try openAgain()
    model.sequence = try open().read { try $0.position }.sequence
    followers = []
  }

  /// The numbers of the measures of this schema, as keys of their rows begin with them.
  private func numbersOfMeasures() throws -> Set<[UInt8]> {
    try open().read { reader in
      let entries = try reader.snapshot.tables.catalogue.entries(.measure, in: reader.snapshot.view)
      let names = ownMeasures
      let own = entries.filter { names.contains($0.key) && !$0.value.isStale }
      return Set(own.values.map { [UInt8($0.number >> 8), UInt8($0.number & 255)] })
    }
  }

  /// The collections and names of the measures of this schema.
  private var ownMeasures: Set<String> {
    func names<Record: Thing>(_ part: RandomSchema.Part<Record>?) -> [String] {
      part?.choices.filter { $0.pages == nil }.map { "\(Record.collectionName)/\($0.name)" } ?? []
    }
    return Set(names(model.schema.parcels) + names(model.schema.samples) + names(model.schema.happenings))
  }

  /// Removes a third of the rows of a table, unless this program has none of them: then no repair would notice.
  private func removeRows(of name: String, _ isOwn: ([UInt8]) -> Bool) throws {
    var options = LMDBEnvironment.Options()
    options.maxDatabases = 64
    let environment = try LMDBEnvironment(path: FilePath(directory.path(percentEncoded: false)), options: options)
    defer { try? environment.close() }
    try environment.write { transaction in
      let table = try Database<[UInt8], [UInt8]>(opening: name, creating: false, in: &transaction)
      var keys: [[UInt8]] = []
      try table.forEach(in: transaction) { key, _ in
        if generator.oneIn(3) { keys.append(key.bytes(from: 0)) }
        return true
      }
      guard keys.contains(where: isOwn) else { return }
      for key in keys { try table.remove(forKey: key, in: &transaction) }
    }
  }

  // MARK: Comparing

  private func compare() throws {
    let report = try open().verify()
    try Difference.check(report.faults, [], "the faults")
    try open().read { reader in
      let asked = asked(reader.snapshot)
      try compareMembers(asked)
      try compareHistory(asked)
      try compareChanges(asked)
    }
  }

  private func compareMembers(_ asked: Asked) throws {
    try compare(asked, model.schema.parcels, 0)
    try compare(asked, model.schema.samples, 1)
    try compare(asked, model.schema.happenings, 2)
  }

  private func compare<Record: Thing>(
    _ asked: Asked, _ part: RandomSchema.Part<Record>?, _ collection: Int
  ) throws {
    let records = model.records(Record.self, collection)
    guard let part else {
      do {
        _ = try asked.count(Record.self)
      } catch let error as TallyError where error.code == .invalidIndex { return }
      throw Difference("a collection was read that the schema does not have")
    }
    let sorted = records.sorted { Record.order(of: $0.number).precedes(Record.order(of: $1.number)) }
    var found: [Record] = []
    try asked.forEach(Record.self) { record in
      found.append(record)
      return true
    }
    try Difference.check(found, sorted, "the records of \(Record.collectionName)")
    try Difference.check(asked.count(Record.self), records.count, "the number of records")
    let number = Action.numbers.randomElement(using: &generator) ?? 0
    let one = records.first { $0.number == number }
    try Difference.check(asked.record(Record.self, Record.id(of: number)), one, "the record \(number)")
    try Difference.check(asked.contains(Record.self, Record.id(of: number)), one != nil, "whether \(number) is there")
    for choice in part.choices {
      do {
        try choice.check(asked, records, &generator)
      } catch {
        throw Difference("\(Record.collectionName), version \(choice.version) of \(choice.name): \(error)")
      }
    }
    if let choice = part.choices.randomElement(using: &generator) { try readOn(asked, choice, records) }
  }

  /// Reads on from an earlier place in an index, and remembers a new one.
  private func readOn<Record: Thing>(_ asked: Asked, _ choice: Choice<Record>, _ records: [Record]) throws {
    guard let pages = choice.pages else { return }
    let all = pages.entries(records)
    let name = "\(Record.collectionName), version \(choice.version) of \(choice.name)"
    for place in places where place.index == name {
      let rest = all.filter { place.order.precede($0.order) }
      let page = try pages.read(asked, place.position, 3)
      try Difference.check(page.records, rest.prefix(3).map(\.record), "\(name), after an earlier page")
    }
    let count = Int.random(in: 1...5, using: &generator)
    guard all.count > count, let position = try pages.read(asked, nil, count).next else { return }
    places.append(Place(index: name, position: position, order: all[count - 1].order))
  }

  private func compareHistory(_ asked: Asked) throws {
    let found = try asked.history()
    let (entries, undone) = (Array(model.entries.reversed()), model.undone)
    try Difference.check(found.map(\.actionName), entries.map(\.actionName), "the names in the history")
    try Difference.check(found.map(\.isReversal), entries.map { $0.kind != .change }, "the kinds in the history")
    try Difference.check(found.map(\.isUndone), undone, "what is undone")
    try Difference.check(found.map(\.date), entries.map(\.date), "the times in the history")
    for (item, index) in zip(found, model.entries.indices.reversed()) {
      if let known = model.entries[index].id { try Difference.check(item.id, known, "an id in the history") }
      model.entries[index].id = item.id
    }
  }

  private func compareChanges(_ asked: Asked) throws {
    let present = [model.schema.parcels != nil, model.schema.samples != nil, model.schema.happenings != nil]
    if let follower = followers.randomElement(using: &generator) {
      let changes = try asked.changes(since: follower.position)
      try Difference.check(changes.isComplete, true, "whether the changes are complete")
      if present[0] { try compare(changes, Parcel.self, 0, follower.rows) }
      if present[1] { try compare(changes, Sample.self, 1, follower.rows) }
      if present[2] { try compare(changes, Happening.self, 2, follower.rows) }
    }
    if generator.oneIn(3) { followers.append((try asked.position, model.rows)) }
  }

  private func compare<Record: Thing>(
    _ changes: RecordChanges, _ type: Record.Type, _ collection: Int, _ old: [EngineModel.Key: EngineModel.Row]
  ) throws {
    let found = try changes.changes(of: type)
    for number in Action.numbers {
      let (key, id) = (EngineModel.Key(collection: collection, number: number), Record.id(of: number))
      let (before, now) = (old[key], model.rows[key])
      let said = [found.inserted.contains(id), found.updated.contains(id), found.deleted.contains(id)]
      let isRight: Bool
      switch (before, now) {
      case (nil, nil): isRight = !said[0] && !said[1]
      case (nil, _): isRight = said == [true, false, false]
      // Whoever knows only the record that was deleted long ago is told, too.
      case (_, nil): isRight = said == [false, false, true]
      case (let before?, let now?):
        let isChanged = before.changed != now.changed
        isRight = isChanged ? (said[0] != said[1]) && !said[2] : said == [false, false, false]
      }
      if !isRight {
        throw Difference(
          "the changes of \(Record.collectionName) \(number): are \(said), from \(String(describing: before)) to "
            + "\(String(describing: now))")
      }
    }
  }
}
