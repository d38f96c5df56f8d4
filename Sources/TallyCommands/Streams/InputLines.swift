import Foundation
import TallySystem

/// A line of standard input that is not blank, without the blanks around it, or a text that was given instead.
struct InputLine {
  /// Counted from 1, blank lines included; `nil` for a text from elsewhere.
  let number: Int?
  let text: String
}

extension Session {
  /// A limit is needed because all lines are read before the first task is added: a mistake in any line adds none.
  private static let mostInputBytes = 256 << 20

  /// The lines of standard input, except blank ones.
  ///
  /// - Throws: ``CommandFailure`` if the input cannot be read, or for a line that is not UTF-8.
  func readLines() throws -> [InputLine] {
    let input = try CommandFailure.replacing(CommandFailure.init(reading:)) {
      try invocation.input.readToEnd(atMost: Self.mostInputBytes)
    }
    // Some editors put a byte order mark first, which is not part of a text (RFC 3629, section 6).
    let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let text = input.starts(with: byteOrderMark) ? input.dropFirst(byteOrderMark.count) : input[...]
    let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    return try lines.enumerated().compactMap { index, bytes in
      let content = bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes
      guard let text = String(validating: content, as: UTF8.self) else {
        throw CommandFailure(
          .badData, code: "malformedDocument", "The text is not UTF-8",
          remedy: "Convert the input, for example with 'iconv -t UTF-8'; nothing was added"
        ).atLine(index + 1)
      }
      let title = text.trimmingCharacters(in: .whitespaces)
      return title.isEmpty ? nil : InputLine(number: index + 1, text: title)
    }
  }
}

extension CommandFailure {
  /// The failure with the line of standard input it is about, if it is about one.
  func atLine(_ number: Int?) -> CommandFailure {
    var failure = self
    if let number { failure.message += " (line \(number) of standard input)" }
    return failure
  }
}
