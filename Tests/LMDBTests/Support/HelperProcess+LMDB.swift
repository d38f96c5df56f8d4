import TestSupport

extension HelperProcess {
  /// Starts an act of `LMDBTestHelper` on a directory, which stays while the helper works in it.
  convenience init(_ act: String, _ directory: TemporaryDirectory, _ numbers: Int...) throws {
    try self.init("LMDBTestHelper", act, directory.path, numbers, keeping: directory)
  }
}
