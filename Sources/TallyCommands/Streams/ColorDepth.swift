/// How many colours a terminal has.
enum ColorDepth: Comparable {
  /// Bold, dim and underlined, no colours.
  case none
  /// The eight of ECMA-48.
  case named
  /// The 256 of xterm's palette.
  case indexed
  /// 24 bits.
  case full

  /// The depth that `COLORTERM` and `TERM` name; `FORCE_COLOR` as 2 or 3 asks for more, and forced colour is never none.
  init(environment: EnvironmentVariables, isForced: Bool) {
    let value = { (name: String) in ((try? environment.nonEmptyValue(of: name)) ?? "").lowercased() }
    let (forced, color, terminal) = (value("FORCE_COLOR"), value("COLORTERM"), value("TERM"))
    if forced == "3" || ["truecolor", "24bit"].contains(color) || terminal.hasSuffix("-direct") {
      self = .full
    } else if forced == "2" || terminal.contains("256color") {
      self = .indexed
    } else if forced.isEmpty, !isForced, Self.isColourless(terminal) {
      self = .none
    } else {
      self = .named
    }
  }

  private static func isColourless(_ terminal: String) -> Bool {
    terminal.isEmpty || terminal == "unknown" || terminal.hasSuffix("-mono")
      || ["vt1", "vt2", "vt3", "vt4", "vt5", "dumb"].contains(where: terminal.hasPrefix)
  }
}
