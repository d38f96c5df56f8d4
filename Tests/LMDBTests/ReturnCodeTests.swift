import SystemPackage
import Testing

@testable import LMDB

@Suite struct ReturnCodeTests {
  /// The bug: a caller that opened for writing on such a filesystem was advised to open for writing.
  @Test func aReadOnlyMountIsNamed() {
    let error = LMDBError(returnCode: Errno.readOnlyFileSystem.rawValue, operation: "open")
    #expect(error.code == .readOnly)
    #expect(error.message.contains("mounted") && error.remedy.contains("Mount"))
    #expect(LMDBError(.readOnly, operation: "begin write").remedy == "Open it for writing")
  }
}
