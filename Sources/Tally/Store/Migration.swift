import LMDB
import Logging
import SystemPackage
import TallySystem

/// The formats of stores, and the way from each to the next.
///
/// Major formats only: a minor one adds what older versions keep and pass over.
struct MigrationTable: Sendable {
  /// Brings a store from one major format to the next, in the transaction that also writes the header.
  typealias Step = @Sendable (inout WriteTransaction) throws -> Void

  /// The major format that this version writes.
  let current: UInt16
  /// The step from each older format, by its number.
  let steps: [UInt16: Step]

  /// Format 1 is the first.
  static let shipped = MigrationTable(current: StoreHeader.currentMajorFormat, steps: [:])
}

extension StoreOpening {
  /// Opens the environment, after bringing an older format to the current one.
  func openMigrated() throws -> OpenEnvironment {
    let opened = try openEnvironment(.shared)
    do {
      guard let header = try Self.header(in: opened.environment), header.majorFormat < migrations.current else {
        return opened
      }
    } catch {
      opened.close()
      throw error
    }
    opened.close()
    guard !configuration.isReadOnly else { throw TallyError.olderFormat }
    try migrate()
    return try openEnvironment(.shared)
  }

  /// Brings the store to the current format in one transaction, after keeping it as it was.
  private func migrate() throws {
    let opened = try openEnvironment(.exclusive)
    defer { opened.close() }
    // Another process may have been first.
    guard let header = try Self.header(in: opened.environment), header.majorFormat < migrations.current else { return }
    let steps = try migrations.steps(from: header)
    _ = try TallyError.translatingErrno { try keepCopy(of: opened.environment, because: .migration) }
    _ = try migrations.run(steps, from: header, in: opened.environment)
    configuration.logger.notice("migrated the store", metadata: ["format": "\(migrations.current)"])
  }
}

extension MigrationTable {
  /// The steps from a store's format to the current one; none where that is its own.
  func steps(from header: StoreHeader) throws -> [Step] {
    try (min(header.majorFormat, current)..<current).map { format in
      guard let step = steps[format] else { throw TallyError.noMigration }
      return step
    }
  }

  /// Brings a store to the current format in one transaction.
  ///
  /// - Returns: the header as it is then.
  func run(_ steps: [Step], from header: StoreHeader, in environment: Environment) throws -> StoreHeader {
    guard !steps.isEmpty else { return header }
    var migrated = header
    migrated.majorFormat = current
    migrated.minorFormat = StoreHeader.currentMinorFormat
    migrated.sequence += 1
    let meta = try Database<MetaKey, StoreHeader>(opening: "meta", in: environment)
    try environment.write { transaction in
      for step in steps { try step(&transaction) }
      try meta.put(migrated, forKey: .header, in: &transaction)
    }
    return migrated
  }
}

extension TallyError {
  static let olderFormat = TallyError(
    .permissionDenied, "The store has an older format and has been opened for reading only",
    remedy: "Open it for writing once, as any change does; the store as it was is then kept beside it")

  static let noMigration = TallyError(
    .internalFault, "There is no way from the store's format to the current one", remedy: "Please report it")
}
