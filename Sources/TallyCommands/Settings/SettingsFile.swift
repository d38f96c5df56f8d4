import Foundation
import SystemPackage
import TallySystem
import Yams

/// The file of the settings: YAML, one `key: value` per line.
struct SettingsFile {
  let path: FilePath
  let text: String
  let settings: Settings
  /// The lines on which keys begin, counted from one.
  private let lines: [String: Int]

  /// The file's path: `$XDG_CONFIG_HOME/tally/config.yaml`, else `~/.config/tally/config.yaml`.
  ///
  /// - Throws: ``CommandFailure`` if there is no home directory.
  static func path(environment: EnvironmentVariables) throws -> FilePath? {
    try environment.ownDirectory(in: "XDG_CONFIG_HOME", belowHome: ".config")?.appending("config.yaml")
  }

  /// Reads the file; one that does not exist sets nothing.
  ///
  /// - Throws: ``CommandFailure`` if it cannot be read, is not YAML or sets something that is refused.
  init(at path: FilePath) throws {
    self.path = path
    text = try Self.read(path)
    (settings, lines) = try Self.parse(text, path)
  }

  private static func read(_ path: FilePath) throws -> String {
    do {
      let bytes = try WholeFile.read(path, atMost: mostBytes)
      guard let text = String(validating: bytes, as: UTF8.self) else {
        let fault = Settings.Fault(message: "It is not UTF-8", remedy: "Convert it, for example with iconv")
        throw CommandFailure(inSettings: path, line: nil, fault)
      }
      return text
    } catch Errno.noSuchFileOrDirectory, Errno.notDirectory {
      return ""
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw CommandFailure(
        .inputUnreadable, code: "inputUnreadable", "'\(path.string.escapedForDisplay())' cannot be read: \(error)",
        remedy: "Check what the file is and its permissions, or remove it")
    }
  }

  /// More bytes than any person's settings and aliases take.
  private static let mostBytes = 1 << 20

  /// The parser's basic resolver leaves every value the text that it is: `no` is not false, and `04:00` not a number.
  private static func parse(_ text: String, _ path: FilePath) throws -> (Settings, [String: Int]) {
    var (settings, lines) = (Settings(), [String: Int]())
    // Most people have no file, and the parser's start is a fortieth of that of the program.
    if text.isEmpty { return (settings, lines) }
    do {
      guard let root = try Yams.compose(yaml: text, .basic) else { return (settings, lines) }
      guard let mapping = root.mapping else {
        throw CommandFailure(inSettings: path, line: root.mark?.line, .notASetting)
      }
      for (key, value) in mapping {
        guard let name = key.scalar?.string, let value = value.scalar?.string else {
          throw CommandFailure(inSettings: path, line: key.mark?.line, .notASetting)
        }
        lines[name] = key.mark?.line
        do {
          try settings.set(name, to: value)
        } catch let fault as Settings.Fault {
          throw CommandFailure(inSettings: path, line: key.mark?.line, fault)
        }
      }
    } catch let error as YamlError {
      throw CommandFailure(inSettings: path, error)
    }
    return (settings, lines)
  }
}

extension SettingsFile {
  /// Writes the file with another value of a key.
  ///
  /// Everything else, comments included, stays; `nil` removes the key.
  ///
  /// - Throws: ``CommandFailure`` if the value is refused or the file cannot be written.
  func write(_ value: String?, for name: String) throws {
    let changed = try replacing(name, with: value)
    // The line is found by the parser's marks; a file of another form than ours may not allow that.
    let (result, _) = try Self.parse(changed, path)
    var wanted = Settings()
    for (key, text) in settings.all where key != name { try wanted.set(key, to: text) }
    if let value { try wanted.set(name, to: value) }
    guard result.all == wanted.all else {
      throw CommandFailure(
        .badData, code: "malformedSettings", "'\(path.string.escapedForDisplay())' has a form that is not changed here",
        remedy: "Edit it, so that each setting is on a line of its own")
    }
    // A link, for example into a collection of such files, stays a link even if its file does not exist yet.
    let target = try CommandFailure.replacing({ CommandFailure(writingSettings: path, $0) }) {
      try SystemCalls.resolvingLinksToWrite(path)
    }
    try CommandFailure.replacing({ CommandFailure(writingSettings: target, $0) }) {
      try SystemCalls.createDirectories(upTo: target.parentOrCurrent, permissions: .ownerReadWriteExecute)
      let file = try AtomicFile(replacing: target)
      _ = try file.descriptor.writeAll(changed.utf8)
      try file.publish()
    }
  }

  private func replacing(_ name: String, with value: String?) throws -> String {
    var rows = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if rows.last == "" { rows.removeLast() }
    let line = try value.map { try Yams.dump(object: [name: $0], width: -1, allowUnicode: true) }
    let new = line.map { [$0.trimmingCharacters(in: .newlines)] } ?? []
    guard let start = lines[name].map({ $0 - 1 }) else { return (rows + new).map { $0 + "\n" }.joined() }
    var end = lines.values.filter { $0 - 1 > start }.min().map { $0 - 1 } ?? rows.count
    while end > start + 1, rows[end - 1].isEmpty || rows[end - 1].hasPrefix("#") { end -= 1 }
    rows.replaceSubrange(start..<end, with: new)
    return rows.map { $0 + "\n" }.joined()
  }
}

extension Settings {
  /// Everything that is set, by its name in the file.
  var all: [String: String] {
    let known = texts.map { ($0.key.rawValue, $0.value) }
    return Dictionary(uniqueKeysWithValues: known + aliases.map { (Self.aliasPrefix + $0.key, $0.value) })
  }

  /// The names of all settings, set or not, then of the aliases.
  var names: [String] { Key.allCases.map(\.rawValue) + aliases.keys.sorted().map { Self.aliasPrefix + $0 } }
}

extension Settings.Fault {
  fileprivate static let notASetting = Settings.Fault(
    message: "It does not consist of settings", remedy: "Write each as key: value, as in week-start: monday")
}

extension CommandFailure {
  /// The failure of a file that says something that is refused.
  fileprivate init(inSettings path: FilePath, line: Int?, _ fault: Settings.Fault) {
    let place = line.map { ", line \($0)" } ?? ""
    self.init(
      .badData, code: "malformedSettings", "'\(path.string.escapedForDisplay())'\(place): \(fault.message)",
      remedy: fault.remedy)
  }

  fileprivate init(inSettings path: FilePath, _ error: YamlError) {
    let fault: (line: Int?, problem: String) =
      switch error {
      case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
        .composer(_, let problem, let mark, _):
        (mark.line, problem)
      case .duplicatedKeysInMapping(let keys, let context):
        (context.mark.line, "\(keys.joined(separator: ", ")) is set twice")
      case .reader(let problem, _, _, _): (nil, problem)
      default: (nil, "\(error)")
      }
    self.init(
      inSettings: path, line: fault.line,
      Settings.Fault(
        message: "It is not YAML: \(fault.problem.escapedForDisplay())",
        remedy: "Write each setting as key: value; put quotation marks around a value with special characters"))
  }

  fileprivate init(writingSettings path: FilePath, _ error: any Error) {
    self.init(
      .outputNotCreated, code: "outputNotCreated",
      "The settings '\(path.string.escapedForDisplay())' cannot be written: \(error)",
      remedy: "Check the directory's permissions and free space")
  }
}

extension Settings {
  /// The settings of the person who runs the program.
  ///
  /// - Throws: as reading the file.
  init(of environment: EnvironmentVariables) throws {
    // Where the directory has no name that can be read there are no settings; only 'tally config' complains.
    let path = (try? SettingsFile.path(environment: environment)) ?? nil
    self = try path.map { try SettingsFile(at: $0).settings } ?? Settings()
  }
}
