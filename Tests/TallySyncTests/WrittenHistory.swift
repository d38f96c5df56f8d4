import Foundation
import SystemPackage
import Tally
import TallySyncConformance
import TallyTestSupport
import TestSupport
import Testing

@testable import TallySync

/// A random history on several devices, which notes every value that a person writes, and what became of it.
///
/// Every value is written once: a title, a note, an attribute, a day, a list's name, a filter's tag.
final class WrittenHistory {
  /// The place of a value: a field of an object.
  struct Place: Hashable {
    let object: String
    let field: String
  }

  /// A value that a person has written.
  struct Write {
    let device: Int
    let place: Place
    /// The value; empty for one that was removed.
    let value: String
    /// The writes with which people have replaced it where they saw it.
    var replacers: [Int] = []
    /// Whether it was undone before it was handed over.
    var isTakenBack = false
    /// Whether it was handed over.
    var isSent = false
    /// Whether it was handed over through the place, and not only by a file for one device.
    var isInPlace = false
  }

  /// What a device shows.
  typealias Values = [Place: String]

  let directory: FilePath
  let place = MemoryPlace()
  private(set) var stores: [TaskStore] = []
  private var clocks: [TestClock] = []
  private(set) var writes: [Write] = []
  /// A trace of the actions, for people.
  private(set) var trace: [String] = []
  /// For each device, the number of writes before it last purged completions, which also ends its history.
  private(set) var purgedWrites: [Int: Int] = [:]
  /// The objects that an import has changed: two devices have written the same value, and a third may have seen only one write.
  private(set) var importedObjects: Set<String> = []
  /// Whether devices also exchange files and snapshots, which do not say what their writes have replaced.
  let hasSnapshots: Bool
  /// The writes of others that each device has received.
  private var seen: [Int: Set<Int>] = [:]
  private var number = 0
  var random: SeededGenerator

  init(in directory: FilePath, seed: UInt64) {
    (self.directory, random) = (directory, SeededGenerator(seed: seed))
    hasSnapshots = random.oneIn(2)
  }

  /// Adds a device, which joins the space; its clock may be wrong.
  func addDevice() async throws {
    let century: Int64 = 3_155_760_000
    let skews: [Int64] = [0, 0, 0, 3_600, -3_600, century, -century]
    let skew = skews.randomElement(using: &random) ?? 0
    let clock = TestClock(TestClock.noon.now.adding(seconds: skew))
    let store = try TaskStore(
      at: directory.appending("store-\(stores.count)"), configuration: .testing(clock: clock))
    let folder = directory.appending("folder")
    if stores.isEmpty {
      try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
      _ = try await StoreSync(store).setUp(in: folder, deviceName: "device 0")
    } else {
      let text = try await StoreSync(stores[0]).invite(for: .seconds(100 * 365 * 86_400 * 3))
      try await StoreSync(store).join(text, in: folder, deviceName: "device \(stores.count)")
    }
    stores.append(store)
    clocks.append(clock)
  }

  func close() throws { for store in stores { try store.close() } }

  /// What a device shows.
  func values(of device: Int) throws -> Values {
    var values: Values = [:]
    try stores[device].read { transaction in
      for task in try transaction.view(.all).tasks { values.merge(Self.values(of: task)) { $1 } }
      for list in try transaction.lists() { values[Place(object: "\(list.id)", field: "name")] = list.name }
      for filter in try transaction.savedFilters() {
        values[Place(object: filter.name, field: "filter")] = String(filter.text.drop { $0 != "v" })
      }
    }
    return values
  }

  static func values(of task: TaskItem) -> Values {
    let id = "\(task.id)"
    var values = [Place(object: id, field: "title"): task.title]
    values[Place(object: id, field: "notes")] = task.notes
    values[Place(object: id, field: "due")] = task.dueDay.map { "\($0)" }
    values[Place(object: id, field: "attribute")] = task.attributes["a"]?.text
    return values
  }

  private func next() -> Int {
    number += 1
    return number
  }

  private func newValue() -> String { "v\(1_000_000 + next())" }

  // MARK: - Writing

  /// The reasons for which a store may refuse an action.
  private static let expectedRefusals: [TallyError.Code] = [
    .taskNotFound, .listNotFound, .filterNotFound, .invalidParent, .nothingToUndo, .nothingToRedo, .undoConflict,
    .differentPlaces, .inconsistentTask, .invalidDependency,
  ]

  /// Does something on one device; an action that the store refuses for an expected reason has no effect.
  func act() async throws {
    let device = Int.random(in: stores.indices, using: &random)
    if !random.oneIn(3) {
      clocks[device].now = clocks[device].now.adding(seconds: Int64.random(in: 0...200, using: &random))
    }
    let before = try values(of: device)
    let kind = Int.random(in: 0..<36, using: &random)
    defer { if let after = try? values(of: device) { log(kind, device, before, after) } }
    do {
      switch kind {
      case 0..<4: try create(on: device)
      case 4..<14: try edit(on: device)
      case 14, 15: try silently { try $0.delete($1) }(device)
      case 16..<19: try await restore(on: device)
      case 19..<22: try reverse(on: device) { _ = try $0.undo() }
      case 22: try reverse(on: device) { _ = try $0.redo() }
      case 23..<26: try complete(on: device)
      case 26: try silently { _ = try $0.reopen($1) }(device)
      case 27: try silently { id, task in _ = try id.update(task) { $0.tags = ["t"] } }(device)
      case 28: try place(on: device)
      case 29: try deleteList(on: device)
      case 30: try changeFilter(on: device)
      case 31: try exchangeDocument(to: device)
      case 34, 35: try depend(on: device)
      case 32: if hasSnapshots { try await exchangeFile(to: device) }
      default: try purge(on: device)
      }
    } catch let error as TallyError where Self.expectedRefusals.contains(error.code) {}
  }

  private func log(_ kind: Int, _ device: Int, _ before: Values, _ after: Values) {
    let changes = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
    let texts = changes.map {
      "\($0.object.prefix(4))\($0.object.suffix(4)).\($0.field): \(before[$0] ?? "-") > \(after[$0] ?? "-")"
    }
    trace.append("\(device) does \(kind) at \(clocks[device].now) \(texts.sorted().joined(separator: ", "))")
  }

  private func anyTask(of device: Int) throws -> TaskItem? {
    try stores[device].read { try $0.view(.all).tasks }.sorted { $0.id.uuidString < $1.id.uuidString }
      .randomElement(using: &random)
  }

  private func anyList(of device: Int) throws -> TaskList? {
    try stores[device].read { try $0.lists() }.randomElement(using: &random)
  }

  /// A write without a value to track.
  private func silently(
    _ body: @escaping (inout StoreWriteTransaction, UUID) throws -> Void
  ) -> (Int) throws -> Void {
    { device in
      guard let task = try self.anyTask(of: device) else { return }
      try self.stores[device].writeAndWait { try body(&$0, task.id) }
    }
  }

  /// Completes a task; the next one of its series, if a person has deleted it, is made again with the values of the series.
  ///
  /// That also replaces what this device has received of a task that it never showed.
  private func complete(on device: Int) throws {
    let before = try values(of: device)
    var kept: Values = [:]
    for index in (seen[device] ?? []).sorted() where !isShown(writes[index].place.object, in: before) {
      if !writes[index].isTakenBack { kept[writes[index].place] = writes[index].value }
    }
    for case .task(let task) in try stores[device].writeAndWait({ try $0.deletedObjects() }) {
      // Where this device knows of no write, the program replaces what it made itself.
      let known = writes.indices.filter { writes[$0].device == device || seen[device]?.contains($0) == true }
      kept.merge(Self.values(of: task).filter { (place, _) in known.contains { writes[$0].place == place } }) { $1 }
    }
    try silently { _ = try $0.complete($1) }(device)
    let after = try values(of: device)
    for (place, value) in kept where isShown(place.object, in: after) && after[place] != value {
      note(device, place, after[place] ?? "", before: kept)
    }
  }

  private func create(on device: Int) throws {
    if random.oneIn(4) {
      let (id, name) = (random.uuid(), newValue())
      try stores[device].writeAndWait { _ = try $0.addList(name: name, id: id) }
      return note(device, Place(object: "\(id)", field: "name"), name, before: [:])
    }
    let (list, parent) = (try anyList(of: device), try anyTask(of: device))
    let (id, title, hasNotes, isBelow, repeats) = (
      random.uuid(), newValue(), random.oneIn(3), random.oneIn(4), random.oneIn(3)
    )
    let notes = hasNotes ? newValue() : nil
    try stores[device].writeAndWait { transaction in
      _ = try transaction.add(title, to: .inbox, id: id) { task in
        task.notes = notes
        task.listID = list?.id
        if isBelow { task.parentID = parent?.id }
        if repeats { task.recurrence = try Recurrence(phrase: "every day") }
      }
    }
    note(device, Place(object: "\(id)", field: "title"), title, before: [:])
    if let notes { note(device, Place(object: "\(id)", field: "notes"), notes, before: [:]) }
  }

  private func edit(on device: Int) throws {
    let before = try values(of: device)
    if random.oneIn(6), let list = try anyList(of: device) {
      let name = newValue()
      try stores[device].writeAndWait { _ = try $0.renameList(list.id, to: name) }
      return note(device, Place(object: "\(list.id)", field: "name"), name, before: before)
    }
    guard let task = try anyTask(of: device) else { return }
    let (field, value) = (["title", "notes", "due", "attribute"].randomElement(using: &random) ?? "title", newValue())
    let day = CalendarDay(clamping: 20_000 + Int64(next()))
    try stores[device].writeAndWait { transaction in
      _ = try transaction.update(task.id) { task in
        switch field {
        case "title": task.title = value
        case "notes": task.notes = value
        case "due": (task.dueDate, task.dueDay) = (nil, day)
        default: task.attributes["a"] = .text(value)
        }
      }
    }
    note(device, Place(object: "\(task.id)", field: field), field == "due" ? "\(day)" : value, before: before)
  }

  /// Lets a task wait for another one, or for none; devices may make a cycle together.
  private func depend(on device: Int) throws {
    guard let other = try anyTask(of: device) else { return }
    let isAdded = !random.oneIn(3)
    try silently { transaction, id in
      _ = try transaction.update(id) { if isAdded { $0.dependsOn.insert(other.id) } else { $0.dependsOn = [] } }
    }(device)
  }

  private func place(on device: Int) throws {
    guard let task = try anyTask(of: device) else { return }
    let (list, other, kind) = (try anyList(of: device), try anyTask(of: device), Int.random(in: 0..<3, using: &random))
    try stores[device].writeAndWait { transaction in
      switch kind {
      case 0: _ = try transaction.move(task.id, toList: list?.id)
      case 1: if let other { _ = try transaction.move(task.id, before: other.id) }
      default: _ = try transaction.update(task.id) { $0.parentID = other?.id }
      }
    }
  }

  private func purge(on device: Int) throws {
    guard random.oneIn(3) else { return }
    try stores[device].writeAndWait { _ = try $0.purgeCompletions(before: .latest) }
    purgedWrites[device] = writes.count
  }

  private func deleteList(on device: Int) throws {
    guard random.oneIn(2), let list = try anyList(of: device) else { return }
    try stores[device].writeAndWait { _ = try $0.deleteList(list.id) }
  }

  private func changeFilter(on device: Int) throws {
    let (before, name) = (try values(of: device), ["one", "two"].randomElement(using: &random) ?? "one")
    let place = Place(object: name, field: "filter")
    if before[place] != nil, random.oneIn(3) {
      try stores[device].writeAndWait { try $0.deleteFilter(named: name) }
      return note(device, place, "", before: before)
    }
    let value = newValue()
    try stores[device].writeAndWait { _ = try $0.saveFilter(TaskFilter(text: "tag:\(value)"), as: name) }
    note(device, place, value, before: before)
  }

  private func restore(on device: Int) async throws {
    let trash = try await StoreSync(stores[device]).trash()
    let count = Int.random(in: 1...3, using: &random)
    try await StoreSync(stores[device]).restore(Array(trash.map(\.id).shuffled(using: &random).prefix(count)))
  }

  /// Undoes or redoes.
  ///
  /// A write that was not handed over then counts as never written; otherwise the old value is written again.
  private func reverse(on device: Int, _ body: (inout StoreWriteTransaction) throws -> Void) throws {
    let before = try values(of: device)
    try stores[device].writeAndWait { try body(&$0) }
    let after = try values(of: device)
    for place in Set(before.keys).union(after.keys) where before[place] != after[place] {
      // An object that comes or goes keeps what was written to it.
      guard place.field == "filter" || isShown(place.object, in: after) && isShown(place.object, in: before) else {
        continue
      }
      if let shown = shownWrite(at: place, before[place] ?? "", on: device), writes[shown].device == device,
        !writes[shown].isSent
      {
        writes[shown].isTakenBack = true
        let replaced = writes.indices.filter { writes[$0].replacers.contains(shown) }
        let value = after[place] ?? ""
        let isBack = replaced.isEmpty || replaced.contains { writes[$0].value == value }
        if value.isEmpty, isBack { continue }
        // A value that nobody has written there is what the program made: it stays the program's.
        let isMade = !writes.contains { $0.place == place && $0.value == value }
        if isBack, isMade || shownWrite(at: place, value, on: device) != nil { continue }
        // A second undo goes on to an older value than the one that the first undo has replaced.
        for index in replaced { writes[index].replacers.append(writes.count) }
      }
      note(device, place, after[place] ?? "", before: before)
    }
  }

  private func isShown(_ object: String, in values: Values) -> Bool {
    values[Place(object: object, field: "title")] != nil || values[Place(object: object, field: "name")] != nil
  }

  /// The write of a value that a device shows; its own, if another device has written the same.
  private func shownWrite(at place: Place, _ value: String, on device: Int) -> Int? {
    let found = writes.indices.filter {
      writes[$0].place == place && writes[$0].value == value && !writes[$0].isTakenBack
    }
    return found.last { writes[$0].device == device } ?? found.last
  }

  /// Notes that a person has written a value in place of the one that was shown.
  private func note(_ device: Int, _ place: Place, _ value: String, before: Values) {
    let old = before[place]
    writes.append(Write(device: device, place: place, value: value))
    // An undo writes an old value again: whoever has not received it replaces the first write of that value alone.
    let shown = writes.indices.dropLast().filter { writes[$0].place == place && writes[$0].value == old }
    let known = shown.filter { writes[$0].device == device || seen[device]?.contains($0) == true }
    for index in known.isEmpty ? shown : known { writes[index].replacers.append(writes.count - 1) }
  }

  // MARK: - Exchanging

  /// Exchanges through the place, sometimes with a snapshot.
  func synchronize(_ device: Int) async throws {
    if hasSnapshots, random.oneIn(12) {
      try await stores[device].write { try $0.changeSyncSettings { $0.needsSnapshot = true } }
    }
    let before = try values(of: device)
    try await StoreSync(stores[device]).synchronize(through: MemoryTransport(place))
    log(-1, device, before, try values(of: device))
    noteSent(by: device)
    for index in writes.indices where writes[index].device == device { writes[index].isInPlace = true }
    seen[device, default: []].formUnion(writes.indices.filter { writes[$0].isInPlace })
  }

  private func noteSent(by device: Int) {
    for index in writes.indices where writes[index].device == device { writes[index].isSent = true }
  }

  /// Imports an export of another device.
  private func exchangeDocument(to device: Int) throws {
    let file = directory.appending("export.json")
    let other = Int.random(in: stores.indices, using: &random)
    _ = try stores[other].export(to: file)
    if random.oneIn(2) { try edit(on: other) }
    let before = try values(of: device)
    _ = try stores[device].importDocument(from: file)
    let after = try values(of: device)
    for place in Set(before.keys).union(after.keys) where before[place] != after[place] {
      let value = after[place] ?? ""
      importedObjects.insert(place.object)
      if place.field != "filter", !isShown(place.object, in: before) {
        // A value that comes back unchanged is not a new write.
        if shownWrite(at: place, value, on: device) == nil { continue }
      }
      note(device, place, value, before: before)
    }
  }

  /// Brings a file of another device.
  private func exchangeFile(to device: Int) async throws {
    let (file, other) = (directory.appending("file.tally"), Int.random(in: stores.indices, using: &random))
    guard other != device else { return }
    _ = try await StoreSync(stores[other]).writeDifference(to: file)
    noteSent(by: other)
    _ = try await StoreSync(stores[device]).apply(file)
    noteSent(by: device)
    seen[device, default: []].formUnion(seen[other] ?? [])
    seen[device, default: []].formUnion(writes.indices.filter { writes[$0].device == other })
  }

  /// Exchanges until all devices have everything.
  func synchronizeAll() async throws {
    for _ in 0..<3 { for device in stores.indices { try await synchronize(device) } }
  }
}
