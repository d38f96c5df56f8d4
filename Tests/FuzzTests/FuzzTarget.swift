import ArgumentParser
import Foundation
import LMDB
import SystemPackage
import TallyEngine
import TallyTestSupport

@testable import Tally
@testable import TallyCommands

/// A reader of untrusted bytes: any input must give a value or a typed error.
enum FuzzTarget: String, CaseIterable {
  /// Records and keys of a data file; the first byte selects which.
  case records
  /// A document to import.
  case json
  /// Lines to import.
  case ndjson
  /// A document of another program; the first byte selects the format.
  case formats
  /// Days and instants, as documents and people write them.
  case instants
  /// Sentences from which a task is read.
  case sentences
  /// Links from other programs.
  case links
  /// Filters of tasks.
  case filters
  /// The arguments of the command line, one per line.
  case arguments
  /// Changes of the data file of a store, whose pages are walked before anything else reads it.
  case pages
  /// Changes of the history of a store, from whose images undo restores.
  case history
  /// A file of the tz database.
  case zones
  /// The journal of reminders.
  case journal
  /// Segments of other replicas, and what they contain.
  case segments
  /// Parts of snapshots.
  case snapshots
  /// Bodies of segments and snapshots that are sealed, opened and merged.
  case merges
  /// Cards of other replicas, and wrapped keys.
  case cards
  /// Names of files in the folder of a space.
  case names
  /// Invitations and recovery codes, as people copy them.
  case invitations

  /// A result that must not happen.
  struct Finding: Error, CustomStringConvertible {
    let description: String
  }

  /// Reads the bytes; throws a ``Finding`` if the result is wrong.
  func run(_ bytes: [UInt8]) throws {
    switch self {
    case .records: try readRecord(bytes)
    case .json: try FuzzStore.shared.importDocument(bytes, .json)
    case .ndjson: try FuzzStore.shared.importDocument(bytes, .ndjson)
    case .formats: try FuzzStore.shared.importDry(bytes)
    case .instants: try readInstants(String(decoding: bytes, as: UTF8.self))
    case .sentences: try readSentence(String(decoding: bytes, as: UTF8.self))
    case .links:
      try expectSame(String(decoding: bytes, as: UTF8.self), read: { try TaskLink($0) }, write: { $0.text() })
    case .filters:
      try expectSame(String(decoding: bytes, as: UTF8.self), read: { try TaskFilter(text: $0) }, write: \.text)
    case .arguments: try readArguments(String(decoding: bytes, as: UTF8.self))
    case .pages: try FuzzFiles.shared.walkPages(changedBy: bytes)
    case .history: try FuzzFiles.shared.readHistory(changedBy: bytes)
    case .zones: try readZone(bytes)
    case .journal: try FuzzFiles.shared.readJournal(bytes)
    case .segments: try readSegments(bytes)
    case .snapshots: try readSnapshotPart(bytes)
    case .merges: try mergeContent(bytes)
    case .cards: try readCard(bytes)
    case .names: try readNames(String(decoding: bytes, as: UTF8.self))
    case .invitations: try readKeyText(String(decoding: bytes, as: UTF8.self))
    }
  }

  private func readRecord(_ bytes: [UInt8]) throws {
    let types: [any BinaryCodable.Type] = [
      TaskRecord.self, ListRecord.self, CompletionRecord.self, StoreHeader.self, BlockCounts.self, CompletionKey.self,
      PlaceKey.self, DayKey.self, DueKey.self, OrderKey.self, InstantKey.self, TailKey.self, DeletedCreationKey.self,
      BlockCountsKey.self, TotalKey.self, MetaKey.self, IDKey.self,
    ]
    guard let first = bytes.first else { return }
    let type = types[Int(first) % types.count]
    do throws(LMDBError) {
      try decode(Array(bytes.dropFirst()), as: type)
    } catch {
      if error.code != .undecodable { throw Finding(description: "\(type): \(error)") }
    }
  }

  private func decode<Value: BinaryCodable>(_ bytes: [UInt8], as type: Value.Type) throws(LMDBError) {
    // Unsafe by signature only: bytes have no padding.
    let value = try unsafe Value(decoding: bytes.span.bytes)
    // A record that can be read is checked next, whatever its values.
    if let record = value as? TaskRecord { try? record.item.validate() }
    if let record = value as? ListRecord { try? record.item.validate() }
  }

  private static let clocks = ["UTC", "America/Sao_Paulo", "Pacific/Apia"].map { zone in
    LocalClock(now: TestClock.noon.now, in: NamedTimeZone(iana: zone) ?? .utc)
  }

  private func readInstants(_ text: String) throws {
    try expectSame(text, read: { try CalendarDay(iso8601: $0) }, write: \.iso8601)
    try expectSame(text, read: { try Timestamp(iso8601: $0) }, write: \.iso8601)
    try expectSame(text, read: { try OffsetTimestamp(iso8601: $0) }, write: \.iso8601)
    try expectSame(text, read: { try DateExpression($0) }, write: \.description)
    for clock in Self.clocks {
      for direction in [DateReference.Direction.forward, .backward] {
        try expectTyped { _ = try clock.day(text, of: "--on", looking: direction) }
        for bareDay in [TimeOfBareDay.end, .morning, .required] {
          try expectTyped { _ = try clock.instant(text, of: "--at", bareDay: bareDay, looking: direction) }
        }
      }
    }
  }

  private func readSentence(_ text: String) throws {
    let isBlank = text.unicodeScalars.allSatisfy(\.properties.isWhitespace)
    for clock in Self.clocks {
      let entry = QuickEntry.parse(text, reference: try clock.reference(), lists: ["Work", "a"])
      guard entry.title.isEmpty == isBlank else { throw Finding(description: "the title is “\(entry.title)”") }
      let places = entry.parts.flatMap { [$0.range.lowerBound, $0.range.upperBound] }
      guard zip(places, places.dropFirst()).allSatisfy({ $0 <= $1 }) else {
        throw Finding(description: "the parts are out of order")
      }
    }
  }

  /// A value must be the same after writing and reading it again.
  private func expectSame<Value: Equatable>(
    _ text: String, read: (String) throws -> Value, write: (Value) -> String
  ) throws {
    var value: Value?
    try expectTyped { value = try read(text) }
    guard let value else { return }
    guard try read(write(value)) == value else { throw Finding(description: "\(value) reads back as another value") }
  }

  private func expectTyped(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error where error is TallyError || error is CommandFailure {
      // The expected end of bad input.
    } catch {
      throw Finding(description: "\(error)")
    }
  }

  /// Offsets are those of clocks, and looking for changes always gets further.
  private func readZone(_ bytes: [UInt8]) throws {
    guard let table = TimeZoneTable(tzif: bytes) else { return }
    var second: Int64 = -(1 << 41)
    for _ in 0..<300 {
      // Where a rule's offset is the standard one and an hour, it may be more than a day.
      guard abs(table.offset(atSecond: second)) < 2 * 86_400 else { throw Finding(description: "an offset of days") }
      guard let next = table.change(afterSecond: second), next < 1 << 41 else { return }
      guard next > second else { throw Finding(description: "no change after \(second) but at \(next)") }
      second = next
    }
  }

  /// Parses only: a command could write wherever its arguments say.
  private func readArguments(_ text: String) throws {
    let arguments = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    do {
      _ = try RootCommand.parseAsRoot(arguments)
    } catch {
      let failure = CommandFailure(parsing: error, arguments: arguments)
      if failure.status == .internalFault { throw Finding(description: failure.text) }
    }
  }
}
