import LMDB
public import SystemPackage

extension TaskStore {
  /// Compares every index, the ledger and every counter with the records, while readers and writers go on.
  ///
  /// Looks at a few thousand records in each snapshot, so that hardly any pages are kept from being reused. The check
  /// of the file's pages, and of what concurrent writes have left in doubt, takes one long snapshot.
  ///
  /// - Parameter progress: Called from time to time; may throw to end the verification.
  /// - Returns: The report; ``VerificationReport/isSound`` says whether it is free of faults.
  /// - Throws: `damagedStore` if a page of the file contradicts the others, with a message that names it; `cancelled`;
  ///   what `progress` throws, and what `read` throws.
  /// - Complexity: everything is read once, some microseconds per task.
  public func verify(progress: VerificationProgress.Observer? = nil) throws -> VerificationReport {
    try connection.use { store in
      try store.environment.checkStructure()
      return try Verification(environment: store.environment, tables: store.tables, observer: progress).run()
    }
  }

  /// Verifies the store in a directory, also one that cannot be opened because a table or its header is missing.
  ///
  /// - Parameters:
  ///   - directory: The store's directory.
  ///   - configuration: How to open it; it is opened for reading.
  ///   - progress: Called from time to time; may throw to end the verification.
  /// - Returns: The report. If tables are missing, nothing else has been checked.
  /// - Throws: As ``verify(progress:)``, and as opening a store.
  public static func verify(
    at directory: FilePath,
    configuration: Configuration = Configuration(),
    progress: VerificationProgress.Observer? = nil
  ) throws -> VerificationReport {
    var configuration = configuration
    configuration.isReadOnly = true
    return try StoreOpening(directory: directory, configuration: configuration).withDamagedStore { store in
      try Verification.run(on: store.environment, registering: configuration.indexes, observer: progress)
    }
  }
}
