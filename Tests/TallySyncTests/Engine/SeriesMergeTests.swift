import Foundation
import Tally
import TallyTestSupport
import TestSupport
import Testing

@testable import TallySync

/// A series is an object of its own: what one device changes of it and another device does with its tasks come together.
struct SeriesMergeTests {
  /// Runs a body with devices that have a task for today, due at 17:00, which repeats every day.
  private func withSeries(
    _ count: Int = 2, _ body: (FolderSpace, UUID) async throws -> Void
  ) async throws {
    try await withFolderSpace(count) { space in
      let id = try await space.stores[0].write { transaction in
        try transaction.add("plants", to: .today) { task in
          task.recurrence = try Recurrence(text: "FREQ=DAILY")
          task.dueDate = try Timestamp(iso8601: "2026-11-21T17:00:00+03:00")
        }.id
      }
      try await space.synchronizeAll()
      space.clock.now = space.clock.now.adding(seconds: 60)
      try await body(space, id)
      try await settle(space)
      try await space.expectEqualStores()
      for store in space.stores { try checkInvariants(of: store) }
    }
  }

  private func settle(_ space: FolderSpace) async throws {
    for _ in 0..<2 { try await space.synchronizeAll() }
  }

  private func openTasks(_ store: TaskStore) throws -> [TaskItem] {
    try store.read { try $0.view(.all).tasks.filter(\.isOpen) }
  }

  @Test func aSeriesArrivesWithItsTask() async throws {
    try await withSeries { space, id in
      let series = try space.stores.map { store in try store.read { try $0.storedSeries(id) } }
      #expect(series[0] == series[1] && series[0]?.time == "17:00")
      // What one device changes of one task stays with that task on the other.
      try await space.stores[0].write { try $0.update(id) { $0.title = "the big plant" } }
      try await settle(space)
      try await space.stores[1].write { try $0.complete(id) }
      try await settle(space)
      #expect(try openTasks(space.stores[0]).map(\.title) == ["plants"])
    }
  }

  /// One device changes the series while the other completes the task, which makes the next one of the old values.
  @Test(arguments: [false, true]) func aChangeOfTheSeriesReachesTheNextTask(completesFirst: Bool) async throws {
    try await withSeries { space, id in
      func complete() async throws { try await space.stores[1].write { try $0.complete(id) } }
      if completesFirst { try await complete() }
      try await space.stores[0].write { transaction in
        try transaction.updateSeries(of: id) { task in
          (task.title, task.priority, task.tags) = ("all plants", .high, ["home"])
          task.dueDate = try Timestamp(iso8601: "2026-11-21T18:30:00+03:00")
        }
      }
      if !completesFirst { try await complete() }
      try await settle(space)
      for store in space.stores {
        let open = try openTasks(store)
        #expect(
          open.map(\.title) == ["all plants"] && open.map(\.priority) == [.high] && open.map(\.tags) == [["home"]])
        #expect(open.map(\.dueDate) == [try Timestamp(iso8601: "2026-11-22T18:30:00+03:00")])
      }
    }
  }

  /// Two devices that complete a task which repeats by hours at different times skip different steps, and yet make one
  /// task: that of the later one.
  @Test func devicesThatSkipDifferentStepsMakeOneTask() async throws {
    try await withSeries { space, _ in
      let now = space.clock.now
      let id = try await space.stores[0].write { transaction in
        try transaction.add("pills") { task in
          task.recurrence = try Recurrence(text: "FREQ=HOURLY;INTERVAL=2")
          task.dueDate = now
        }.id
      }
      try await settle(space)
      try await space.stores[0].write { try $0.complete(id) }
      space.clock.now = space.clock.now.adding(seconds: 5 * 3_600)
      try await space.stores[1].write { try $0.complete(id) }
      try await settle(space)
      for store in space.stores {
        let open = try openTasks(store).filter { $0.title == "pills" }
        #expect(open.map { $0.series?.index } == [1] && open.map { $0.series?.step } == [3])
      }
    }
  }

  /// An edit that is refused changes neither the task nor its series, even if the caller goes on.
  @Test func aRefusedEditLeavesTheSeries() async throws {
    try await withSeries { space, id in
      let before = try space.stores[0].read { try $0.storedSeries(id) }
      try await space.stores[0].write { transaction in
        #expect(throws: TallyError.self) {
          try transaction.updateSeries(of: id) { $0.notes = String(repeating: "x", count: 8 << 20) }
        }
        _ = try transaction.add("goes on")
      }
      #expect(try space.stores[0].read { try $0.storedSeries(id) } == before)
    }
  }

  /// A device of the first version would go on by the former rule, and that would win.
  @Test(arguments: [false, true]) func noFormerRuleIsLeftForOlderDevices(completesFirst: Bool) async throws {
    try await withSeries { space, id in
      func complete() async throws {
        try await space.stores[1].write { try $0.complete(id) }
        space.clock.now = space.clock.now.adding(seconds: 60)
      }
      let rule = try Recurrence(text: "FREQ=DAILY;BYMONTH=11,12")
      if completesFirst { try await complete() }
      try await space.stores[0].write { transaction in
        try transaction.update(id) { $0.recurrence = rule }
        try transaction.complete(id)
      }
      space.clock.now = space.clock.now.adding(seconds: 60)
      if !completesFirst { try await complete() }
      for _ in 0..<2 { try await settle(space) }
      for store in space.stores {
        let next = try #require(try openTasks(store).first)
        #expect(next.recurrence == rule && next.series?.index == 1)
        let state = try await store.write { transaction in
          try StateTable(in: transaction).state(of: ObjectKey(isList: false, id: next.id), in: transaction)
        }
        #expect(state.registers[.recurrence]?.value ?? [] == [])
      }
      for number in 0..<2 { #expect(try await space.sync(number).synchronize().sent == 0) }
    }
  }

  /// A person has removed the due time of a task of the series, and a program its wall-clock time: without the instant,
  /// the wall-clock time that the series gives is not written in each exchange.
  @Test func aWallClockTimeWithoutItsInstantIsNotWritten() async throws {
    try await withSeries { space, id in
      try await space.stores[1].write { try $0.complete(id) }
      try await settle(space)
      let next = try #require(try openTasks(space.stores[0]).first)
      // A device of an earlier version removes the instant alone.
      space.clock.now = space.clock.now.adding(seconds: 60)
      let time = space.clock.now.microsecondsSince1970
      try await space.stores[1].write { transaction in
        let object = ObjectKey(isList: false, id: next.id)
        var changes: [ObjectChange] = []
        _ = try transaction.merging { merge, settings, transaction in
          let known = try merge.state(of: object, in: transaction)
          let change = known.setting(.due, to: [], at: time, by: settings.replicaID)
          changes.append(
            ObjectChange(of: object, to: change, replacing: try merge.join(change, to: object, in: transaction)))
        }
        var settings = try transaction.requireSyncSettings()
        try Outbox.seal(changes, &settings, in: &transaction)
        try transaction.setSyncSettings(settings)
      }
      try await space.stores[0].write { try $0.updateSeries(of: next.id) { $0.title = "all plants" } }
      for _ in 0..<2 { try await settle(space) }
      for number in 0..<2 { #expect(try await space.sync(number).synchronize().sent == 0) }
    }
  }

  /// The list of a series was deleted: the next task is shown in no list, and yet has the list.
  @Test func aListThatWasDeletedIsNotWrittenAgain() async throws {
    try await withSeries { space, id in
      let list = try await space.stores[0].write { transaction in
        let list = try transaction.addList(name: "Home")
        try transaction.updateSeries(of: id) { $0.listID = list.id }
        return list.id
      }
      try await settle(space)
      // A device of an earlier version knows no series that could lose its list.
      try await space.stores[0].write { transaction in
        let series = try #require(try transaction.storedSeries(id))
        try transaction.update(id) { $0.listID = nil }
        try transaction.deleteList(list)
        try transaction.write(series)
      }
      try await settle(space)
      try await space.stores[1].write { try $0.complete(id) }
      for _ in 0..<2 { try await settle(space) }
      for number in 0..<2 { #expect(try await space.sync(number).synchronize().sent == 0) }
      #expect(try openTasks(space.stores[0]).map(\.listID) == [nil])
    }
  }

  /// Two devices go on by different rules, and one of them further: also in a task that is closed by now, no former rule is
  /// left where the later one is shown.
  @Test func olderDevicesShowTheRuleOfClosedTasks() async throws {
    try await withSeries { space, id in
      func complete(_ count: Int, in store: TaskStore) async throws {
        for _ in 0..<count {
          let open = try #require(try openTasks(store).first)
          try await store.write { try $0.complete(open.id) }
          space.clock.now = space.clock.now.adding(seconds: 86_400)
        }
      }
      try await complete(2, in: space.stores[1])
      try await space.stores[0].write { transaction in
        try transaction.update(id) { $0.recurrence = try Recurrence(text: "FREQ=DAILY;BYMONTH=11,12") }
      }
      try await complete(3, in: space.stores[0])
      try await settle(space)
      let tasks = try space.stores[0].read { try $0.tasks(TaskQuery(.all, by: .place)).tasks }
      #expect(tasks.count == 4)
      for task in tasks {
        let state = try space.stores[0].readSynchronization { transaction in
          try StateTable(in: transaction).state(of: ObjectKey(isList: false, id: task.id), in: transaction)
        }
        let former = state.registers[.recurrence]?.value ?? []
        #expect(former.isEmpty || task.recurrence?.isOfFirstVersion ?? false, "\(task)")
      }
    }
  }

  @Test func anotherRuleReachesTheNextTask() async throws {
    try await withSeries { space, id in
      try await space.stores[1].write { try $0.complete(id) }
      try await space.stores[0].write { _ = try $0.update(id) { $0.recurrence = try Recurrence(text: "FREQ=WEEKLY") } }
      try await settle(space)
      for store in space.stores {
        let open = try openTasks(store)
        #expect(open.map(\.recurrence?.text) == ["FREQ=WEEKLY"] && open.map(\.series?.index) == [1])
        #expect(open.map(\.scheduledDate) == [try CalendarDay(iso8601: "2026-11-28")])
      }
    }
  }

  /// What a person has written to the next task wins over the series.
  @Test func whatAPersonWroteToTheNextTaskStays() async throws {
    try await withSeries { space, id in
      let next = try await space.stores[1].write { transaction in
        let task = try transaction.complete(id)
        let next = try #require(try transaction.successor(of: task))
        try transaction.update(next.id) { ($0.title, $0.notes) = ("only the fern", "it is thirsty") }
        return next.id
      }
      try await space.stores[0].write { try $0.updateSeries(of: id) { ($0.title, $0.priority) = ("all plants", .low) } }
      try await settle(space)
      for store in space.stores {
        let task = try #require(try store.read { try $0.task(next) })
        #expect(task.title == "only the fern" && task.notes == "it is thirsty" && task.priority == .low)
      }
    }
  }

  /// A series that one device ends has no next task, unless a person has done something with that one.
  @Test(arguments: [false, true]) func aSeriesEndsThoughAnotherDeviceCompletesItsTask(isDeleted: Bool) async throws {
    try await withSeries { space, id in
      try await space.stores[1].write { try $0.complete(id) }
      try await space.stores[0].write { transaction in
        if isDeleted { try transaction.delete(id) } else { try transaction.update(id) { $0.recurrence = nil } }
      }
      try await settle(space)
      for store in space.stores { #expect(try openTasks(store).isEmpty) }
    }
  }

  @Test func aTaskThatIsReopenedLeavesNoUntouchedOneBehind() async throws {
    try await withSeries(3) { space, id in
      try await space.stores[0].write { try $0.complete(id) }
      try await settle(space)
      try await space.stores[1].write { try $0.reopen(id) }
      try await space.stores[2].write { try $0.update(id) { $0.notes = "done well" } }
      try await settle(space)
      for store in space.stores { #expect(try openTasks(store).map(\.id) == [id]) }
    }
  }

  @Test func skippedDaysOfTwoDevicesComeTogether() async throws {
    try await withSeries { space, id in
      let next = try await space.stores[0].write { transaction in
        try transaction.skip(id)
        return try #require(try transaction.task(id).flatMap { try transaction.successor(of: $0) }).id
      }
      try await settle(space)
      try await space.stores[1].write { _ = try $0.skip(next) }
      try await space.stores[0].write { transaction in
        try transaction.setTimeZone(TimeZone(identifier: "Asia/Tokyo"), ofSeriesWith: next)
      }
      try await settle(space)
      for store in space.stores {
        let series = try #require(try store.read { try $0.storedSeries(id) })
        #expect(series.skippedDays.map(\.iso8601) == ["2026-11-21", "2026-11-22"])
        #expect(series.timeZoneIdentifier == "Asia/Tokyo")
      }
    }
  }

  /// Two values for one part: the later one wins, and the other is one conflict, which can be restored.
  @Test func aValueOfASeriesThatLosesIsAConflict() async throws {
    try await withSeries { space, id in
      for (store, text) in zip(space.stores, ["Asia/Tokyo", "Europe/Berlin"]) {
        try await store.write { transaction in
          try transaction.updateSeries(of: id) { $0.title = text }
          try transaction.setTimeZone(TimeZone(identifier: text), ofSeriesWith: id)
        }
        space.clock.now = space.clock.now.adding(seconds: 60)
      }
      try await settle(space)
      let conflicts = try await space.sync(0).conflicts()
      for field in ["title", "timeZone"] {
        #expect(conflicts.filter { $0.field == field }.map(\.lost) == ["Asia/Tokyo"])
      }
      for conflict in conflicts { _ = try await space.sync(0).restoreConflict(conflict.id) }
      try await settle(space)
      for store in space.stores {
        #expect(try store.read { try $0.storedSeries(id)?.timeZoneIdentifier } == "Asia/Tokyo")
        #expect(try store.read { try $0.task(id)?.title } == "Asia/Tokyo")
        #expect(try store.read { try $0.storedSeries(id)?.template.title } == "Asia/Tokyo")
      }
      for number in 0...1 { #expect(try await space.sync(number).conflicts().isEmpty) }
    }
  }

  /// Both devices write a part of the series; the one that loses then writes another value into its own task alone.
  @Test(arguments: [
    SyncFields.title: ["first", "later", "own"], .notes: ["first", "later", "own"],
    .due: ["2026-11-21T06:00:00Z", "2026-11-21T07:00:00Z", "2026-11-21T08:00:00Z"],
  ])
  func aValueOfASeriesOutlivesThatOfItsTask(part: SyncFields, values: [String]) async throws {
    @Sendable func set(_ task: inout TaskItem, _ number: Int) throws {
      switch part {
      case .title: task.title = values[number]
      case .notes: task.notes = values[number]
      default: task.dueDate = try Timestamp(iso8601: values[number])
      }
    }
    try await withSeries { space, id in
      for (number, store) in space.stores.enumerated() {
        try await store.write { try $0.updateSeries(of: id) { try set(&$0, number) } }
        space.clock.now = space.clock.now.adding(seconds: 60)
      }
      try await space.stores[0].write { try $0.update(id) { try set(&$0, 2) } }
      try await settle(space)
      for number in 0...1 {
        let conflicts = try await space.sync(number).conflicts()
        let lost = conflicts.filter(\.isSeries)
        #expect(lost.count == 1 && lost[0].lost == (part == .due ? "2026-11-21T09:00:00" : "first"))
        let name = try space.stores[number].read { try $0.name(of: lost[0]) }
        #expect(lost[0].objectID == id && name != nil)
      }
      let conflict = try #require(try await space.sync(1).conflicts().first(where: \.isSeries))
      try await space.sync(1).restoreConflict(conflict.id)
      try await settle(space)
      for number in 0...1 { #expect(try await space.sync(number).conflicts().allSatisfy { !$0.isSeries }) }
      try await space.stores[0].write { try $0.complete(id) }
      try await settle(space)
      var expected = try #require(try openTasks(space.stores[1]).first)
      let shown = expected
      try set(&expected, 0)
      if part == .due { expected.dueDate = expected.dueDate?.adding(seconds: 86_400) }
      #expect(expected == shown)
    }
  }

  /// A rule comes back with the dates of the same write, in whatever order the values are restored.
  @Test(arguments: [[0, 1], [1, 0], [0], [1], []]) func aRuleIsRestoredWithItsDates(order: [Int]) async throws {
    try await withSeries { space, id in
      for (store, (day, rule)) in zip(space.stores, [("25", "WE"), ("27", "FR")]) {
        try await store.write { transaction in
          try transaction.updateSeries(of: id) { task in
            task.recurrence = try Recurrence(text: "FREQ=WEEKLY;BYDAY=\(rule)")
            task.dueDate = try Timestamp(iso8601: "2026-11-\(day)T17:00:00+03:00")
            task.scheduledDate = try CalendarDay(iso8601: "2026-11-\(day)")
          }
        }
        space.clock.now = space.clock.now.adding(seconds: 60)
      }
      try await settle(space)
      let ids = try await space.sync(1).conflicts().map(\.id)
      if order.isEmpty { #expect(try await space.sync(1).restoreAllConflicts().count == ids.count) }
      for index in order where try await space.sync(1).conflicts().contains(where: { $0.id == ids[index] }) {
        _ = try await space.sync(1).restoreConflict(ids[index])
      }
      #expect(try await space.sync(1).conflicts().isEmpty)
      try await settle(space)
      for number in 0...1 { #expect(try await space.sync(number).conflicts().isEmpty) }
      space.clock.now = try Timestamp(iso8601: "2026-11-25T10:00:00+03:00")
      try await space.stores[0].write { try $0.complete(id) }
      try await settle(space)
      for store in space.stores {
        let open = try openTasks(store)
        #expect(open.map(\.dueDate) == [try Timestamp(iso8601: "2026-12-02T17:00:00+03:00")])
        #expect(open.map(\.scheduledDate?.iso8601) == ["2026-12-02"])
      }
    }
  }

  /// The conflict of a closed task, and of one whose series has ended, leaves that of the series.
  @Test(arguments: [false, true]) func aClosedTaskDoesNotStandForItsSeries(hasEnded: Bool) async throws {
    try await withSeries { space, id in
      for (number, store) in space.stores.enumerated() {
        try await store.write { try $0.updateSeries(of: id) { $0.title = "by \(number)" } }
        space.clock.now = space.clock.now.adding(seconds: 60)
      }
      try await space.stores[0].write { try $0.complete(id) }
      try await settle(space)
      if hasEnded {
        let open = try #require(try openTasks(space.stores[1]).first)
        try await space.stores[1].write { _ = try $0.delete(open.id) }
      }
      let conflicts = try await space.sync(1).conflicts()
      #expect(Set(conflicts.map(\.isSeries)) == [false, true] && conflicts.allSatisfy { $0.lost == "by 0" })
      for conflict in conflicts {
        if conflict.isSeries, hasEnded {
          await #expect(throws: TallyError.self) { try await space.sync(1).restoreConflict(conflict.id) }
        } else {
          _ = try await space.sync(1).restoreConflict(conflict.id)
        }
      }
      #expect(try space.stores[1].read { try $0.task(id) }?.title == "by 0")
      let series = try space.stores[1].read { try $0.storedSeries(id) }
      #expect(series?.template.title == (hasEnded ? nil : "by 0"))
    }
  }

  /// What a person dismisses of a task, they dismiss of its series, if both were written at once; a value that the task
  /// has again by hand leaves that of the series.
  @Test(arguments: [false, true]) func aValueOfATaskAndItsSeriesIsDismissedAtOnce(isDismissed: Bool) async throws {
    try await withSeries { space, id in
      for (number, store) in space.stores.enumerated() {
        try await store.write { try $0.updateSeries(of: id) { $0.title = "by \(number)" } }
        space.clock.now = space.clock.now.adding(seconds: 60)
      }
      try await settle(space)
      #expect(try await space.sync(0).conflicts().map(\.isSeries) == [false])
      if isDismissed {
        #expect(try await space.sync(1).dismissConflicts().count == 1)
      } else {
        try await space.stores[1].write { try $0.update(id) { $0.title = "by 0" } }
      }
      try await settle(space)
      for number in 0...1 {
        let left = try await space.sync(number).conflicts()
        #expect(left.map(\.isSeries) == (isDismissed ? [] : [true]) && left.allSatisfy { $0.lost == "by 0" })
      }
    }
  }
}
