// Unsafe in name: Rainbow keeps its settings in plain globals. They are touched by one thread, before anything is
// printed.
@unsafe @preconcurrency import Rainbow

/// Colours text, or leaves it plain.
///
/// Colour is never the only sign: glyphs and words say the same.
struct Painter {
  enum Role {
    case heading, handle, detail, active, done, overdue
  }

  let isEnabled: Bool

  /// - Parameters:
  ///   - isRefused: Whether `--no-color` is given, which overrides the environment.
  ///   - environment: Read for `FORCE_COLOR`; Rainbow reads the other variables.
  init(isRefused: Bool, environment: EnvironmentVariables) {
    let forced = (try? environment.value(of: "FORCE_COLOR")).map { !$0.isEmpty && $0 != "0" } ?? false
    // Rainbow handles NO_COLOR, TERM=dumb and output that is not a terminal, but lets FORCE_COLOR override only the first.
    isEnabled = !isRefused && Rainbow.enabled && (forced || Rainbow.outputTarget == .console)
    if isEnabled { Rainbow.outputTarget = .console }
  }

  func paint(_ text: String, _ role: Role) -> String {
    guard isEnabled, !text.isEmpty else { return text }
    return switch role {
    case .heading: text.bold
    case .handle, .detail: text.dim
    case .active: text.yellow
    case .done: text.green
    case .overdue: text.red
    }
  }

  /// The text in a list's own colour.
  func paint(_ text: String, colorHex: String) -> String {
    isEnabled ? text.hex(colorHex, to: .bit24) : text
  }
}
