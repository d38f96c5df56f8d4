import SystemPackage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Keeps the numbers of the standard streams from being given to the store's files.
enum StandardDescriptors {
  /// Occupies those of the descriptors 0 to 2 that are closed.
  ///
  /// A caller may close a stream (`tally add … >&-`). The next file opened would then get its number, and what is
  /// printed would be written into the store. The place is taken by `/dev/null` opened the wrong way round, so that
  /// using the stream still fails, as it should.
  static func occupyClosedOnes() {
    for number in Int32(0)...2 where fcntl(number, F_GETFD) == -1 {
      // The system gives the lowest free number, and the lower ones are taken by now. Where it has no /dev/null,
      // nothing better can be done.
      _ = try? FileDescriptor.open(FilePath("/dev/null"), number == 0 ? .writeOnly : .readOnly)
    }
  }
}
