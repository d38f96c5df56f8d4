import ArgumentParser
import SystemPackage
import Tally
import TallySystem

/// `tally config`.
struct ConfigCommand: TextCommand {
  static let configuration = CommandConfiguration(
    "config", "Show or change the settings that hold for all commands.", usage: "[<key> [<value>]]",
    discussion: """
      Without a value, shows the setting; with 'none', removes it. An option on the command line, or a variable, wins over \
      a setting. The file is $XDG_CONFIG_HOME/tally/config.yaml or ~/.config/tally/config.yaml.

      \(Settings.Key.allCases.map { "  \($0.rawValue): \($0.meaning)" }.joined(separator: "\n"))
        alias.NAME: a command of your own, which stands for a command and its arguments

      With --plain, a line has these columns: key, value.

      EXAMPLES
        tally config week-start monday
        tally config alias.rent 'quick Pay rent +home'
        tally config alias.rent none
      """)

  @Argument(help: ArgumentHelp("The setting.", valueName: "key"))
  var key: String?

  @Argument(help: ArgumentHelp("Its new value, or none.", valueName: "value"))
  var value: String?

  func run(in session: Session) throws {
    guard let path = try SettingsFile.path(environment: session.invocation.environment) else {
      throw CommandFailure.usage(
        "There is no home directory to keep settings in", remedy: "Name a directory in XDG_CONFIG_HOME")
    }
    var file = try SettingsFile(at: path)
    if let key, Settings.Key(rawValue: key) == nil, !key.hasPrefix(Settings.aliasPrefix) {
      throw Self.failure(Settings.unknownKey(key))
    }
    if let key, let value {
      try change(key, to: value.isNone ? nil : value, in: file, session)
      file = try SettingsFile(at: path)
    }
    try answer(file, session)
  }

  private func change(_ key: String, to value: String?, in file: SettingsFile, _ session: Session) throws {
    if let value {
      var checked = Settings()
      try CommandFailure.replacing(Self.failure) { try checked.set(key, to: value) }
    } else if file.settings.all[key] == nil {
      return session.say("\(key) is not set.")
    }
    try file.write(value, for: key)
    session.say(value.map { "Set \(key) to \($0.quotedForMessage)." } ?? "Removed \(key).")
  }

  private func answer(_ file: SettingsFile, _ session: Session) throws {
    let all = file.settings.all
    try session.answer(file.facts(of: key), plain: .records([("settings", ["key", "value"])])) {
      if value != nil { return }
      if let key { return try session.output.write(all[key].map { $0.escapedForDisplay() + "\n" } ?? "") }
      try session.output.write(Self.text(of: file, session))
    }
    if let key, value == nil, all[key] == nil { session.hint("\(key) is not set.") }
  }

  /// A value that was typed is a wrong argument, not bad data.
  private static func failure(_ error: any Error) -> CommandFailure {
    guard let fault = error as? Settings.Fault else { return CommandFailure(error) }
    return .usage(fault.message, remedy: fault.remedy)
  }
}

extension SettingsFile {
  /// All settings, or one.
  fileprivate func facts(of key: String?) -> Facts {
    let names = key.map { [$0] } ?? settings.names
    return [
      "file": .text(path.string),
      "settings": .array(names.map { ["key": .text($0), "value": .text(settings.all[$0])] }),
    ]
  }
}

extension ConfigCommand {
  /// The settings for people: each with its value, or with the one that applies without it.
  private static func text(of file: SettingsFile, _ session: Session) throws -> String {
    let (names, all) = (file.settings.names, file.settings.all)
    let width = names.map(\.displayWidth).max() ?? 0
    let lines = try names.map { name in
      let value =
        try all[name]?.escapedForDisplay() ?? session.painter.paint("not set\(inForce(name, session))", .detail)
      return "  \(name.escapedForDisplay().padded(toWidth: width))  \(value)\n"
    }
    let path = file.path.string.escapedForDisplay()
    return lines.joined() + "\nThe file is \(path)\nChange one: tally config week-start monday\n"
  }

  /// The value that applies where a setting is not set.
  private static func inForce(_ name: String, _ session: Session) throws -> String {
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
