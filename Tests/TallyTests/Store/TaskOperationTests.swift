import Foundation
import TallyTestSupport
import Testing

@testable import Tally

/// Tasks by example.
@Suite struct TaskOperationTests {
  @Test(arguments: ["", " ", "\t\r\n", "\u{A0}", "\u{2003}\u{3000}", "\u{2028}\u{2029}\u{85}"])
  func aBlankTitleIsRefusedAndNothingIsWritten(title: String) throws {
    try withStore { store in
      let task = try store.writeAndWait { try $0.add("kept", to: .inbox) }
      let sequence = try store.read { try $0.sequence }
      for place in [CapturePlace.inbox, .today, .upcoming] {
        #expect(code { try store.writeAndWait { _ = try $0.add(title, to: place) } } == .blankTitle)
      }
      #expect(code { try store.writeAndWait { _ = try $0.update(task.id) { $0.title = title } } } == .blankTitle)
      let bulk = TaskItem(title: title, createdAt: .earliest)
      #expect(code { try store.writeAndWait { try $0.insert(contentsOf: [bulk]) } } == .blankTitle)
      #expect(try store.read { try $0.view(.all).tasks } == [task])
      #expect(try store.read { try $0.sequence } == sequence)
    }
  }

  @Test(arguments: NastyTexts.all)
  func anyOtherTextComesBackByteForByte(text: String) throws {
    try withStore { store in
      let list = try store.writeAndWait { try $0.addList(name: text) }
      let added = try store.writeAndWait { try $0.add(TaskDraft(title: text, notes: text, listID: list.id)) }
      let task = try #require(try store.read { try $0.task(added.id) })
      #expect(Array(task.title.utf8) == Array(text.utf8))
      #expect(Array((task.notes ?? "").utf8) == Array(text.utf8))
      #expect(Array(try #require(try store.read { try $0.list(list.id) }).name.utf8) == Array(text.utf8))
    }
  }

  @Test func titlesHaveNoLengthLimit() throws {
    try withStore { store in
      for text in [
        String(repeating: "é", count: 1_000_000), String(repeating: "x", count: 1 << 20),
        String(repeating: "👩‍👩‍👧‍👦", count: 50_000), String(repeating: "\0", count: 5_000),
      ] {
        let id = try store.writeAndWait { try $0.add(TaskDraft(title: text, notes: text)).id }
        try store.writeAndWait { _ = try $0.complete(id) }
        let task = try #require(try store.read { try $0.task(id) })
        #expect(task.title.utf8.elementsEqual(text.utf8))
        #expect(task.notes?.utf8.elementsEqual(text.utf8) == true)
      }
    }
  }

  @Test func aChangeThatOnlyUnicodeCallsEqualIsAChange() throws {
    try withStore { store in
      let id = try store.writeAndWait { try $0.add("caf\u{E9}", to: .inbox).id }
      try store.writeAndWait { _ = try $0.update(id) { $0.title = "cafe\u{301}" } }
      #expect(try store.read { try $0.task(id)?.title.utf8.count } == 6)
    }
  }

  @Test func aTapGoesRoundTheStates() throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      let id = try store.writeAndWait { try $0.add("tap", to: .inbox).id }
      for expected in [TaskState.active, .completed, .notStarted, .active] {
        clock.now = clock.now.adding(seconds: 1)
        let task = try store.writeAndWait { try $0.advanceState(of: id) }
        #expect(task.state == expected)
        #expect(task.updatedAt == clock.now)
        #expect(task.completedAt?.instant == (expected == .completed ? clock.now : nil))
        #expect(try store.read { try $0.task(id) } == task)
      }
    }
  }

  @Test func anyStateMayFollowAnyOther() throws {
    try withStore { store in
      for from in TaskState.allCases {
        for to in TaskState.allCases {
          let id = try store.writeAndWait { try $0.add("x", to: .inbox).id }
          try store.writeAndWait { _ = try $0.setState(from, of: id) }
          let task = try store.writeAndWait { try $0.setState(to, of: id) }
          #expect(task.state == to)
          #expect((task.completedAt != nil) == (to == .completed))
          #expect((task.cancelledAt != nil) == (to == .cancelled))
        }
      }
    }
  }

  @Test func aCompletionMayLieInThePastAndKeepsItsOffset() throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      let id = try store.writeAndWait { try $0.add("yesterday", to: .inbox).id }
      let now = try store.writeAndWait { try $0.complete(id) }.completedAt
      #expect(now?.utcOffsetInMinutes == 180, "Istanbul's")
      let yesterday = try OffsetTimestamp(clock.now.adding(seconds: -86_400), utcOffsetInMinutes: -345)
      #expect(try store.writeAndWait { try $0.complete(id, at: yesterday) }.completedAt == yesterday)
      clock.now = clock.now.adding(seconds: 60)
      #expect(try store.writeAndWait { try $0.complete(id) }.completedAt == yesterday, "completed is completed")
      #expect(try store.information().completionCount == 1)
    }
  }

  @Test func aChangeSetsItsTimeAndNoChangeDoesNot() throws {
    let clock = TestClock.noon
    try withStore(.testing(clock: clock)) { store in
      let created = clock.now
      let id = try store.writeAndWait { try $0.add("x", to: .inbox).id }
      clock.now = created.adding(seconds: 5)
      try store.writeAndWait { transaction in
        try transaction.update(id) { $0.title = "x" }
        try transaction.schedule(id, on: nil)
        try transaction.reopen(id)
        try transaction.move(id, toList: nil)
      }
      #expect(try store.read { try $0.task(id)?.updatedAt } == created)
      for step in 0..<6 {
        clock.now = clock.now.adding(seconds: 1)
        let task = try store.writeAndWait { transaction in
          switch step {
          case 0: try transaction.update(id) { $0.notes = "" }
          case 1: try transaction.update(id) { $0.dueDate = created }
          case 2: try transaction.schedule(id, on: .earliest)
          case 3: try transaction.start(id)
          case 4: try transaction.complete(id)
          default: try transaction.reopen(id)
          }
        }
        #expect(task.updatedAt == clock.now)
        #expect(task.createdAt == created)
      }
    }
  }

  @Test func tasksLandLastWhereTheyAreCaptured() throws {
    try withStore { store in
      let list = try store.writeAndWait { try $0.addList(name: "Home") }
      let today = try store.read { $0.today }
      let tomorrow = try today.adding(days: 1)
      for place in [CapturePlace.inbox, .today, .upcoming, .list(list.id)] {
        for number in 0..<3 {
          let task = try store.writeAndWait { try $0.add("\(number)", to: place) }
          #expect(task.listID == (place == .list(list.id) ? list.id : nil))
          #expect(task.scheduledDate == (place == .today ? today : place == .upcoming ? tomorrow : nil))
          #expect(task.state == .notStarted && task.createdAt == task.updatedAt && task.completedAt == nil)
        }
      }
      for view in [TaskView.inbox, .today, .upcoming, .list(list.id)] {
        #expect(try titles(of: view, in: store) == ["0", "1", "2"], "\(view.name)")
      }
      #expect(code { try store.writeAndWait { _ = try $0.add("x", to: .list(UUID())) } } == .listNotFound)
    }
  }

  @Test func aClockFarAheadHoldsBackTheIDsOfItsOwnStoreOnly() throws {
    var ahead = TaskStore.Configuration.testing()
    let future = try Timestamp(iso8601: "2999-01-01T00:00:00Z")
    ahead.now = { future }
    let idAhead = try withStore(ahead) { store in try store.writeAndWait { try $0.add("ahead", to: .inbox) }.id }
    #expect(UUIDv7.timestamp(of: idAhead) == future)
    try withStore { store in
      let task = try store.writeAndWait { try $0.add("now", to: .inbox) }
      let list = try store.writeAndWait { try $0.addList(name: "now") }
      #expect(try #require(UUIDv7.timestamp(of: task.id)) < future)
      #expect(try #require(UUIDv7.timestamp(of: list.id)) < future)
    }
  }

  @Test func anyIDIsTakenOnce() throws {
    try withStore { store in
      let ids = [UUID(high: 0, low: 0), UUID(high: .max, low: .max), UUID()]
      for id in ids {
        let draft = TaskDraft(id: id, title: "x", scheduledDate: .earliest, dueDate: .earliest, reminderDate: .latest)
        #expect(try store.writeAndWait { try $0.add(draft) }.id == id)
        #expect(code { try store.writeAndWait { _ = try $0.add(draft) } } == .duplicateID)
      }
      #expect(try store.read { try $0.view(.past).tasks.count } == ids.count)
      let made = try store.writeAndWait { try $0.add("made", to: .inbox).id }
      #expect(made.uuid.6 >> 4 == 7, "a UUIDv7")
    }
  }

  @Test func whatBreaksTheRulesIsRefused() throws {
    try withStore { store in
      let task = try store.writeAndWait { try $0.add("x", to: .inbox) }
      func updateCode(_ change: @escaping (inout TaskItem) -> Void) -> TallyError.Code? {
        code { try store.writeAndWait { _ = try $0.update(task.id, change) } }
      }
      #expect(updateCode { $0.listID = UUID() } == .listNotFound)
      #expect(updateCode { $0.sortOrder = TaskItem.sortOrders.upperBound + 1 } == .valueOutOfRange)
      #expect(updateCode { $0.sortOrder = .min } == .valueOutOfRange)
      #expect(
        updateCode { $0.completedAt = OffsetTimestamp($0.createdAt, in: .gmt) } == nil, "removed, as it is open")
      #expect(try store.read { try $0.task(task.id) } == task)
      for id in [UUID(), UUID(high: 0, low: 0)] {
        #expect(code { try store.writeAndWait { _ = try $0.update(id) { _ in } } } == .taskNotFound)
        #expect(code { try store.writeAndWait { _ = try $0.delete(id) } } == .taskNotFound)
        #expect(code { try store.writeAndWait { _ = try $0.complete(id) } } == .taskNotFound)
        #expect(code { try store.writeAndWait { _ = try $0.move(id, toList: nil) } } == .taskNotFound)
        #expect(try store.read { try $0.task(id) } == nil)
      }
    }
  }

  @Test func aDeletedTaskIsGoneAndItsCompletionStays() throws {
    try withStore { store in
      let list = try store.writeAndWait { try $0.addList(name: "Home") }
      let task = try store.writeAndWait { try $0.add("x", to: .list(list.id)) }
      let done = try store.writeAndWait { try $0.complete(task.id) }
      let deleted = try store.writeAndWait { try $0.delete(task.id) }
      #expect(deleted == done)
      #expect(try store.read { try $0.task(task.id) } == nil)
      #expect(try store.read { try $0.view(.completed(nil)).tasks }.isEmpty)
      #expect(try store.information().completionCount == 1)
      #expect(try store.read { try $0.list(list.id) } == list, "the list has not changed")
      try store.writeAndWait { transaction in
        let again = try transaction.add(TaskDraft(id: task.id, title: "again"))
        try transaction.complete(again.id, at: done.completedAt)
      }
      #expect(try store.information().completionCount == 1, "the same completion")
      try store.writeAndWait { _ = try $0.reopen(task.id) }
      #expect(try store.information().completionCount == 0, "reopening removes it")
    }
  }

  @Test func bulkInsertionKeepsEveryFieldAndIsAllOrNothing() throws {
    try withStore { store in
      let absent: Set<TaskField> = [.listID, .dueDay, .parentID, .cancelledAt]
      let full = try RecordTests.task(with: Set(TaskField.tagged).subtracting(absent))
      let plain = TaskItem(title: "plain", sortOrder: TaskItem.sortOrders.lowerBound, createdAt: .latest)
      try store.writeAndWait { try $0.insert(contentsOf: [full, plain]) }
      #expect(try store.read { try $0.task(full.id) } == full)
      #expect(try store.read { try $0.task(plain.id) } == plain)
      let fresh = TaskItem(title: "fresh", createdAt: .earliest)
      let strayed = TaskItem(title: "x", listID: UUID(), createdAt: .earliest)
      let undone = TaskItem(title: "x", state: .completed, createdAt: .earliest)
      for (tasks, expected) in [
        ([fresh, full], .duplicateID), ([fresh, fresh], .duplicateID), ([fresh, strayed], .listNotFound),
        ([fresh, undone], .inconsistentTask),
      ] as [([TaskItem], TallyError.Code)] {
        #expect(code { try store.writeAndWait { try $0.insert(contentsOf: tasks) } } == expected)
      }
      #expect(try store.read { try $0.taskCount } == 2)
    }
  }

  @Test func aChangeThatPutsAnotherTaskInItsPlaceIsRefused() throws {
    try withStore { store in
      let (first, second) = try store.writeAndWait {
        (try $0.add("first", to: .inbox), try $0.add("second", to: .today))
      }
      let error = #expect(throws: TallyError.self) {
        try store.writeAndWait { transaction in try transaction.update(first.id) { $0 = second } }
      }
      #expect(error?.code == .inconsistentTask)
      #expect(try store.read { try $0.task(first.id) } == first)
    }
  }
}
