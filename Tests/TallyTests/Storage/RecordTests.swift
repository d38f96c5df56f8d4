import Foundation
import LMDB
import TallyTestSupport
import Testing

@testable import Tally

@Suite struct RecordTests {
  @Test func everyCombinationOfPresentFieldsComesBack() throws {
    for bits in UInt16(0)..<64 {
      let task = try Self.task(with: TaskPresence(rawValue: bits))
      let bytes = encoded(TaskRecord(item: task))
      let record = try unsafe TaskRecord(id: task.id, decoding: bytes.span.bytes)
      #expect(record.item.isIdentical(to: task))
      #expect(record.trailing.isEmpty)
      #expect(bytes[2] == 0 && bytes[3] == UInt8(bits), "the presence bits are those of the fields")
    }
  }

  @Test func aTaskAtTheEndsOfEveryRangeComesBack() throws {
    for (day, instant, order, offset) in [
      (CalendarDay.earliest, Timestamp.earliest, TaskItem.sortOrders.lowerBound, 1_439),
      (.latest, .latest, TaskItem.sortOrders.upperBound, -1_439),
    ] {
      let task = TaskItem(
        id: UUID(high: .max, low: .max),
        title: "x",
        state: .completed,
        scheduledDate: day,
        dueDate: instant,
        reminderDate: instant,
        listID: .lowest,
        sortOrder: order,
        createdAt: instant,
        completedAt: try OffsetTimestamp(instant, utcOffsetInMinutes: offset)
      )
      let bytes = encoded(TaskRecord(item: task))
      #expect(try unsafe TaskRecord(id: task.id, decoding: bytes.span.bytes).item == task)
    }
  }

  @Test(arguments: NastyTexts.all)
  func textsComeBackByteForByte(text: String) throws {
    let task = TaskItem(title: text, notes: text, createdAt: .earliest)
    let bytes = encoded(TaskRecord(item: task))
    let item = try unsafe TaskRecord(id: task.id, decoding: bytes.span.bytes).item
    #expect(Array(item.title.utf8) == Array(text.utf8))
    #expect(Array((item.notes ?? "").utf8) == Array(text.utf8))
    let list = TaskList(name: text, createdAt: .earliest)
    let listBytes = encoded(ListRecord(list: list))
    let name = try unsafe ListRecord(id: list.id, decoding: listBytes.span.bytes).list.name
    #expect(Array(name.utf8) == Array(text.utf8))
  }

  @Test(arguments: ["000000", "FFFFFF", "007AFF", "00000A", "A00000"])
  func coloursComeBackWithAllTheirDigits(colorHex: String) throws {
    let list = TaskList(name: "x", colorHex: colorHex, sortOrder: -5, createdAt: .latest)
    let bytes = encoded(ListRecord(list: list))
    #expect(try unsafe ListRecord(id: list.id, decoding: bytes.span.bytes).list == list)
  }

  @Test func aSequenceThatCannotBeCountedOnIsRefused() {
    let bytes = encoded(StoreHeader(storeID: UUID(), sequence: UInt64(Int64.max)))
    #expect(throws: LMDBError.self) { let _: StoreHeader = try decoded(bytes) }
  }

  @Test func completionsAndHeadersComeBack() throws {
    for (listID, offset) in [(nil, Int16(-1_439)), (UUID.lowest, 1_439), (UUID(), 0)] as [(UUID?, Int16)] {
      let record = CompletionRecord(utcOffsetInMinutes: offset, createdAtMicroseconds: .min, listID: listID)
      #expect(try decoded(encoded(record)) == record)
    }
    let header = StoreHeader(storeID: UUID(), sequence: UInt64(Int64.max) - 1)
    #expect(try decoded(encoded(header)) == header)
  }

  /// Every field present, or only those of some presence bits.
  static func task(with presence: TaskPresence) throws -> TaskItem {
    let instant = try Timestamp(iso8601: "2026-11-21T09:00:00.000001Z")
    let isCompleted = presence.contains(.completedAt)
    return TaskItem(
      title: "täsk",
      notes: presence.contains(.notes) ? "" : nil,
      state: isCompleted ? .completed : .active,
      scheduledDate: presence.contains(.scheduledDate) ? try CalendarDay(iso8601: "1969-12-31") : nil,
      dueDate: presence.contains(.dueDate) ? instant : nil,
      reminderDate: presence.contains(.reminderDate) ? instant.adding(seconds: -1) : nil,
      listID: presence.contains(.list) ? UUID() : nil,
      sortOrder: -1,
      createdAt: instant,
      updatedAt: instant.adding(seconds: 1),
      completedAt: isCompleted ? try OffsetTimestamp(instant, utcOffsetInMinutes: -210) : nil
    )
  }
}
