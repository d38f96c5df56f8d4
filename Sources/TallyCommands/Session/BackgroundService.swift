import Foundation
import SystemPackage
import Tally

/// A definition that starts a command of Tally when a person logs in: a unit of systemd, or a property list of launchd.
struct BackgroundService {
  private let name: String
  private let description: String
  private let words: [String]

  /// - Parameters:
  ///   - command: The words of the command.
  ///   - arguments: The arguments after the option that names the store.
  ///   - description: The description for people.
  ///   - session: The session, which names the store: a service must not read a shell's variables.
  init(running command: [String], _ arguments: [String] = [], description: String, in session: Session) {
    name = "tally-\(command[0])"
    self.description = description
    // Relative paths mean nothing where the service starts.
    let executable = Bundle.main.executablePath ?? "tally"
    words = [executable] + command + ["--store", session.storePath.absolute.string] + arguments
  }

  var text: String {
    #if canImport(Darwin)
      launchdText
    #else
      systemdText
    #endif
  }

  var systemdText: String {
    """
    # ~/.config/systemd/user/\(name).service; start it with: systemctl --user enable --now \(name)
    [Unit]
    Description=\(description)

    [Service]
    ExecStart=\(words.map(Self.quotedForSystemd).joined(separator: " "))
    Restart=on-failure

    [Install]
    WantedBy=default.target

    """
  }

  var launchdText: String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <!-- ~/Library/LaunchAgents/\(name).plist; start it with: launchctl load ~/Library/LaunchAgents/\(name).plist -->
    <plist version="1.0"><dict>
      <key>Label</key><string>\(name)</string>
      <key>ProgramArguments</key><array>
    \(words.map { "    <string>\(Self.escapedForXML($0))</string>" }.joined(separator: "\n"))
      </array>
      <key>RunAtLoad</key><true/>
      <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
    </dict></plist>

    """
  }

  /// Quoted, without the specifiers and variables that systemd expands.
  private static func quotedForSystemd(_ word: String) -> String {
    let escapes: [Character: String] = ["\\": "\\\\", "\"": "\\\"", "%": "%%", "$": "$$", "\n": "\\n", "\t": "\\t"]
    return "\"" + word.map { escapes[$0] ?? String($0) }.joined() + "\""
  }

  private static func escapedForXML(_ word: String) -> String {
    let escapes: [Character: String] = ["&": "&amp;", "<": "&lt;", ">": "&gt;"]
    return word.map { escapes[$0] ?? String($0) }.joined()
  }
}

extension BackgroundService {
  /// Creates the definition that starts `tally remind`.
  ///
  /// - Parameters:
  ///   - program: The program to run; without one, notifications are shown.
  ///   - arguments: Its arguments.
  ///   - journal: The journal, unless it is the usual one.
  ///   - session: Names the store.
  init(reminding program: String?, arguments: [String], journal: String?, _ session: Session) {
    // Relative paths mean nothing where the service starts.
    let delivery = program.map { ["--exec", $0.contains("/") ? FilePath($0).absolute.string : $0] } ?? ["--notify"]
    let rest = arguments.isEmpty ? [] : ["--"] + arguments
    let record = journal.map { ["--journal", FilePath($0).absolute.string] } ?? []
    self.init(running: ["remind"], delivery + record + rest, description: "Reminders of tally", in: session)
  }
}
