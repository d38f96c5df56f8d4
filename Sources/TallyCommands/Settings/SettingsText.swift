import SystemPackage
import Tally

/// The settings for people: what each is set to, or what holds without it.
struct SettingsText {
  let file: SettingsFile
  let session: Session

  var text: String {
    get throws {
      let (names, all) = (file.settings.names, file.settings.all)
      let width = names.map(\.displayWidth).max() ?? 0
      let lines = try names.map { name in
        let value = try all[name]?.escapedForDisplay() ?? session.painter.paint("not set\(inForce(name))", .detail)
        return "  \(name.escapedForDisplay().padded(toWidth: width))  \(value)\n"
      }
      let path = file.path.string.escapedForDisplay()
      return lines.joined() + "\nThe file is \(path)\nChange one: tally config week-start monday\n"
    }
  }

  /// What holds where a setting is not set.
  private func inForce(_ name: String) throws -> String {
    let (options, variables) = (session.options, session.invocation.environment)
    let value: String? =
      switch Settings.Key(rawValue: name) {
      case .defaultList: "the inbox"
      case .defaultCommand: "agenda"
      case .weekStart:
        try WeekStart(rawValue: session.clock.firstWeekday()).map {
          "\($0), from \(options.weekStart == nil ? "the locale" : "--week-start")"
        }
      case .dayStart: "00:00"
      case .timeZone:
        session.clock.zone.name.escapedForDisplay() + ", from "
          + (options.timeZone != nil ? "--time-zone" : try variables.value(of: "TZ") != nil ? "TZ" : "the system")
      case .dateOrder: session.clock.dateOrder().map { "\($0.rawValue), from the locale" }
      case .color: "auto"
      case .hints: "on"
      case let key?: key.weight.map { "\(NextWeights()[keyPath: $0])" }
      case nil: nil
      }
    return value.map { " (\($0))" } ?? ""
  }
}
