import SystemPackage

/// A line of standard input that is not blank.
struct InputLine {
  /// Counted from 1, blank lines included.
  let number: Int
  let text: String
}

extension Session {
  /// The lines of standard input, except blank ones.
  ///
  /// - Throws: ``StreamError`` if the input cannot be read, ``CommandFailure`` for a line that is not UTF-8.
  func readLines() throws -> [InputLine] {
    let input = try readInput()
    // Some editors put a byte order mark first, which is not part of a text (RFC 3629, section 6).
    let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let text = input.starts(with: byteOrderMark) ? input.dropFirst(byteOrderMark.count) : input[...]
    let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return try lines.enumerated().compactMap { index, bytes in
      let content = bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes
      guard let text = String(validating: content, as: UTF8.self) else {
        throw CommandFailure(
          .badData,
          code: "malformedDocument",
          "The text is not UTF-8",
          remedy: "Convert the input, for example with 'iconv -t UTF-8'; nothing was added"
        ).atLine(index + 1)
      }
      return text.allSatisfy(\.isWhitespace) ? nil : InputLine(number: index + 1, text: text)
    }
  }

  private func readInput() throws -> [UInt8] {
    var bytes: [UInt8] = []
    do {
      while true {
        // Unsafe as the buffer is raw memory: `read` fills its beginning and says how much.
        let chunk = try unsafe [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
          count = try unsafe input.read(into: UnsafeMutableRawBufferPointer(buffer))
        }
        if chunk.isEmpty { return bytes }
        bytes += chunk
      }
    } catch {
      throw StreamError(reading: error)
    }
  }
}

extension CommandFailure {
  /// The failure with the line of standard input it is about.
  func atLine(_ number: Int) -> CommandFailure {
    CommandFailure(status, code: code, "\(message) (line \(number) of standard input)", remedy: remedy)
  }
}
