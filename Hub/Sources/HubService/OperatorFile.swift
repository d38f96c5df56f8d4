package import SystemPackage

/// Small files that an operator writes: secrets, keys, certificates, maps.
package enum OperatorFile {
  /// The reason why such a file cannot be used.
  package struct Unusable: Error, Hashable, CustomStringConvertible {
    /// The fault of the file.
    package enum Reason: Hashable, Sendable {
      /// The system's reason.
      case system(Errno)
      /// It is a directory, a device or a pipe.
      case notAFile
      /// It has more than ``OperatorFile/mostBytes``.
      case tooLarge
      /// It has nothing but spaces.
      case empty
    }

    package let path: String
    package let reason: Reason

    /// Creates an error.
    package init(path: String, reason: Reason) { (self.path, self.reason) = (path, reason) }

    /// A sentence for people.
    package var description: String {
      switch reason {
      case .system(let error): "'\(path)' cannot be read: \(error)."
      case .notAFile: "'\(path)' is a directory, a device or a pipe: give a regular file."
      case .tooLarge: "'\(path)' has more than \(mostBytes) bytes: give a smaller file."
      case .empty: "'\(path)' is empty: write the text into it."
      }
    }
  }

  /// The most bytes of such a file.
  package static let mostBytes = 1 << 20
  private static let partByteCount = 1 << 16

  /// Reads a regular file and follows links; never waits, as for the writer of a pipe.
  ///
  /// - Parameter path: The file.
  /// - Returns: All bytes.
  /// - Throws: ``Unusable``.
  package static func bytes(of path: String) throws -> [UInt8] {
    do {
      // Without this flag, opening a pipe waits for its writer; it does not change reads of a file.
      let file = try FileDescriptor.open(FilePath(path), .readOnly, options: [.closeOnExec, .nonBlocking])
      return try file.closeAfter {
        guard try file.stat().type == .regular else { throw Unusable(path: path, reason: .notAFile) }
        var bytes: [UInt8] = []
        while true {
          let part = try [UInt8](unsafeUninitializedCapacity: partByteCount) { buffer, count in
            count = try file.read(into: UnsafeMutableRawBufferPointer(buffer))
          }
          guard !part.isEmpty else { return bytes }
          bytes += part
          guard bytes.count <= mostBytes else { throw Unusable(path: path, reason: .tooLarge) }
        }
      }
    } catch let error as Errno {
      throw Unusable(path: path, reason: .system(error))
    }
  }

  /// The text of a file.
  ///
  /// - Throws: ``Unusable``.
  package static func text(of path: String) throws -> String { String(decoding: try bytes(of: path), as: UTF8.self) }

  /// The first line with anything in it, without spaces.
  ///
  /// - Throws: ``Unusable``.
  package static func firstLine(of path: String) throws -> String {
    let lines = try text(of: path).split(whereSeparator: \.isNewline).map { $0.filter { !$0.isWhitespace } }
    guard let line = lines.first(where: { !$0.isEmpty }) else { throw Unusable(path: path, reason: .empty) }
    return line
  }
}
