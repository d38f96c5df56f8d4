// Unsafe in name: Rainbow keeps its settings in plain globals. They are touched by one thread, before anything is
// printed.
@unsafe @preconcurrency import Rainbow

/// Colours text, or leaves it as it is.
///
/// Colour never carries a meaning alone: glyphs and words say the same.
struct Painter {
  enum Role {
    case heading, handle, detail, active, done, overdue
  }

  let isEnabled: Bool

  /// - Parameters:
  ///   - isRefused: What `--no-color` says; stronger than the environment.
  ///   - environment: Read for `FORCE_COLOR`; the other variables are Rainbow's affair.
  init(isRefused: Bool, environment: EnvironmentVariables) {
    let forced = (try? environment.value(of: "FORCE_COLOR")).map { !$0.isEmpty && $0 != "0" } ?? false
    // Rainbow knows NO_COLOR, TERM=dumb and output that is no terminal, but lets FORCE_COLOR beat only the first.
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
