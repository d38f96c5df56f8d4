public import SystemPackage
// Tests of the store also get the random numbers and the processes that all tests share.
@_exported public import TestSupport

extension HelperProcess {
  /// Starts an act of `TallyTestHelper` on a directory.
  public convenience init(_ act: String, _ directory: FilePath, _ numbers: Int...) throws {
    try self.init("TallyTestHelper", act, directory, numbers)
  }
}
