import SystemPackage

/// Small files that an operator writes.
enum TextFile {
  private static let mostBytes = 1 << 20

  /// The text of a file.
  static func read(_ path: String) throws -> String {
    let file = try FileDescriptor.open(FilePath(path), .readOnly)
    return try file.closeAfter {
      let bytes = try [UInt8](unsafeUninitializedCapacity: mostBytes) { buffer, count in
        count = try file.read(into: UnsafeMutableRawBufferPointer(buffer))
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  /// The first line with anything in it, without spaces around.
  static func firstLine(of path: String) throws -> String {
    let lines = try read(path).split(whereSeparator: \.isNewline).map { $0.filter { !$0.isWhitespace } }
    return lines.first { !$0.isEmpty } ?? ""
  }
}
