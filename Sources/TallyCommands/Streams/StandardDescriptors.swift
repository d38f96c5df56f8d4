import Foundation
import SystemPackage

/// Keeps the store's files from getting the descriptors of the standard streams.
enum StandardDescriptors {
  /// Occupies those of the descriptors 0 to 2 that are closed.
  ///
  /// A caller may close a stream (`tally add … >&-`). The next file opened would then get its number, and output would be
  /// written into the store. `/dev/null` takes its place, opened in the opposite mode, so that using the stream still
  /// fails, as it should.
  static func occupyClosed() {
    for number in Int32(0)...2 where fcntl(number, F_GETFD) == -1 {
      // The system assigns the lowest free number, and the lower ones are taken by now. Without /dev/null, nothing
      // better can be done.
      _ = try? FileDescriptor.open(FilePath("/dev/null"), number == 0 ? .writeOnly : .readOnly)
    }
  }
}
