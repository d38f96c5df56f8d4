import Foundation
import LMDB
import TallyEngine
import TallyTestSupport
import Testing

@testable import Tally

@Suite struct RecordTests {
  /// Few fields, nearly all, and random ones; the long form tries each of the many combinations.
  @Test func everyCombinationOfPresentFieldsComesBack() throws {
    // Wall-clock times stand behind other fields; see FloatingTimesTests.
    let tagged = TaskField.tagged.filter(TaskField.shown.contains)
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "everyCombinationOfPresentFields"))
    let all = 0..<(1 << tagged.count)
    for bits in all where TestSize.isLong || Self.isExtreme(bits, of: tagged.count) || generator.oneIn(200) {
      let fields = tagged.enumerated().filter { bits & 1 << $0.offset != 0 }.map(\.element)
      // A task starts on a day or on none.
      if fields.contains(.startDay), fields.contains(.someday) { continue }
      let task = try Self.task(with: Set(fields))
      let bytes = encoded(TaskRecord(item: task, stamp: Self.stamp))
      let record = try unsafe TaskRecord(id: task.id, decoding: bytes.span.bytes)
      #expect(record.item.isIdentical(to: task))
      #expect(record.stamp == Self.stamp && record.unknown == UnknownFields())
      let tags = unsafe try Self.tags(of: bytes.span.bytes)
      #expect(tags == fields.map(\.tag), "the tags are those of the fields")
    }
  }

  /// Whether at most two bits are set, or at most two are not.
  private static func isExtreme(_ bits: Int, of count: Int) -> Bool {
    let present = bits.nonzeroBitCount
    return present <= 2 || present >= count - 2
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
      let bytes = encoded(TaskRecord(item: task, stamp: Self.stamp))
      #expect(try unsafe TaskRecord(id: task.id, decoding: bytes.span.bytes).item == task)
    }
  }

  @Test(arguments: NastyTexts.all)
  func textsComeBackByteForByte(text: String) throws {
    let task = TaskItem(title: text, notes: text, createdAt: .earliest)
    let bytes = encoded(TaskRecord(item: task, stamp: Self.stamp))
    let item = try unsafe TaskRecord(id: task.id, decoding: bytes.span.bytes).item
    #expect(Array(item.title.utf8) == Array(text.utf8))
    #expect(Array((item.notes ?? "").utf8) == Array(text.utf8))
    let list = TaskList(name: text, createdAt: .earliest)
    let listBytes = encoded(ListRecord(item: list, stamp: Self.stamp))
    let name = try unsafe ListRecord(id: list.id, decoding: listBytes.span.bytes).item.name
    #expect(Array(name.utf8) == Array(text.utf8))
  }

  @Test(arguments: ["000000", "FFFFFF", "007AFF", "00000A", "A00000"])
  func coloursComeBackWithAllTheirDigits(colorHex: String) throws {
    let list = TaskList(name: "x", colorHex: colorHex, sortOrder: -5, createdAt: .latest)
    let bytes = encoded(ListRecord(item: list, stamp: Self.stamp))
    #expect(try unsafe ListRecord(id: list.id, decoding: bytes.span.bytes).item == list)
  }

  @Test func aSequenceThatCannotBeCountedOnIsRefused() {
    let bytes = encoded(StoreHeader(storeID: UUID(), sequence: UInt64(Int64.max)))
    #expect(throws: LMDBError.self) { let _: StoreHeader = try decoded(bytes) }
  }

  @Test func completionsAndHeadersComeBack() throws {
    for (listID, offset) in [(nil, Int16(-1_439)), (UUID.lowest, 1_439), (UUID(), 0)] as [(UUID?, Int16)] {
      let record = CompletionRecord(
        utcOffsetInMinutes: offset, createdAtMicroseconds: .min,
        classification: Classification(listID: listID, tags: ["a", "b"], priority: .low))
      #expect(try decoded(encoded(record)) == record)
    }
    let header = StoreHeader(storeID: UUID(), sequence: UInt64(Int64.max) - 1)
    #expect(try decoded(encoded(header)) == header)
  }

  @Test func unknownFieldsKeepTheirPlacesBetweenTheKnownOnes() throws {
    let bytes = encoded(TaskRecord(item: try Self.task(), stamp: Self.stamp))
    let long: [UInt8] = [200, 255, 0, 0, 1, 44] + Array(repeating: 7, count: 300)
    let newer = bytes + [100, 2, 1, 2] + long
    let record = try unsafe TaskRecord(id: .lowest, decoding: newer.span.bytes)
    #expect(record.unknown.bytes == [100, 2, 1, 2] + long)
    #expect(encoded(record) == newer)
    // A field between two that this version knows, as an older version finds one.
    var old = TaskRecord(item: try Self.task(with: [.notes, .completedAt]), stamp: Self.stamp)
    let between = encoded(TaskRecord(item: try Self.task(with: [.dueDate]), stamp: Self.stamp)).suffix(10)
    var cursor = unsafe FieldCursor(Array(between).span.bytes, from: 0)
    #expect(try cursor.advance())
    old.unknown.append(cursor)
    #expect(try unsafe Self.tags(of: encoded(old).span.bytes) == [1, 3, 6])
  }

  static let stamp = ChangeStamp(replacing: ChangeStamp(replacing: nil, at: 3), at: 5)

  private static func tags(of record: RawSpan) throws -> [UInt8] {
    var cursor = try TaskFields(record).cursor
    var tags: [UInt8] = []
    while try cursor.advance() { tags.append(cursor.tag) }
    return tags
  }

  /// A task with every optional field, or only some of them.
  static func task(with fields: Set<TaskField> = Set(TaskField.tagged.filter(TaskField.shown.contains))) throws
    -> TaskItem
  {
    let instant = try Timestamp(iso8601: "2026-11-21T09:00:00.000001Z")
    var task = TaskItem(
      title: "täsk", notes: "", scheduledDate: try CalendarDay(iso8601: "1969-12-31"), dueDate: instant,
      reminderDate: instant.adding(seconds: -1), listID: UUID(), sortOrder: -1, createdAt: instant,
      updatedAt: instant.adding(seconds: 1), completedAt: try OffsetTimestamp(instant, utcOffsetInMinutes: -210),
      dueDay: try CalendarDay(iso8601: "2026-11-30"), priority: .medium, tags: ["Ünal", "home"], parentID: UUID(),
      recurrence: try Recurrence(text: "FREQ=WEEKLY;INTERVAL=2"),
      series: RecurrenceSeries(id: UUID(), start: .earliest, occurrence: .latest, index: 7),
      attributes: [
        "text": "a\0b", "integer": -3, "real": 0.5, "flag": true, "instant": .instant(instant),
        "day": .day(.earliest), "bytes": .bytes([0, 255]),
      ], cancelledAt: try OffsetTimestamp(instant.adding(seconds: 2), utcOffsetInMinutes: 345),
      dependsOn: [UUID(), UUID()],
      otherReminders: [
        .at(instant), .at(.earliest), .before(try RelativeReminder(daysBefore: 3_650, atMinute: 1_439)),
        .before(try RelativeReminder(minutesBefore: RelativeReminder.maximumMinutes, .scheduled)),
      ], start: .day(.latest))
    for field in TaskField.tagged where !fields.contains(field) { task[field] = nil }
    if fields.contains(.someday), !fields.contains(.startDay) { task.start = .someday }
    task.state = task.completedAt == nil ? .active : .completed
    return task
  }
}
