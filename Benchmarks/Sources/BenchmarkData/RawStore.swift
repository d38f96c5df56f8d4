import CRawLMDB
package import Foundation
package import SystemPackage

/// liblmdb itself, on the tables of a data set; its pointer never leaves this class.
@safe package final class RawStore: @unchecked Sendable {
  // Used by one thread at a time: the one that runs the benchmark.
  private let store: OpaquePointer

  /// Opens a copy, which may be changed.
  package convenience init(copyOf dataSet: DataSet, _ name: String) throws {
    let copy = try BenchmarkFolder.makeScratch(name).appending("store")
    try BenchmarkFolder.copy(dataSet.directory, to: copy)
    try self.init(copy, onlyReads: false)
  }

  /// Opens the kept store, for reading only, while Tally has it open: the same pages of the system's file cache.
  package convenience init(reading dataSet: DataSet) throws {
    try self.init(dataSet.directory, onlyReads: true)
  }

  private init(_ directory: FilePath, onlyReads: Bool) throws {
    guard let store = unsafe raw_store_open(directory.string, onlyReads) else {
      throw WrongAnswer(description: "liblmdb cannot open")
    }
    unsafe self.store = store
  }

  /// Turns off liblmdb's flushes; with a file, each commit first writes and flushes one block of it.
  package func skipFlushes(exceptBlockIn file: FilePath? = nil) throws {
    try expectEqual(unsafe raw_store_skip_flushes(store, file?.string), 0, "the code")
  }

  package func close() {
    unsafe raw_store_close(store)
  }

  /// Finds tasks in one transaction, and copies their records.
  package func read(_ ids: ArraySlice<UUID>) throws {
    try unsafe ids.withUnsafeBytes { unsafe try read($0) }
  }

  /// Finds a task in a transaction of its own, and copies its record.
  package func read(_ id: UUID) throws {
    try unsafe withUnsafeBytes(of: id) { unsafe try read($0) }
  }

  /// An identifier as its 16 bytes.
  private func read(_ ids: UnsafeRawBufferPointer) throws {
    // None of the buffers is empty, so each has an address.
    let sum = unsafe ids.assumingMemoryBound(to: UInt8.self).baseAddress
      .map { unsafe raw_store_read(store, $0, ids.count / 16) }
    guard let sum, sum >= 0 else { throw WrongAnswer(description: "liblmdb does not find a task") }
  }

  /// Walks a list in its order, and copies the records of its tasks; returns their number.
  package func readList(_ id: UUID) -> Int {
    // The bytes of a UUID have an address.
    unsafe withUnsafeBytes(of: id) { bytes in
      unsafe bytes.assumingMemoryBound(to: UInt8.self).baseAddress
        .map { unsafe Int(raw_store_read_list(store, $0)) } ?? -1
    }
  }

  /// Puts the entries of some creations, in one commit.
  package func create(_ number: Int, count: Int = 1) throws {
    try expectEqual(unsafe raw_store_create(store, UInt64(number), count), 0, "liblmdb's code")
  }
}

/// The entries of a data set, to be put into new stores; its pointer never leaves this class.
@safe package final class RawEntries: Sendable {
  // Read once, and never changed.
  nonisolated(unsafe) private let entries: OpaquePointer

  package init(of dataSet: DataSet, _ name: String) throws {
    let copy = try BenchmarkFolder.makeScratch(name).appending("store")
    try BenchmarkFolder.copy(dataSet.directory, to: copy)
    guard let entries = unsafe raw_entries_read(copy.string) else {
      throw WrongAnswer(description: "liblmdb cannot read")
    }
    unsafe self.entries = entries
  }

  deinit {
    unsafe raw_entries_free(entries)
  }

  /// Appends all entries to the tables of a new store, in one durable commit.
  package func write(to directory: FilePath) throws {
    try FileManager.default.createDirectory(atPath: directory.string, withIntermediateDirectories: true)
    try expectEqual(unsafe raw_entries_write(entries, directory.string), 0, "liblmdb's code")
  }
}
