import Foundation
import SystemPackage
import TallySystem

/// The session of a terminal, from its opening to its end: what a person was told in it need not be said again.
///
/// It is known by the terminal's device, the session that the system counts (getsid(2)) and, where the system tells, the
/// time at which that began: the numbers of sessions and terminals come again. What was said is an empty file of that
/// name, beside the journals of reminders and outside every store.
struct TerminalSession {
  private let directory: FilePath
  private let name: String

  /// The session in which messages are shown; `nil` if they do not go to a terminal, or nothing can be kept.
  init?(of invocation: Invocation) {
    let descriptor = invocation.errorOutput
    guard Terminal.isTerminal(descriptor), let device = try? descriptor.stat().specialDeviceID,
      let directory = Self.directory(invocation.environment)
    else { return nil }
    let session = getsid(0)
    guard session > 0 else { return nil }
    self.directory = directory
    name = "terminal-\(device.rawValue)-\(session)-\(Self.start(of: session))"
  }

  /// Whether something is to be said for the first time; from now on it is not.
  func isNew(for purpose: String) -> Bool {
    let file = directory.appending("\(name)-\(purpose)")
    do {
      try SystemCalls.createDirectories(upTo: directory, permissions: .ownerReadWriteExecute)
      try FileDescriptor.open(
        file, .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec, .noFollow], permissions: .ownerReadWrite
      ).close()
    } catch {
      // Where nothing can be kept, it is said again.
      return error as? Errno != .fileExists
    }
    removeOld()
    return true
  }

  /// Removes the files of sessions that have long ended.
  private func removeOld() {
    let manager = FileManager.default
    let names = (try? manager.contentsOfDirectory(atPath: directory.string)) ?? []
    for old in names where old.hasPrefix("terminal-") {
      let path = directory.appending(old).string
      guard let date = try? manager.attributesOfItem(atPath: path)[.modificationDate] as? Date,
        date.timeIntervalSinceNow < -Self.longestSessionInSeconds
      else { continue }
      try? manager.removeItem(atPath: path)
    }
  }

  private static let longestSessionInSeconds: Double = 30 * 86_400

  /// `$XDG_RUNTIME_DIR/tally`, which ends with the login, else `$XDG_STATE_HOME/tally` or `~/.local/state/tally`.
  private static func directory(_ environment: EnvironmentVariables) -> FilePath? {
    if let path = try? environment.value(of: "XDG_RUNTIME_DIR"), path.hasPrefix("/") {
      return FilePath(path).appending("tally")
    }
    return (try? environment.ownDirectory(in: "XDG_STATE_HOME", belowHome: ".local/state")) ?? nil
  }

  /// When the first process of a session began, as Linux counts it (proc(5)); zero where that is not known.
  private static func start(of session: pid_t) -> String {
    guard let text = try? String(contentsOfFile: "/proc/\(session)/stat", encoding: .utf8),
      let end = text.lastIndex(of: ")")
    else { return "0" }
    // The 22nd field; the name of the program in parentheses is the second one, and may have blanks.
    let fields = text[text.index(after: end)...].split(separator: " ")
    return fields.count > 19 ? String(fields[19]) : "0"
  }
}
