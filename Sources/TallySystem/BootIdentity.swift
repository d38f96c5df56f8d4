import SystemPackage

#if canImport(Darwin)
  import Darwin
#endif

/// What distinguishes one run of the system from the next.
package enum BootIdentity {
  /// A number that is the same until the system starts again; 0 where the system does not say.
  package static var current: UInt64 {
    // FNV-1a; the system's text is a UUID.
    text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }

  private static var text: String {
    #if canImport(Darwin)
      var size = 64
      var buffer = [UInt8](repeating: 0, count: size)
      // Writes at most `size` bytes into the array.
      guard unsafe sysctlbyname("kern.bootsessionuuid", &buffer, &size, nil, 0) == 0 else { return "" }
      return String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self)
    #else
      let path = FilePath("/proc/sys/kernel/random/boot_id")
      guard let file = try? FileDescriptor.open(path, .readOnly, options: .closeOnExec) else { return "" }
      defer { try? file.close() }
      return String(decoding: (try? file.readToEnd()) ?? [], as: UTF8.self)
    #endif
  }
}
