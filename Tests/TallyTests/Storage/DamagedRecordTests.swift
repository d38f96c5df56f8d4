import Foundation
import LMDB
import TallyEngine
import TallyTestSupport
import Testing

@testable import Tally

/// Records that no version of Tally writes end in a typed error, never in a crash.
@Suite struct DamagedRecordTests {
  @Test func aTaskRecordCutAnywhereIsRefused() throws {
    let bytes = encoded(TaskRecord(item: try RecordTests.task(), stamp: RecordTests.stamp))
    // Between two fields a record may end: what follows is optional.
    let ends = try Self.fieldEnds(of: bytes)
    for count in bytes.indices where !ends.contains(count) {
      expectRefusal(of: bytes.prefix(count), as: TaskRecord.self)
    }
    #expect(try decoded(bytes, as: TaskRecord.self).unknown == UnknownFields())
  }

  @Test func aListRecordCutAnywhereIsRefused() throws {
    let bytes = encoded(ListRecord(item: TaskList(name: "Bücher", createdAt: .earliest), stamp: RecordTests.stamp))
    for count in bytes.indices { expectRefusal(of: bytes.prefix(count), as: ListRecord.self) }
    #expect(try decoded(bytes, as: ListRecord.self).unknown == UnknownFields())
  }

  @Test func aCompletionRecordCutAnywhereIsRefused() {
    let bytes = encoded(
      CompletionRecord(utcOffsetInMinutes: 60, createdAtMicroseconds: 1, classification: Classification(listID: UUID()))
    )
    for count in bytes.indices { expectRefusal(of: bytes.prefix(count), as: CompletionRecord.self) }
  }

  @Test func aHeaderCutAnywhereIsRefused() {
    let bytes = encoded(StoreHeader(storeID: UUID(), sequence: 7))
    for count in bytes.indices { expectRefusal(of: bytes.prefix(count), as: StoreHeader.self) }
  }

  @Test(arguments: [(0, 0), (0, 2), (1, 0), (1, 5), (1, 255)])
  func anUnknownFormatOrStateIsRefused(offset: Int, byte: Int) throws {
    var bytes = encoded(TaskRecord(item: try RecordTests.task(), stamp: RecordTests.stamp))
    bytes[offset] = UInt8(byte)
    expectRefusal(of: bytes[...], as: TaskRecord.self)
  }

  /// Offsets of the size of the title, of instants of the head, and of the values behind the title.
  @Test(arguments: [(2, 4), (14, 8), (22, 8), (55, 4), (61, 8), (71, 8), (99, 8)] as [(Int, Int)])
  func aNumberBeyondItsRangeIsRefused(offset: Int, width: Int) throws {
    for byte in [UInt8.min, .max] {
      var bytes = encoded(TaskRecord(item: try RecordTests.task(), stamp: RecordTests.stamp))
      bytes.replaceSubrange(offset..<(offset + width), with: repeatElement(byte, count: width))
      expectRefusal(of: bytes[...], as: TaskRecord.self)
    }
  }

  /// The offset ends the value of each of these fields.
  @Test(arguments: [TaskField.completedAt, .cancelledAt])
  func anImpossibleUTCOffsetIsRefused(field: TaskField) throws {
    var bytes = encoded(TaskRecord(item: try RecordTests.task(with: [field]), stamp: RecordTests.stamp))
    bytes.replaceSubrange((bytes.count - 2)..., with: [0x7F, 0xFF])
    expectRefusal(of: bytes[...], as: TaskRecord.self)
  }

  @Test(arguments: [(53, 1), (53, 0), (54, 3), (54, 5), (54, 255)])
  func fieldsOutOfOrderOrOfTheWrongSizeAreRefused(offset: Int, byte: Int) throws {
    var bytes = encoded(TaskRecord(item: try RecordTests.task(), stamp: RecordTests.stamp))
    #expect(bytes[53] == TaskField.scheduledDate.tag && bytes[54] == 4)
    bytes[offset] = UInt8(byte)
    expectRefusal(of: bytes[...], as: TaskRecord.self)
  }

  /// Where a record may end before its end: behind the title and each field.
  private static func fieldEnds(of bytes: [UInt8]) throws -> Set<Int> {
    var cursor = try unsafe TaskFields(bytes.span.bytes).cursor
    var ends: Set = [TaskRecord.headByteCount + 5]
    var end = TaskRecord.headByteCount + 5
    while try cursor.advance() {
      end += cursor.whole.byteCount
      ends.insert(end)
    }
    return ends
  }

  @Test func randomBytesNeverCrash() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "random records"))
    let task = encoded(TaskRecord(item: try RecordTests.task(), stamp: RecordTests.stamp))
    let list = encoded(ListRecord(item: TaskList(name: "x", createdAt: .earliest), stamp: RecordTests.stamp))
    for _ in 0..<20_000 {
      for (bytes, read) in [(task, readTask), (list, readList)] as [([UInt8], ([UInt8]) -> Void)] {
        var changed = bytes
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
          changed[Int.random(in: changed.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
        }
        read(changed)
      }
    }
  }

  private func readTask(_ bytes: [UInt8]) { _ = try? decoded(bytes, as: TaskRecord.self) }

  private func readList(_ bytes: [UInt8]) { _ = try? decoded(bytes, as: ListRecord.self) }

  private func expectRefusal<Record: BinaryCodable>(of bytes: ArraySlice<UInt8>, as type: Record.Type) {
    do {
      _ = try decoded(Array(bytes), as: type)
      Issue.record("\(bytes.count) bytes were taken for a \(type)")
    } catch let error as LMDBError {
      #expect(error.code == .undecodable)
    } catch {
      Issue.record("\(error)")
    }
  }
}
