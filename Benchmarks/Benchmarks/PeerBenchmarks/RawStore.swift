import BenchmarkData
import CRawLMDB
import SystemPackage

/// liblmdb itself, on a copy of a data set; its pointer never leaves this class.
@safe final class RawStore: @unchecked Sendable {
  // Used by one thread at a time: the one that runs the benchmark.
  private let store: OpaquePointer

  init(copyOf dataSet: DataSet, _ name: String) throws {
    let copy = try BenchmarkFolder.makeScratch(name).appending("store")
    try BenchmarkFolder.copy(dataSet.directory, to: copy)
    guard let store = unsafe raw_store_open(copy.string) else { throw WrongAnswer(description: "liblmdb cannot open") }
    unsafe self.store = store
  }

  func close() {
    unsafe raw_store_close(store)
  }

  func read(ids: ArraySlice<UInt8>) throws {
    let sum = unsafe ids.withUnsafeBufferPointer { bytes in
      // The slice is not empty, so it has an address.
      unsafe bytes.baseAddress.map { unsafe raw_store_read(store, $0, bytes.count / 16) } ?? -1
    }
    guard sum >= 0 else { throw WrongAnswer(description: "liblmdb does not find a task") }
  }

  func create(_ number: Int) throws {
    try expectEqual(unsafe raw_store_create(store, UInt64(number)), 0, "liblmdb's code")
  }
}
