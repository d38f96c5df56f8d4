import Foundation
import Synchronization
import SystemPackage
import TallySystem

/// The session of a terminal, from its opening to its end: a message that was shown in it need not be shown again.
///
/// Its name has the terminal's device, the number of the session (getsid(2)) and, where the system has it, the time at
/// which the session began, as the system uses numbers again. An empty file with that name says that a message was shown;
/// it is beside the journals of reminders and outside every store.
struct TerminalSession {
  private let directory: FilePath
  private let name: String

  /// The session in which messages are shown; `nil` if they do not go to a terminal, or there is no place for the file.
  init?(of invocation: Invocation) {
    let descriptor = invocation.errorOutput
    guard SystemCalls.isTerminal(descriptor), let device = try? descriptor.stat().specialDeviceID,
      let directory = Self.directory(invocation.environment), let session = SystemCalls.terminalSession
    else { return nil }
    self.directory = directory
    name = "terminal-\(device.rawValue)-\(session)-\(Self.start(of: session))"
  }

  /// Records that a message is shown; false if it was shown in this session before.
  func recordShown(_ purpose: String) -> Bool {
    let file = directory.appending("\(name)-\(purpose)")
    do {
      try SystemCalls.createDirectories(upTo: directory, permissions: .ownerReadWriteExecute)
      try FileDescriptor.open(
        file, .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec, .noFollow], permissions: .ownerReadWrite
      ).close()
    } catch {
      // Without a file, the message is shown again.
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
  private static func start(of session: Int32) -> String {
    guard let text = try? String(contentsOfFile: "/proc/\(session)/stat", encoding: .utf8),
      let end = text.lastIndex(of: ")")
    else { return "0" }
    // The 22nd field; the name of the program in parentheses is the second one, and may have blanks.
    let fields = text[text.index(after: end)...].split(separator: " ")
    return fields.count > 19 ? String(fields[19]) : "0"
  }
}

/// Handles SIGINT and SIGTERM: they end the process at once, unless it has something to clean up.
///
/// Ending at once is safe in the middle of a change: an uncommitted transaction leaves no trace, and the next process
/// takes over the lock. A command that creates files, such as an export, a backup or an import into a new store, removes them
/// first, and `remind` waits for the programs it has started; they check ``isInterrupted``.
enum Signals {
  /// Whether the process was asked to end while it had something to clean up.
  static var isInterrupted: Bool { interruption.load(ordering: .relaxed) }

  private static let interruption = Atomic<Bool>(false)
  private static let isCleaningUp = Atomic<Bool>(false)

  /// Runs a body that polls ``isInterrupted``; a second signal ends the process anyway.
  static func deferringInterruption<R>(_ body: () throws -> R) rethrows -> R {
    isCleaningUp.store(true, ordering: .relaxed)
    defer { isCleaningUp.store(false, ordering: .relaxed) }
    return try body()
  }

  /// Installs the handlers; called once, by the program, never by a library.
  static func install() {
    // Reading both initializes them: a handler must not be the first to touch them.
    _ = (isInterrupted, isCleaningUp.load(ordering: .relaxed))
    // A handler may run between any two instructions: this one only uses atomics and `_exit`.
    signal(SIGINT) { number in Signals.receive(number) }
    signal(SIGTERM) { number in Signals.receive(number) }
    // A write to a closed pipe then returns an error, which ends the program quietly.
    signal(SIGPIPE, SIG_IGN)
    // And a write beyond the file size limit fails as on a full disk.
    signal(SIGXFSZ, SIG_IGN)
    unblock()
  }

  /// Unblocks the signals, which a parent may have blocked.
  ///
  /// The mask is inherited, and a parent that starts processes from a thread pool, such as Dispatch's, blocks nearly all
  /// signals.
  private static func unblock() {
    var signals = sigset_t()
    // Unsafe as the calls write through the pointer: each to this local only.
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGINT)
    unsafe sigaddset(&signals, SIGTERM)
    unsafe sigprocmask(SIG_UNBLOCK, &signals, nil)
  }

  private static func receive(_ number: Int32) {
    let isFirst = !interruption.exchange(true, ordering: .relaxed)
    if isFirst, isCleaningUp.load(ordering: .relaxed) { return }
    _exit(128 + number)
  }
}

/// Keeps the store's files from getting the descriptors of the standard streams.
enum StandardDescriptors {
  /// Occupies those of the descriptors 0 to 2 that are closed.
  ///
  /// A caller may close a stream (`tally add … >&-`). The next file opened would then get its number, and output would be
  /// written into the store. `/dev/null` takes its place, opened in the opposite mode, so that using the stream still
  /// fails, as it should.
  static func occupyClosed() {
    for number in Int32(0)...2 where !SystemCalls.isOpen(FileDescriptor(rawValue: number)) {
      // The system assigns the lowest free number, and the lower ones are taken by now. Without /dev/null, nothing
      // better can be done.
      _ = try? FileDescriptor.open(FilePath("/dev/null"), number == 0 ? .writeOnly : .readOnly)
    }
  }
}
