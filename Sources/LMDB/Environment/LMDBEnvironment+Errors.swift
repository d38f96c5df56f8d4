import CLMDB
import SystemPackage
import TallySystem

extension LMDBEnvironment {
  /// Room without which a short write is taken for a full disk.
  private static let leastRoomInBytes: UInt64 = 1 << 16

  /// Creates the error of a code, with what the environment knows about it.
  func explain(_ returnCode: Int32, _ operation: String) -> LMDBError {
    switch returnCode {
    case MDB_MAP_FULL:
      return LMDBError(returnCode: returnCode, operation: operation, message: mapUsage())
    case Errno.ioError.rawValue where SystemCalls.isFilesystemFull(at: path, neededBytes: Self.leastRoomInBytes):
      // liblmdb reports a short write, which is what a full disk gives, as a failure of the disk.
      return LMDBError(.diskFull, operation: operation, returnCode: returnCode)
    default:
      return LMDBError(returnCode: returnCode, operation: operation)
    }
  }

  /// What fills the map: data, or a reader that keeps old pages.
  private func mapUsage() -> String? {
    // The error is clear without these numbers.
    guard let now = try? liveInformation() else { return nil }
    let oldest = (try? readerTable())?.filter { $0.transactionID != nil }.min {
      $0.transactionID ?? 0 < $1.transactionID ?? 0
    }
    let oldestProcess = oldest.map { " in process \($0.processID)" } ?? ""
    return """
      The memory map is full: \(now.pageCount) of \(now.mapSizeInBytes / now.pageSizeInBytes) pages used, map size \
      \(now.mapSizeInBytes) bytes, oldest reader \(now.oldestReaderLag) transactions behind\(oldestProcess)
      """
  }
}
