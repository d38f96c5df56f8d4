extension String {
  /// The text as one word of a shell's command line, for commands offered to be typed.
  ///
  /// What cannot be shown on the terminal is written in the `$'…'` form that bash, zsh, ksh and POSIX 2024 know.
  var shellQuoted: String {
    if !isEmpty, utf8.allSatisfy(Self.shellSafe.contains) { return self }
    guard unicodeScalars.contains(where: \.drivesOrHides) else {
      return "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
    return "$'" + unicodeScalars.map(\.ansiQuoted).joined() + "'"
  }

  private static let shellSafe = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./:+,@%".utf8)
}

extension Unicode.Scalar {
  fileprivate var ansiQuoted: String {
    switch self {
    case "'": "\\'"
    case "\\": "\\\\"
    case "\n": "\\n"
    case "\r": "\\r"
    case "\t": "\\t"
    case _ where drivesOrHides:
      String(self).utf8.map { "\\x" + ($0 < 0x10 ? "0" : "") + String($0, radix: 16) }.joined()
    default: String(self)
    }
  }
}
