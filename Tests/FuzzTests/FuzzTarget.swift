import ArgumentParser
import Foundation
import LMDB
import SystemPackage
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
  /// Days and instants, as documents and people write them.
  case instants
  /// Links from other programs.
  case links
  /// The arguments of the command line, one per line.
  case arguments

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
    case .instants: try readInstants(String(decoding: bytes, as: UTF8.self))
    case .links:
      try expectSame(String(decoding: bytes, as: UTF8.self), read: { try TaskLink($0) }, write: { $0.text() })
    case .arguments: try readArguments(String(decoding: bytes, as: UTF8.self))
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
    for clock in Self.clocks {
      try expectTyped { _ = try clock.day(text) }
      for bareDay in [TimeOfBareDay.endOfDay, .morning, .mustBeGiven] {
        try expectTyped { _ = try clock.instant(text, bareDay: bareDay) }
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
