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
