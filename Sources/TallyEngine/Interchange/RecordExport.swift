public import Foundation
import SystemPackage
import TallySystem

/// The result of an export of records.
public struct RecordExportSummary: Hashable, Sendable {
  /// The number of records, which is that of lines.
  public internal(set) var recordCount = 0
  /// The size of the lines, in bytes.
  public internal(set) var byteCount: Int64 = 0
}

extension Store {
  /// Exports a collection to a file, one record a line as JSON, while readers and writers continue.
  ///
  /// ```swift
  /// try await store.exportRecords(Workout.self, to: folder.appending(path: "workouts.ndjson"))
  /// ```
  ///
  /// It is written from one snapshot to a temporary file next to the target, flushed and renamed: an existing file is
  /// replaced as a whole, or not at all. Only its owner may read it. ``RecordQueries/exportRecords(_:to:)-(_,URL)`` has
  /// the form of a line, and exports several collections as of one commit.
  ///
  /// - Returns: the numbers of what was exported.
  /// - Throws: what ``RecordQueries/exportRecords(_:to:)-(_,URL)`` throws, and what `read` throws.
  @discardableResult
  public func exportRecords<Record: StoredRecord & Encodable>(
    _ type: Record.Type, to file: URL
  ) async throws -> RecordExportSummary {
    try await Self.perform { try self.read { try $0.exportRecords(Record.self, to: file) } }
  }
}

extension RecordQueries where Self: ~Copyable {
  /// Exports a collection to a file, one record a line as JSON.
  ///
  /// A line is what the record's own coding gives, in the order of the ids: its keys in the order in which the type
  /// codes them, and those of an object inside it in ascending order. Dates are ISO 8601 in UTC with as many digits as
  /// they need, `Data` is base64, ids are in lower case, a value that is `nil` is left out. Numbers have the shortest
  /// digits that are read as the same number. Fields that a later version of the type has stored are not exported. A
  /// ``BinaryRecord`` is exported if it is also `Codable`.
  ///
  /// ```swift
  /// try store.read { reader in
  ///   try reader.exportRecords(Workout.self, to: folder.appending(path: "workouts.ndjson"))
  ///   try reader.exportRecords(Shoe.self, to: folder.appending(path: "shoes.ndjson"))
  /// }
  /// ```
  ///
  /// - Returns: the numbers of what was exported.
  /// - Throws: `invalidValue` for a number that is not finite or a date outside the years 1 to 9999;
  ///   `outputNotCreated`, `diskFull`; `cancelled` if the Swift task was cancelled; what decoding and the storage throw.
  ///   Then an old file is unchanged.
  /// - Complexity: one or two microseconds a record; memory does not grow with the collection.
  @discardableResult
  public func exportRecords<Record: StoredRecord & Encodable>(
    _ type: Record.Type, to file: URL
  ) throws -> RecordExportSummary {
    let output = try AtomicFile.create(replacing: FilePath(of: file, else: .outputNotCreated))
    let descriptor = output.descriptor
    let summary = try exportRecords(type) { block in
      _ = try TallyError.replacing(TallyError.unwritableOutput) { try descriptor.writeAll(block) }
    }
    try output.commit()
    return summary
  }

  /// Exports a collection to whatever takes bytes, one record a line as JSON.
  ///
  /// ```swift
  /// try store.read { try $0.exportRecords(Workout.self) { try handle.write(contentsOf: $0) } }
  /// ```
  ///
  /// - Parameters:
  ///   - type: the type of the records.
  ///   - write: takes the next bytes: whole lines, a few hundred kilobytes of them unless one record is longer.
  /// - Returns: the numbers of what was exported.
  /// - Throws: what ``exportRecords(_:to:)-(_,URL)`` throws, and what the closure throws.
  @discardableResult
  public func exportRecords<Record: StoredRecord & Encodable>(
    _ type: Record.Type, to write: (Data) throws -> Void
  ) throws -> RecordExportSummary {
    var text = RecordText(of: try snapshot.tables.tables(of: type).collection.name)
    var summary = RecordExportSummary()
    func writeBlock() throws {
      try TallyError.checkCancellation()
      summary.byteCount += Int64(text.bytes.count)
      try write(Data(text.bytes))
      text.bytes.removeAll(keepingCapacity: true)
    }
    try TallyError.checkCancellation()
    try forEach(type) { record in
      try text.append(record)
      summary.recordCount += 1
      if text.bytes.count >= RecordExportSummary.blockByteCount { try writeBlock() }
      return true
    }
    if !text.bytes.isEmpty { try writeBlock() }
    return summary
  }
}

extension RecordExportSummary {
  fileprivate static var blockByteCount: Int { 256 << 10 }
}
