import Foundation
import SystemPackage
import Tally
import TallyEngine
import TallyTestSupport

/// The expected contents of a store of the workload.
struct WorkloadModel {
  var tasks = TaskModel()
  var records = RecordModel()
}

/// Transactions that follow from a seed, each the same in every process: the contents of a store after the n-th are known.
///
/// Each transaction rewrites a marker task, so that it raises the store's sequence by one.
struct Workload {
  private let seed: UInt64
  private let clock = TestClock.noon
  /// The number of transactions so far: the store's sequence.
  private(set) var sequence: UInt64 = 0
  /// The contents of the store after them.
  private(set) var model = WorkloadModel()

  private static let bulkCount = 60
  private static let markerID = UUID(uuid: (0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 1))

  init(seed: UInt64) {
    self.seed = seed
  }

  /// A store's settings, with the clock of the next transaction.
  var configuration: TaskStore.Configuration {
    var configuration = TaskStore.Configuration.testing(clock: clock)
    configuration.schema = Schema(Entry.collection)
    // The disk of these suites has the data file only; `LogCrashTests` has that of a log.
    configuration.makesLog = false
    return configuration
  }

  /// Applies the next transaction to the model alone.
  @discardableResult
  mutating func advance() -> (tasks: [ModelChange], records: [RecordModel.Change]) {
    sequence += 1
    clock.now = TestClock.noon.now.adding(seconds: 997 * Int64(sequence))
    model.tasks.beginTransaction()
    let changes = nextChanges()
    for change in changes {
      _ = model.tasks.apply(change, now: clock.now, timeZone: configuration.calendar.timeZone)
    }
    return (changes, model.records.advance(to: sequence))
  }

  /// Applies the next transaction to the model and to a store whose sequence is that of this workload.
  mutating func step(in store: TaskStore) throws {
    let (changes, number) = (advance(), sequence)
    try store.writeAndWait { transaction in
      guard try transaction.sequence < number else { throw Failure(description: "transaction \(number) is done twice") }
      // Some must be refused, like those of a person; the storage's own errors leave the closure.
      for change in changes.tasks {
        do {
          try change.apply(to: &transaction)
        } catch let error as TallyError where Self.refusals.contains(error.code) {}
      }
      for change in changes.records { try change.apply(to: &transaction) }
    }
  }

  private static let refusals: Set<TallyError.Code> = [
    .taskNotFound, .invalidParent, .invalidDependency, .invalidTag, .listNotFound, .duplicateID, .blankTitle,
    .blankListName, .unknownList, .inconsistentTask, .invalidRecurrence,
  ]

  private func nextChanges() -> [ModelChange] {
    var generator = SeededGenerator(seed: seed &+ sequence &* 0x9E37_79B9_7F4A_7C15)
    var visible = model.tasks
    visible.tasks[Self.markerID] = nil
    var changes: [ModelChange] = [
      sequence == 1
        ? .add(TaskDraft(id: Self.markerID, title: "1"))
        : .edit(Self.markerID, title: "\(sequence)", notes: nil)
    ]
    switch sequence % 10 {
    case 3: changes += bulk(using: &generator)
    case 7: changes += visible.tasks.keys.sorted { $0.uuidString < $1.uuidString }.dropFirst(20).map { .delete($0) }
    default:
      for _ in 0..<Int.random(in: 1...5, using: &generator) {
        let change = RandomChange.next(
          in: visible, now: clock.now, calendar: configuration.calendar, using: &generator)
        _ = visible.apply(change, now: clock.now, timeZone: configuration.calendar.timeZone)
        changes.append(change)
      }
    }
    return changes
  }

  /// Many tasks, some with texts that need pages of their own.
  private func bulk(using generator: inout SeededGenerator) -> [ModelChange] {
    (0..<Self.bulkCount).map { number in
      let notes = number.isMultiple(of: 6) ? String(repeating: "note ", count: 100 * number) : nil
      return .add(TaskDraft(id: generator.uuid(), title: "task \(number)", notes: notes))
    }
  }
}

/// A store compared with its expected contents.
struct StoreComparison {
  let store: TaskStore

  /// The fault of the store, by its own check and by the model; `nil` if there is none.
  func fault(against contents: WorkloadModel) throws -> String? {
    let model = contents.tasks
    let (now, calendar) = (store.configuration.now(), store.configuration.calendar)
    return try store.read { transaction in
      if let found = try transaction.inconsistencies().first { return "\(found)" }
      if try transaction.lists() != model.orderedLists { return "the lists differ" }
      for view in [TaskView.all, .inbox, .past, .completed(nil)] {
        let expected = model.tasks(in: view, now: now, calendar: calendar)
        if try transaction.view(view).tasks != expected { return "the tasks of \(view.name) differ" }
      }
      return try contents.records.fault(in: transaction)
    }
  }

  /// The failure of further use of the store; `nil` if there is none.
  func faultOfFurtherUse() throws -> String? {
    let before = try store.information().sequence
    let task = try store.writeAndWait { try $0.add("afterwards", to: .today) }
    try store.writeAndWait { _ = try $0.complete(task.id) }
    try store.writeAndWait { _ = try $0.delete(task.id) }
    let after = try store.information().sequence
    if after != before + 3 { return "three writes led from sequence \(before) to \(after)" }
    return try store.read { try $0.inconsistencies().first?.description }
  }
}

/// Runs transactions in a store and records each in a file:
/// `workload STORE FILE SEED COUNT durable|relaxed`.
///
/// A store that is not new continues from its sequence.
struct WorkloadAct {
  private let directory: FilePath
  private let acknowledgements: FilePath
  private let seed: UInt64
  private let count: UInt64
  private let isRelaxed: Bool

  init(_ act: Act) throws {
    directory = try act.path(0)
    acknowledgements = try act.path(1)
    seed = try act.number(2)
    count = try act.number(3)
    isRelaxed = try act.text(4) == "relaxed"
  }

  func run() throws {
    var workload = Workload(seed: seed)
    var configuration = workload.configuration
    configuration.durability = isRelaxed ? .relaxed : .durable
    // Flushed by this act alone, so that it knows which writes are flushed.
    configuration.flushIntervalInSeconds = 100_000
    let store = try TaskStore(at: directory, configuration: configuration)
    let file = try FileDescriptor.open(
      acknowledgements, .writeOnly, options: [.create, .append, .closeOnExec], permissions: .ownerReadWrite)
    while try workload.sequence < store.information().sequence { workload.advance() }
    // A predecessor may have died between its commit and its acknowledgement.
    if workload.sequence > 0 { try file.writeAll("acknowledged \(workload.sequence)\n".utf8) }
    while workload.sequence < count {
      try file.writeAll("begun \(workload.sequence + 1)\n".utf8)
      try workload.step(in: store)
      if isRelaxed {
        guard workload.sequence.isMultiple(of: 7) else { continue }
        try store.flush()
      }
      try file.writeAll("acknowledged \(workload.sequence)\n".utf8)
    }
    try store.close()
  }
}
