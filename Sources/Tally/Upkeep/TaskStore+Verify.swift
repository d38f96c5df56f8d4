import LMDB
public import SystemPackage
import TallyEngine

extension TaskStore {
  /// Compares every index, the ledger and every counter with the records, while readers and writers continue.
  ///
  /// It checks a few thousand records in each snapshot, so that it prevents hardly any pages from being reused.
  /// Checking the file's pages, and what concurrent writes have left in doubt, takes one long snapshot.
  ///
  /// - Parameter progress: Called from time to time; may throw to end the verification.
  /// - Returns: The report; ``VerificationReport/isSound`` says whether there are no faults.
  /// - Throws: `damagedStore` if a page of the file contradicts the others, with a message that names it; `cancelled`;
  ///   what `progress` throws, and what `read` throws.
  /// - Complexity: reads everything once, which takes some microseconds for each task.
  public func verify(progress: VerificationProgress.Observer? = nil) throws -> VerificationReport {
    try connection.use { store in
      try store.environment.checkStructure()
      var report = try Verification(environment: store.environment, tables: store.tables, observer: progress).run()
      report.add(try CollectionsBeside(configuration.schema).report(on: store.environment))
      return report
    }
  }

  /// Verifies the store in a directory, even one that cannot be opened because a table or its header is missing.
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
      try Verification.run(on: store.environment, TaskLayout(configuration), observer: progress)
    }
  }
}
