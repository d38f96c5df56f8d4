import Foundation
import LMDB
import TallyTestSupport
import Testing

@testable import Tally

/// Records that no version of Tally writes end in a typed error, never in a crash.
@Suite struct DamagedRecordTests {
  @Test func aTaskRecordCutAnywhereIsRefused() throws {
    let bytes = encoded(TaskRecord(item: try RecordTests.task(with: .known)))
    for count in bytes.indices { expectRefusal(of: bytes.prefix(count), as: TaskRecord.self) }
    #expect(try decoded(bytes, as: TaskRecord.self).trailing.isEmpty)
  }

  @Test func aListRecordCutAnywhereIsRefused() throws {
    let bytes = encoded(ListRecord(list: TaskList(name: "Bücher", createdAt: .earliest)))
    for count in bytes.indices { expectRefusal(of: bytes.prefix(count), as: ListRecord.self) }
    #expect(try decoded(bytes, as: ListRecord.self).trailing.isEmpty)
  }

  @Test func aCompletionRecordCutAnywhereIsRefused() {
    let bytes = encoded(CompletionRecord(utcOffsetInMinutes: 60, createdAtMicroseconds: 1, listID: UUID()))
    for count in bytes.indices { expectRefusal(of: bytes.prefix(count), as: CompletionRecord.self) }
  }

  @Test func aHeaderCutAnywhereIsRefused() {
    let bytes = encoded(StoreHeader(storeID: UUID(), sequence: 7))
    for count in bytes.indices { expectRefusal(of: bytes.prefix(count), as: StoreHeader.self) }
  }

  @Test(arguments: [(0, 0), (0, 2), (1, 0), (1, 4), (1, 255)])
  func anUnknownFormatOrStateIsRefused(offset: Int, byte: Int) throws {
    var bytes = encoded(TaskRecord(item: try RecordTests.task(with: .known)))
    bytes[offset] = UInt8(byte)
    expectRefusal(of: bytes[...], as: TaskRecord.self)
  }

  @Test(arguments: [(4, 4), (16, 8), (24, 8), (32, 8), (40, 8), (48, 8), (56, 2), (76, 4), (80, 4)])
  func aNumberBeyondItsRangeIsRefused(offset: Int, width: Int) throws {
    for byte in [UInt8.min, .max] {
      var bytes = encoded(TaskRecord(item: try RecordTests.task(with: .known)))
      bytes.replaceSubrange(offset..<(offset + width), with: repeatElement(byte, count: width))
      // An offset of zero or −1 minutes, and empty texts followed by bytes, are possible.
      if width == 2 || byte == 0 && offset >= 76 { continue }
      expectRefusal(of: bytes[...], as: TaskRecord.self)
    }
  }

  @Test func anImpossibleUTCOffsetIsRefused() throws {
    var bytes = encoded(TaskRecord(item: try RecordTests.task(with: .known)))
    bytes.replaceSubrange(56..<58, with: [0x7F, 0xFF])
    expectRefusal(of: bytes[...], as: TaskRecord.self)
  }

  @Test func randomBytesNeverCrash() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "random records"))
    let task = encoded(TaskRecord(item: try RecordTests.task(with: .known)))
    let list = encoded(ListRecord(list: TaskList(name: "x", createdAt: .earliest)))
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
