import SystemPackage

/// Small files that an operator writes.
enum TextFile {
  private static let partByteCount = 1 << 16

  /// The text of a file.
  static func read(_ path: String) throws -> String {
    let file = try FileDescriptor.open(FilePath(path), .readOnly)
    return try file.closeAfter {
      var bytes: [UInt8] = []
      while true {
        let part = try [UInt8](unsafeUninitializedCapacity: partByteCount) { buffer, count in
          count = try file.read(into: UnsafeMutableRawBufferPointer(buffer))
        }
        guard !part.isEmpty else { return String(decoding: bytes, as: UTF8.self) }
        bytes += part
      }
    }
  }

  /// The first line with anything in it, without spaces around.
  static func firstLine(of path: String) throws -> String {
    let lines = try read(path).split(whereSeparator: \.isNewline).map { $0.filter { !$0.isWhitespace } }
    return lines.first { !$0.isEmpty } ?? ""
  }
}
