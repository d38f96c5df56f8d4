import Foundation
import Tally
import TallySystem

extension ObjectState {
  /// The task that the state describes; `nil` if it is deleted, or its creation has not arrived.
  ///
  /// - Parameters:
  ///   - id: The task's id.
  ///   - place: The place in which it is shown.
  /// - Returns: The task.
  /// - Throws: ``CodingFault`` for a value that no task has.
  func task(_ id: UUID, at place: Outline.Place) throws -> TaskItem? {
    guard isShown else { return nil }
    let task = try recordedTask(id, at: place)
    try CodingFault.replacing { try task.validate() }
    return task
  }

  /// The task in the list that it names, at the top, as one that was not there; `nil` as above.
  ///
  /// - Throws: ``CodingFault``, also for a completion that no replica writes.
  func mergedTask(_ id: UUID) throws -> MergedTask? {
    try requireCompletions()
    guard let task = try task(id, at: Outline.Place(list: reference(.list))) else { return nil }
    return MergedTask(id: id, item: task, completions: storedCompletions, replacing: StoredCompletions(current: nil))
  }

  /// The series that the state describes; `nil` if it has ended, or its creation has not arrived.
  func series(_ id: UUID) throws -> TaskSeries? {
    guard isShown else { return nil }
    let template = try recordedTask(id, at: Outline.Place(list: reference(.list)))
    let days = try (sets[.skippedDays] ?? [:]).lazy.filter(\.value.isPresent).compactMap {
      try FieldValue(.day, storedBytes: $0.key).day
    }
    let zone = registers[.timeZone]?.value ?? []
    return TaskSeries(
      template: template, timeZoneIdentifier: zone.isEmpty ? nil : String(decoding: zone, as: UTF8.self),
      skippedDays: days.sorted())
  }

  /// The deleted task as its state describes it, with the list and the parent that it names.
  ///
  /// `nil` if the task is not deleted, or its values are forgotten.
  func deletedTask(_ id: UUID) -> TaskItem? {
    let place = Outline.Place(list: reference(.list), parent: reference(.parent))
    guard isDeleted, hasValues, let task = try? recordedTask(id, at: place) else { return nil }
    return (try? task.validate()).map { task }
  }

  /// The deleted list as its state describes it; `nil` if it is not deleted, or its values are forgotten.
  func deletedList(_ id: UUID) -> TaskList? { isDeleted && hasValues ? try? recordedList(id) : nil }

  private func recordedTask(_ id: UUID, at place: Outline.Place) throws -> TaskItem {
    var task = TaskItem(id: id, title: "", createdAt: .earliest)
    task.listID = place.list
    if place.parent != nil { task.parentID = place.parent }
    let attributes = shownAttributes
    let rule = fieldOfRecurrence
    for (field, register) in registers where !field.isAttribute || attributes.contains(field) {
      guard field != .floating, field != .recurrence && field != .rule || field == rule else { continue }
      if field != .list, field != .parent { try CodingFault.replacing { try task.set(field, to: register.value) } }
    }
    // Most tasks have no tags, and setting none takes time, too.
    let tags = shownTags
    if !tags.isEmpty { task.tags = TagSet(tags.map { String(decoding: $0, as: UTF8.self) }) }
    let dependencies = shownDependencies(of: id)
    if !dependencies.isEmpty { task.dependsOn = dependencies }
    let reminders = shownReminders(besides: task.reminderDate)
    if !reminders.isEmpty { task.otherReminders = reminders }
    task.completedAt = try storedCompletions.current?.moment()
    // A completion stands beside a cancellation of another device.
    if completion != nil { task.cancelledAt = nil }
    let open: TaskState = registers[.progress]?.value == [1] ? .active : .notStarted
    task.state = completion != nil ? .completed : task.cancelledAt != nil ? .cancelled : open
    // Last: each counts beside the value for which it stands.
    if let times = registers[.floating]?.value { try CodingFault.replacing { try task.set(.floating, to: times) } }
    task.updatedAt = lastChange
    return task
  }

  /// The register that says how the task repeats: the later one of two.
  ///
  /// A replica of the first version of the program reads and writes only ``Field/recurrence``. This version empties that
  /// one when it writes a rule to ``Field/rule`` that the other cannot read, and the other way round, at the same time.
  /// So a rule that is set by an older version later wins, as does any later write, and one that is set earlier loses.
  private var fieldOfRecurrence: Field {
    guard let new = registers[.rule] else { return .recurrence }
    guard let old = registers[.recurrence] else { return .rule }
    return new.time == old.time && new.replica == old.replica
      ? new.value.isEmpty ? .recurrence : .rule
      : new.wins(over: old) ? .rule : .recurrence
  }

  /// The series of the task that the state describes; `nil` if the task does not repeat.
  var seriesID: UUID? {
    guard registers[.recurrence] != nil || registers[.rule] != nil, let value = registers[fieldOfRecurrence]?.value,
      !value.isEmpty
    else { return nil }
    var task = TaskItem(id: .lowest, title: "", createdAt: .earliest)
    try? task.set(.recurrence, to: value)
    return task.series?.id
  }

  /// The list that the state describes; `nil` if it is deleted, or its creation has not arrived.
  func list(_ id: UUID) throws -> TaskList? { isShown ? try recordedList(id) : nil }

  private func recordedList(_ id: UUID) throws -> TaskList {
    var list = TaskList(id: id, name: "", createdAt: .earliest)
    for (field, register) in registers { try CodingFault.replacing { try list.set(field, to: register.value) } }
    list.updatedAt = lastChange
    try CodingFault.replacing { try list.validate() }
    return list
  }

  /// The tags of the record: a task may have more of them by the additions of several replicas than a record can.
  var shownTags: [[UInt8]] { Array((sets[.tags] ?? [:]).filter(\.value.isPresent).keys.prefix(TagSet.maximumCount)) }

  /// The dependencies of a task's record, as far as they have room there; no version adds the task itself.
  func shownDependencies(of task: UUID) -> TaskIDSet {
    // Most tasks have none.
    guard let elements = sets[.dependencies] else { return [] }
    let ids = elements.lazy.filter(\.value.isPresent).compactMap { UUID(bytes: $0.key) }.filter { $0 != task }
    return TaskIDSet(ids.prefix(TaskIDSet.maximumCount))
  }

  /// The reminders besides one, as many as a task can have; devices may together set more, or the same one twice.
  func shownReminders(besides reminderDate: Timestamp?) -> ReminderSet {
    // Most tasks have none.
    guard let elements = sets[.reminders] else { return [] }
    let reminders = elements.lazy.filter(\.value.isPresent).compactMap { Reminder(storedBytes: $0.key) }
    return ReminderSet(reminders.filter { $0.instant == nil || $0.instant != reminderDate }).allowed
  }

  /// The attributes of the record, by name, as far as they have room there.
  var shownAttributes: Set<Field> {
    var (room, shown) = (AttributeValue.maximumSizeInBytes, Set<Field>())
    for (field, register) in registers where field.isAttribute && !register.value.isEmpty {
      // The stored form of one attribute has its name, and a count that all of them share.
      room -= register.value.count
      if room >= 0 { shown.insert(field) }
    }
    return shown
  }

  /// Whether it exists here: only a creation writes the time of creation, and edits may arrive before it.
  ///
  /// An edit may bring back an object that was deleted long ago, and its values arrive later.
  var isShown: Bool { !isDeleted && hasValues }

  private var hasValues: Bool { hasValue(.created) && hasValue(.title) }

  private func hasValue(_ field: Field) -> Bool { registers[field].map { !$0.value.isEmpty } ?? false }

  /// Whether it exists although one of the two states that it joins was deleted some days ago, and the known one has
  /// values: replicas that had merged the deletion may have forgotten theirs.
  func survivesDeletion(_ known: ObjectState, or change: ObjectState, at now: Timestamp) -> Bool {
    guard known.hasValue(.title), !isDeleted, registers[.life]?.value == LifeValue.deleted,
      known.isDeleted || change.registers[.life] != nil, let life = registers[.life]
    else { return false }
    return life.time < now.adding(seconds: -7 * 86_400).microsecondsSince1970
  }

  /// The completions that count, as the ledger stores them.
  var storedCompletions: StoredCompletions {
    let detached = (sets[.detached] ?? [:]).filter(\.value.isPresent).keys.reversed()
    return StoredCompletions(
      current: completion.map(StoredCompletion.init(bytes:)), detached: detached.map(StoredCompletion.init(bytes:)))
  }

  /// Ensures that this version can read the values of all fields that it knows; it carries on other fields as they are.
  ///
  /// - Throws: ``StreamFault/unreadableValue(of:)`` for a value that a newer version may have written, or
  ///   ``EnvelopeFault/malformed(_:)`` for one that no version writes.
  func requireReadable(as object: ObjectKey) throws {
    if object.isTask {
      try EnvelopeFault.replacing({ _ in .malformed(.impossibleValue) }, requireCompletions)
    }
    var task = TaskItem(id: object.id, title: "", createdAt: .earliest)
    var list = TaskList(id: object.id, name: "", createdAt: .earliest)
    for (field, register) in registers where !register.value.isEmpty {
      do {
        if object.isTask || object.isSeries { try task.set(field, to: register.value) }
        if object.isList { try list.set(field, to: register.value) }
        if object.isFilter, field == .filter, let key = registers[.filterKey]?.value {
          guard SavedFilter.isStored(register.value, under: key) else { throw CodingFault.impossibleValue }
        }
      } catch {
        guard !field.isText else { throw EnvelopeFault.malformed(.impossibleValue) }
        throw StreamFault.unreadableValue(of: field.exportName(in: object))
      }
    }
  }

  /// Throws ``CodingFault`` if no replica writes such a completion, which the ledger could not store.
  func requireCompletions() throws(CodingFault) {
    var completions = (sets[.completions] ?? [:]).flatMap { $0.value.additions.map(\.value.value) }
    completions += sets[.detached]?.keys.map(\.self) ?? []
    for bytes in completions {
      try CodingFault.replacing { _ = try StoredCompletion(bytes: bytes).moment() }
    }
  }

  private var lastChange: Timestamp {
    if let value = registers[.changed]?.value, let time = try? FieldValue(.instant, storedBytes: value).instant {
      return time
    }
    let latest = latestTime { field, register in
      register.map { field != .life && $0.renumberingCount == 0 } ?? true
    }
    return Timestamp(clamping: latest ?? 0)
  }
}

extension CodingFault {
  /// Runs a body; its errors say that the value is one that no replica writes.
  fileprivate static func replacing<R>(_ body: () throws -> R) throws(CodingFault) -> R {
    try replacing({ _ in .impossibleValue }, body)
  }
}

extension ObjectState.Field {
  var isAttribute: Bool { number == Self.attributes }

  /// Whether its values are texts, which every version can read.
  var isText: Bool { self == .title || self == .notes || self == .color }
}

extension ObjectState {
  /// The number that the fields known to this version have together; another one follows when a field is added.
  static let shownFields: [UInt8] = [1]

  /// Whether it has fields that the first version of the program does not know.
  var hasLaterFields: Bool {
    let registers: [Field] = [.cancellation, .start, .rule, .floating]
    return registers.contains { self.registers[$0] != nil } || sets[.dependencies] != nil || sets[.reminders] != nil
  }
}

/// The tasks whose places may depend on objects that have changed: those that have changed, those above and below them,
/// and those that wait for a list or a parent among them.
///
/// The change cannot move other tasks: rings and depth concern only tasks that links connect.
struct ConnectedTasks {
  /// A task, and where it is shown.
  struct PlacedTask {
    let id: UUID
    let object: TouchedObject
    /// `nil` if it is not shown.
    let place: Outline.Place?
    /// The list and the parent that it names, as far as it is not there.
    let awaited: [UUID]
  }

  /// Ascending by their ids, deleted ones included.
  private(set) var tasks: [PlacedTask] = []
  /// Whether any task of the store is elsewhere than its state says.
  private let hasDisplaced: Bool

  init(of merge: StateMerge, in transaction: borrowing StoreWriteTransaction) throws {
    hasDisplaced = try transaction.hasSyncValues(withPrefix: SyncKey.displaced)
    let connected = try connectedTasks(in: merge, transaction)
    var (lists, isShown): ([UUID: ObjectState], [UUID: Bool]) = ([:], [:])
    func readList(_ list: UUID?) throws {
      guard let list, isShown[list] == nil else { return }
      let state = try merge.state(of: ObjectKey(isList: true, id: list), in: transaction)
      (lists[list], isShown[list]) = (state, state.isShown)
    }
    for state in connected.values { try readList(state.reference(.list)) }
    let outline = Outline(tasks: connected, lists: lists) { $0.isShown }
    tasks = connected.map { id, state in
      let object = merge.touched[ObjectKey(isList: false, id: id)] ?? TouchedObject(before: state, state: state)
      return PlacedTask(id, object, at: outline.places[id])
    }
    tasks.reserveCapacity(tasks.count + merge.touched.count)
    // Most tasks have no links: they are in their list, if it is there.
    for (object, touched) in merge.touched where object.isTask && connected[object.id] == nil {
      guard touched.isShown else {
        if !touched.state.isEmpty { tasks.append(PlacedTask(object.id, touched, at: nil)) }
        continue
      }
      let named = touched.list
      try readList(named)
      let list = named.flatMap { isShown[$0] == true ? $0 : nil }
      let awaited = named == list ? [] : [named].compactMap(\.self)
      tasks.append(PlacedTask(id: object.id, object: touched, place: Outline.Place(list: list), awaited: awaited))
    }
    tasks.sort { ReplicaID($0.id) < ReplicaID($1.id) }
  }

  /// The states of the tasks that links connect with changed ones, and of those that depend on changed lists.
  private func connectedTasks(
    in merge: StateMerge, _ transaction: borrowing StoreWriteTransaction
  ) throws -> [UUID: ObjectState] {
    var (connected, open): ([UUID: ObjectState], [UUID]) = ([:], [])
    let hasSubtasks = try transaction.hasSubtasks
    for (object, touched) in merge.touched {
      if object.isTask, try hasDisplaced || touched.isLinked || hasSubtasks && transaction.isParent(object.id) {
        open.append(object.id)
      } else if object.isList, touched.before.isShown != touched.state.isShown {
        open += try transaction.taskIDs(inList: object.id) + displaced(waitingFor: object.id, in: transaction)
      }
    }
    while let id = open.popLast() {
      guard connected[id] == nil else { continue }
      let state = try merge.state(of: ObjectKey(isList: false, id: id), in: transaction)
      guard !state.isEmpty else { continue }
      connected[id] = state
      if let parent = state.reference(.parent) { open.append(parent) }
      if hasSubtasks { open += try transaction.subtaskIDs(of: id) }
      open += try displaced(waitingFor: id, in: transaction)
    }
    return connected
  }

  /// Stores which tasks are elsewhere than their states say, so that they are found when the list or parent arrives.
  func writeDisplaced(in transaction: inout StoreWriteTransaction) throws {
    for task in tasks where hasDisplaced || !task.awaited.isEmpty {
      let names = [task.object.before, task.object.state].flatMap { [$0.reference(.list), $0.reference(.parent)] }
        .compactMap(\.self)
      for name in Set(names) {
        let key = SyncKey.displaced + ReplicaID(name).bytes + ReplicaID(task.id).bytes
        let isThere = try transaction.syncValue(forKey: key) != nil
        if isThere != task.awaited.contains(name) {
          try transaction.setSyncValue(isThere ? nil : [], forKey: key)
        }
      }
    }
  }

  /// The tasks that name a list or a parent and are not there.
  private func displaced(waitingFor id: UUID, in transaction: borrowing StoreWriteTransaction) throws -> [UUID] {
    guard hasDisplaced else { return [] }
    return try transaction.syncValues(under: SyncKey.displaced + ReplicaID(id).bytes).compactMap { UUID(bytes: $0.key) }
  }
}

extension ConnectedTasks.PlacedTask {
  fileprivate init(_ id: UUID, _ object: TouchedObject, at place: Outline.Place?) {
    (self.id, self.object, self.place) = (id, object, place)
    guard let place else {
      awaited = []
      return
    }
    let state = object.state
    let parent = state.reference(.parent).flatMap { $0 == place.parent ? nil : $0 }
    // A sub-task is in the list of its parent, whatever list it names.
    let list = place.parent == nil ? state.reference(.list).flatMap { $0 == place.list ? nil : $0 } : nil
    awaited = [parent, list].compactMap(\.self)
  }
}
