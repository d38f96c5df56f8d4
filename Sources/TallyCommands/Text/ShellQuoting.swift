extension String {
  /// The text as one word of a shell's command line, for commands offered to be typed.
  ///
  /// What cannot be shown on the terminal is written in the `$'…'` form that bash, zsh, ksh and POSIX 2024 know.
  var shellQuoted: String {
    let isPlain = !isEmpty && utf8.allSatisfy { $0.isShellSafe }
    if isPlain { return self }
    guard unicodeScalars.contains(where: \.drivesOrHides) else {
      return "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
    return "$'" + unicodeScalars.map(\.ansiQuoted).joined() + "'"
  }
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

extension UInt8 {
  fileprivate var isShellSafe: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"): true
    case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: ":"): true
    case UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: "@"), UInt8(ascii: "%"): true
    default: false
    }
  }
}
