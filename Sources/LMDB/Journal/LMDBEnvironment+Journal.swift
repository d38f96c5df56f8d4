package import SystemPackage
import TallySystem

/// The state of a journal in numbers.
package struct JournalInformation: Sendable, Hashable {
  /// Whether the file is a plain one that other programs may copy.
  package let isClean: Bool
  /// The commit to which recovery would go back before it repeats the later ones.
  package let steadyTransactionID: Int
  /// How many commits it would repeat.
  package let recordCount: Int
  /// The room for records, and how much of it they take.
  package let ringSizeInBytes: Int
  package let usedBytes: Int
}

extension LMDBEnvironment {
  /// The state of the journal; `nil` without one.
  ///
  /// Throws `closed`, `forked`, `panic`, `ioFailure`.
  package func journalInformation() throws(LMDBError) -> JournalInformation? {
    guard options.journal != nil else { return nil }
    return try whileOpen("information") { () throws(LMDBError) in
      try LMDBError.translating("information") {
        let newest = UInt64(newestTransactionID)
        if let journal { return try journal.file.information(try journal.published().header, newest: newest) }
        // One that is open for reading only has no need of it.
        guard let file = try JournalFile(in: path, readOnly: true) else { return nil }
        defer { file.close() }
        return try file.information(try file.newestHeader().header, newest: newest)
      }
    }
  }

  /// Makes the newest commit the steady one; for tests and benchmarks.
  ///
  /// Throws as ``beginWrite()``.
  package func makeCheckpoint(cleaning: Bool = false) throws(LMDBError) {
    guard let journal else { return }
    try LMDBError.translating("checkpoint") {
      try journal.checkpoint(cleaning ? .cleaning : .routine, self)
    }
  }

  /// Whether commits go through a journal.
  package var hasJournal: Bool { journal != nil }

  /// The names of the journal's file, when it is whole and while it is made.
  package static let journalFileNames = [JournalFile.fileName, JournalFile.temporaryFileName]

  /// Whether there is a journal in a directory.
  package static func isJournalThere(in directory: FilePath) -> Bool {
    (try? directory.appending(JournalFile.fileName).stat()) != nil
  }

  /// Whether the data file of a directory that nobody has open can be replaced: no journal says anything of it.
  package static func isDataFileReplaceable(in directory: FilePath) throws(LMDBError) -> Bool {
    try LMDBError.translating("look at the journal") {
      guard let file = try JournalFile(in: directory, readOnly: true) else { return true }
      defer { file.close() }
      return try file.newestHeader().header.state == .clean
    }
  }

  /// Opens the journal that the options ask for, after recovering the data file.
  static func openJournal(
    in path: FilePath, options: Options, turn: FileLock?
  ) throws(LMDBError) -> Journal? {
    guard let journal = options.journal, !options.isFrozenFile else { return nil }
    return try LMDBError.translating("open") {
      try Journal.open(in: path, options: options, journal: journal, turn: turn)
    }
  }
}

extension JournalFile {
  fileprivate func information(_ header: JournalHeader, newest: UInt64) throws -> JournalInformation {
    var place = header.position
    var count = 0
    if header.state == .dirty {
      while let next = try record(at: place, header), next.record.transaction <= newest {
        place = next.end
        count += 1
      }
    }
    return JournalInformation(
      isClean: header.state == .clean, steadyTransactionID: Int(header.steadyTransaction), recordCount: count,
      ringSizeInBytes: header.ringSizeInBytes, usedBytes: Int(place.offset - header.position.offset))
  }
}
