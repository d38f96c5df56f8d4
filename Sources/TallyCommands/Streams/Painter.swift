// Unsafe in name: Rainbow keeps its settings in plain globals. They are touched by one thread, before anything is
// printed.
@unsafe @preconcurrency import Rainbow

/// Colours text, or leaves it plain.
///
/// Colour is never the only sign: glyphs and words say the same.
struct Painter {
  enum Role {
    case heading, handle, detail, active, done, overdue, match
  }

  let isEnabled: Bool
  private let depth: ColorDepth

  /// - Parameters:
  ///   - isRefused: Whether `--no-color` is given, or the output is for programs.
  ///   - setting: The setting `color`; `nil` if there is none.
  ///   - isTerminal: Whether the output is a terminal.
  ///   - environment: The variables, which win over the setting.
  init(isRefused: Bool, setting: String?, isTerminal: Bool, environment: EnvironmentVariables) {
    isEnabled = !isRefused && Self.isWanted(setting: setting, isTerminal: isTerminal, environment)
    // Rainbow looks at the same variables, but takes NO_COLOR=0 and FORCE_COLOR=0 for something else.
    if isEnabled { (Rainbow.enabled, Rainbow.outputTarget) = (true, .console) }
    depth = isEnabled ? ColorDepth(environment: environment, isForced: setting == "always") : .none
  }

  /// Whether colour is wanted: `FORCE_COLOR` decides, else `NO_COLOR` or a dumb terminal, else the setting, else whether
  /// the output is a terminal.
  static func isWanted(setting: String?, isTerminal: Bool, _ environment: EnvironmentVariables) -> Bool {
    let value = { (name: String) in (try? environment.value(of: name)) ?? "" }
    if !value("FORCE_COLOR").isEmpty { return value("FORCE_COLOR") != "0" }
    if !value("NO_COLOR").isEmpty || value("TERM") == "dumb" { return false }
    return setting == "always" || setting != "never" && isTerminal
  }

  func paint(_ text: String, _ role: Role) -> String {
    guard isEnabled, !text.isEmpty else { return text }
    return switch role {
    case .heading: text.bold
    case .handle, .detail: text.dim
    case .active: depth == .none ? text : text.yellow
    case .done: depth == .none ? text : text.green
    case .overdue: depth == .none ? text.bold : text.red
    case .match: text.bold.underline
    }
  }

  /// The text in a list's own colour, or the nearest that the terminal has.
  func paint(_ text: String, colorHex: String) -> String {
    guard isEnabled else { return text }
    return switch depth {
    case .none: text
    case .named: text.applyingColor(Self.nearestColor(toHex: colorHex))
    case .indexed: text.hex(colorHex, to: .bit8Approximated)
    case .full: text.hex(colorHex, to: .bit24)
    }
  }

  /// The named colour whose parts are on where those of another are above their middle.
  private static func nearestColor(toHex hex: String) -> NamedColor {
    let rgb = UInt32(hex, radix: 16) ?? 0
    let parts = [16, 8, 0].map { rgb >> $0 & 0xFF }
    let middle = ((parts.min() ?? 0) + (parts.max() ?? 0) + 1) / 2
    let isOn = parts.map { $0 >= max(middle, 1) }
    switch (isOn[0], isOn[1], isOn[2]) {
    case (true, false, false): return .red
    case (false, true, false): return .green
    case (false, false, true): return .blue
    case (true, true, false): return .yellow
    case (true, false, true): return .magenta
    case (false, true, true): return .cyan
    // Grey: black and white may be that of the background.
    case (true, true, true), (false, false, false): return .default
    }
  }
}
