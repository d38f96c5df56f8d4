import Foundation
import LMDB
import TallyEngine

/// A kind of event; the raw values are stored: do not change them, and leave zero unused.
enum CounterSeries: UInt8, CaseIterable {
  /// Completions, at their instant.
  case completed = 1
  /// Creations of tasks, at their instant.
  case created = 2
  /// Completions, at the local time recorded with them, as if it were UTC.
  case completedAsRecorded = 3
  /// Completions that precede their task's creation, at their instant.
  ///
  /// It happens because clocks differ and people log work later. Such a task was never open, so curves of open tasks
  /// leave out this series and `createdAfterCompletion`.
  case completedBeforeCreation = 4
  /// Creations of the tasks whose completion precedes their creation, at the instant of creation.
  case createdAfterCompletion = 5
  /// Open tasks, at the instant after which they are overdue.
  case openDue = 6
  /// Open tasks with a due day, at its first instant in UTC; the tasks of days before today are overdue.
  case openDueDay = 7
  /// Cancellations of tasks that exist, at their instant, but never before the task's creation.
  case cancelled = 8
}

/// Which tasks a counter counts.
enum CounterScope: Hashable {
  /// All tasks.
  case all
  /// Tasks in no list.
  case noList
  /// Tasks in one list.
  case list(UUID)
  /// Tasks with a tag, given by the tag's hash.
  case tag(UUID)
  /// Tasks with a priority other than `none`.
  case priority(Priority)

  static let width = 17

  /// The scope of the tasks in a list, or of those in none.
  init(listID: UUID?) {
    self = listID.map { .list($0) } ?? .noList
  }

  /// Stored: do not change.
  fileprivate var kindRawValue: UInt8 {
    switch self {
    case .all: 1
    case .noList: 2
    case .list: 3
    case .tag: 4
    case .priority: 5
    }
  }

  fileprivate var id: UUID {
    switch self {
    case .all, .noList: .lowest
    case .list(let id), .tag(let id): id
    case .priority(let priority): UUID(high: 0, low: UInt64(priority.rawValue))
    }
  }

  init(fields bytes: RawSpan) {
    switch bytes.load(bigEndianAt: 0, as: UInt8.self) {
    case 1: self = .all
    case 2: self = .noList
    case 4: self = .tag(bytes.load(idAt: 1))
    case 5: self = .priority(Priority(rawValue: bytes.load(bigEndianAt: Self.width - 1)) ?? .none)
    default: self = .list(bytes.load(idAt: 1))
    }
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(kindRawValue)
    output.append(id)
  }

  /// Whether the bytes at an offset encode this scope.
  fileprivate func isEncoded(in bytes: RawSpan, at offset: Int) -> Bool {
    bytes.load(bigEndianAt: offset) == kindRawValue && bytes.load(idAt: offset + 1).words == id.words
  }

  func precedes(_ other: CounterScope) -> Bool {
    kindRawValue == other.kindRawValue ? id.precedes(other.id) : kindRawValue < other.kindRawValue
  }
}

/// The key of `counts`: series, scope and block; 22 bytes.
///
/// The rows of one series and scope are contiguous and in the order of their days, so a long range is one scan. Cycle
/// times (from creation to completion) are stored in buckets under the series zero, see `CycleTimeBucket`.
struct BlockCountsKey: KeyCodable, Hashable {
  static let width = 5 + CounterScope.width
  let seriesRawValue: UInt8
  let scope: CounterScope
  let block: Int32

  var encodedByteCount: Int { Self.width }

  init(_ series: CounterSeries, _ scope: CounterScope, block: Int32) {
    self.init(seriesRawValue: series.rawValue, scope, block: block)
  }

  init(seriesRawValue: UInt8, _ scope: CounterScope, block: Int32) {
    self.seriesRawValue = seriesRawValue
    self.scope = scope
    self.block = block
  }

  init(decoding bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount == Self.width else { throw .undecodable("a counter's key has the wrong size") }
    seriesRawValue = bytes.load(bigEndianAt: 0)
    scope = CounterScope(fields: bytes.extracting(1..<(1 + CounterScope.width)))
    block = Self.block(bytes)
  }

  /// Whether an encoded key has the same series and scope.
  func isOfSameColumn(as bytes: RawSpan) -> Bool {
    bytes.byteCount == Self.width && bytes.load(bigEndianAt: 0) == seriesRawValue && scope.isEncoded(in: bytes, at: 1)
  }

  /// The block of an encoded key.
  static func block(_ bytes: RawSpan) -> Int32 {
    bytes.load(orderedInt32At: 1 + CounterScope.width)
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(seriesRawValue)
    scope.encode(into: &output)
    output.append(ordered: block)
  }
}

/// The key of `totals`: a series and a scope, over all time; 18 bytes.
struct TotalKey: KeyCodable, Hashable {
  static let width = 1 + CounterScope.width
  let seriesRawValue: UInt8
  let scope: CounterScope

  var encodedByteCount: Int { Self.width }

  init(_ series: CounterSeries, _ scope: CounterScope) {
    seriesRawValue = series.rawValue
    self.scope = scope
  }

  init(decoding bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount == Self.width else { throw .undecodable("a total's key has the wrong size") }
    seriesRawValue = bytes.load(bigEndianAt: 0)
    scope = CounterScope(fields: bytes.extracting(1..<(1 + CounterScope.width)))
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(seriesRawValue)
    scope.encode(into: &output)
  }
}

/// The events of one series and scope, in order, to be added to the counters or subtracted from them.
struct CounterColumn {
  /// The series; zero for cycle times (from creation to completion).
  private let seriesRawValue: UInt8
  private let scope: CounterScope
  /// The numbers of quarter hours, or of buckets of cycle times, shifted left by one; the lowest bit means subtraction.
  private let events: [Int32]

  /// The changes of the slots of one block, in ascending order of the slots.
  struct BlockChanges: Sequence {
    fileprivate let firstSlot: Int64
    fileprivate let events: ArraySlice<Int32>

    func makeIterator() -> Iterator { Iterator(changes: self, position: events.startIndex) }

    struct Iterator: IteratorProtocol {
      fileprivate let changes: BlockChanges
      fileprivate var position: Int

      mutating func next() -> (slot: UInt16, delta: Int64)? {
        let events = changes.events
        guard position < events.endIndex else { return nil }
        let number = events[position] >> 1
        var delta: Int64 = 0
        while position < events.endIndex, events[position] >> 1 == number {
          delta += events[position] & 1 == 0 ? 1 : -1
          position += 1
        }
        return (UInt16(Int64(number) - changes.firstSlot), delta)
      }
    }
  }

  init(seriesRawValue: UInt8, scope: CounterScope, sorting events: [Int32]) {
    self.seriesRawValue = seriesRawValue
    self.scope = scope
    self.events = events.sorted()
  }

  /// Calls a closure with the events of each block.
  func forEachBlock(_ body: (BlockCountsKey, BlockChanges) throws(LMDBError) -> Void) throws(LMDBError) {
    var start = events.startIndex
    while start < events.endIndex {
      let block = CounterBlock.number(containing: Int64(events[start] >> 1))
      let nextBlock = CounterBlock.firstQuarter(of: block + 1)
      var end = start + 1
      while end < events.endIndex, Int64(events[end] >> 1) < nextBlock { end += 1 }
      let changes = BlockChanges(firstSlot: CounterBlock.firstQuarter(of: block), events: events[start..<end])
      if !changes.isNothing { try body(BlockCountsKey(seriesRawValue: seriesRawValue, scope, block: block), changes) }
      start = end
    }
  }

  /// The change of the series' total; `nil` if there is none, and for cycle times, whose total equals that of the
  /// completions.
  var totalChange: (key: TotalKey, delta: Int64)? {
    guard let series = CounterSeries(rawValue: seriesRawValue) else { return nil }
    let delta: Int64 = events.reduce(0) { $0 + ($1 & 1 == 0 ? 1 : -1) }
    return delta == 0 ? nil : (TotalKey(series, scope), delta)
  }
}

extension CounterColumn.BlockChanges {
  /// Whether additions and subtractions cancel out: most changes of a task leave most counters unchanged.
  fileprivate var isNothing: Bool { allSatisfy { $0.delta == 0 } }
}

/// A counter over all time, the value in `totals`: 8 bytes.
struct Total: BinaryCodable, Equatable {
  /// More than any store can hold, and small enough that sums of many totals cannot overflow.
  private static let greatestCount: Int64 = 1 << 48

  let count: Int64

  var encodedByteCount: Int { MemoryLayout<Int64>.size }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    UInt64(count).encode(into: &output)
  }
}

extension Total {
  init(decoding bytes: RawSpan) throws(LMDBError) {
    let number = try UInt64(decoding: bytes)
    guard number <= UInt64(Self.greatestCount) else { throw .undecodable("a counter is out of its range") }
    count = Int64(number)
  }
}
