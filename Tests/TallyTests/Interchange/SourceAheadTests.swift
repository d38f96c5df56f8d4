import Foundation
import TallySystem
import Testing

@testable import Tally

@Suite struct SourceAheadTests {
  /// Reads all records, with the date of the document that was known at each.
  private func read(
    _ source: consuming some DocumentSource & ~Copyable
  ) -> (records: [String], dates: [Timestamp?], error: (any Error)?) {
    var records: [String] = []
    var dates: [Timestamp?] = []
    do {
      while let (record, position) = try source.next() {
        records.append("\(position.line): \(record.title ?? "")")
        dates.append(source.exportDate)
      }
    } catch {
      return (records, dates, error)
    }
    return (records, dates, nil)
  }

  @Test func readsWhatTheSourceReads() {
    for count in [0, 1, 255, 256, 257, 1_000, 20_000] {
      let (plain, ahead) = (read(NumberedSource(count)), read(SourceAhead(NumberedSource(count))))
      #expect(ahead.records == plain.records && ahead.records.count == count)
      #expect(ahead.error == nil)
    }
  }

  /// What a document overrides depends on the date that it has said by then.
  @Test func eachRecordHasTheDateThatWasKnownThen() {
    for dateIndex in [0, 1, 100, 256, 300, 999] {
      let (plain, ahead) = (
        read(NumberedSource(1_000, dateIndex: dateIndex)),
        read(SourceAhead(NumberedSource(1_000, dateIndex: dateIndex)))
      )
      #expect(ahead.dates == plain.dates, "date at \(dateIndex)")
      #expect(ahead.dates.lastIndex(of: nil).map { $0 + 1 } ?? 0 == dateIndex)
    }
  }

  @Test func anErrorComesAfterTheRecordsBeforeIt() {
    for faultIndex in [0, 1, 256, 3_000] {
      let ahead = read(SourceAhead(NumberedSource(5_000, faultIndex: faultIndex)))
      #expect(ahead.records.count == faultIndex)
      #expect(ahead.error as? NumberedSource.Fault == NumberedSource.Fault(index: faultIndex))
    }
  }

  @Test func readsAheadOnlySoFar() throws {
    let reads = ReadCount()
    var ahead = SourceAhead(NumberedSource(100_000, reads: reads))
    _ = try ahead.next()
    // The piece in use, those that are ready, and the one that must wait for room.
    #expect(reads.comesToRest(at: 18 * 256))
    for _ in 0..<256 { _ = try ahead.next() }
    #expect(reads.comesToRest(at: 19 * 256))
  }

  /// Records of a megabyte: four of them wait, and not four thousand.
  @Test func longRecordsAreNotKeptByTheHundred() throws {
    let reads = ReadCount()
    var ahead = SourceAhead(NumberedSource(1_000, byteCountEach: 1 << 20, reads: reads))
    _ = try ahead.next()
    #expect(reads.comesToRest(at: 6))
  }

  /// The system may refuse a thread, and Foundation does not say so.
  @Test func withoutAThreadTheTakerReads() throws {
    #expect(read(SourceAhead(NumberedSource(2_000)) { _ in }).records == read(NumberedSource(2_000)).records)
  }

  @Test func aThreadThatBeginsTooLateReadsNothing() throws {
    let reads = ReadCount()
    let late = Monitor<(@Sendable () -> Void)?>(nil)
    do {
      var ahead = SourceAhead(NumberedSource(2_000, reads: reads)) { body in late.withLock { $0 = body } }
      for _ in 0..<300 { _ = try ahead.next() }
      #expect(reads.count.withLock { $0 } == 512)
      late.withLock { $0 }?()
      #expect(reads.count.withLock { $0 } == 512)
      while try ahead.next() != nil {}
      #expect(reads.count.withLock { $0 } == 2_000)
    }
  }

  @Test func nobodyReadsAfterItsEnd() throws {
    let reads = ReadCount()
    do {
      var ahead = SourceAhead(NumberedSource(1_000_000, reads: reads))
      _ = try ahead.next()
    }
    let count = reads.count.withLock { $0 }
    #expect(reads.sources.wait(atMost: .seconds(20)) { $0 == 0 ? true : nil } == true)
    #expect(reads.count.withLock { $0 } == count)
  }
}

/// How many records have been read.
private final class ReadCount: Sendable {
  let count = Monitor(0)
  /// How many sources there are.
  let sources = Monitor(0)

  func addSources(_ change: Int) {
    sources.withLock { $0 += change }
    sources.wakeAll()
  }

  /// Whether a number of records is read, and no more for a moment.
  func comesToRest(at number: Int) -> Bool {
    count.wait(atMost: .seconds(20)) { $0 >= number ? true : nil }
    Thread.sleep(forTimeInterval: 0.05)
    return count.withLock { $0 } == number
  }

  func note() {
    count.withLock { $0 += 1 }
    count.wakeAll()
  }
}

/// Some tasks that are named after their numbers.
private struct NumberedSource: DocumentSource, ~Copyable {
  struct Fault: Error, Equatable {
    let index: Int
  }

  private let taskCount: Int
  private let dateIndex: Int?
  private let faultIndex: Int?
  private let byteCountEach: Int64
  private let reads: ReadCount?
  private var index = 0

  init(
    _ taskCount: Int, dateIndex: Int? = nil, faultIndex: Int? = nil, byteCountEach: Int64 = 100, reads: ReadCount? = nil
  ) {
    self.taskCount = taskCount
    self.dateIndex = dateIndex
    self.faultIndex = faultIndex
    self.byteCountEach = byteCountEach
    self.reads = reads
    reads?.addSources(1)
  }

  deinit { reads?.addSources(-1) }

  var byteCount: Int64 { Int64(index) * byteCountEach }
  var exportDate: Timestamp? { dateIndex.flatMap { index > $0 ? Timestamp.earliest : nil } }

  mutating func next() throws -> (record: DocumentRecord, position: TextPosition)? {
    if index == faultIndex { throw Fault(index: index) }
    guard index < taskCount else { return nil }
    index += 1
    reads?.note()
    var task = TaskDocument()
    task[.text] = .text("\(index)")
    return (.task(task), TextPosition(line: index, column: 1))
  }
}

extension DocumentRecord {
  fileprivate var title: String? {
    if case .task(let task) = self { return task[.text]?.text }
    return nil
  }
}
