import Foundation
import SystemPackage
import TallySystem

/// Ends its process when a step takes too long, after printing what each thread waits for.
///
/// It counts the seconds in which the process could run. An alarm would also count those in which somebody had stopped the
/// process, or in which a busy machine gave it no time, and call that a hang.
final class Watchdog: Sendable {
  private struct State {
    /// Before the first step nothing is counted.
    var step: String?
    var seconds = 0
  }

  private let state = Monitor(State())
  private let limitInSeconds: Int
  /// A directory that is kept for a look at it: its copy is named in the report.
  private let directory: FilePath?

  /// Starts to watch; `directory` is copied when a step hangs and `TALLY_FAULT_KEEP` names a place for that.
  init(limitInSeconds: Int = 60, directory: FilePath? = nil) {
    (self.limitInSeconds, self.directory) = (limitInSeconds, directory)
    Thread.detachNewThread { [self] in
      while tick() {}
      report()
      kill(getpid(), SIGALRM)
    }
  }

  /// Begins a step, which has the whole limit for itself.
  func begin(_ step: String) {
    state.withLock { $0 = State(step: step) }
  }

  /// Lets a second pass; false if the step has used up its time.
  private func tick() -> Bool {
    let start = ContinuousClock.now
    pause(microseconds: 1_000_000)
    let isOnTime = ContinuousClock.now - start < Self.longestTick
    return state.withLock { state in
      if isOnTime && state.step != nil { state.seconds += 1 }
      return state.seconds < limitInSeconds
    }
  }

  private static let longestTick = Duration.milliseconds(1_500)

  private func report() {
    let processes = [getpid()] + Self.children(of: getpid())
    say("hang: in “\(state.withLock { $0.step ?? "" })”; processes \(processes)")
    for process in processes {
      for thread in Self.numbers(in: "/proc/\(process)/task") {
        let place = "/proc/\(process)/task/\(thread)"
        let words = ["comm", "wchan", "syscall"].map { Self.text("\(place)/\($0)") }
        say("hang: \(process)/\(thread) \(words.joined(separator: " | "))")
        for line in Self.text("\(place)/stack").split(separator: "\n") { say("hang:     \(line)") }
      }
      printStacks(of: process)
    }
    for line in Self.text("/proc/locks").split(separator: "\n") { say("hang: lock \(line)") }
    keepDirectory()
  }

  /// Prints the stacks of all threads, where a debugger is installed.
  private func printStacks(of process: Int32) {
    let debugger = "/usr/bin/gdb"
    guard FileManager.default.isExecutableFile(atPath: debugger) else { return }
    let output = FilePath(FileManager.default.temporaryDirectory.path).appending("tally-stacks-\(process)")
    defer { try? FileManager.default.removeItem(atPath: output.string) }
    let child = try? ChildProcess(
      [debugger, "--batch", "--pid", "\(process)", "-ex", "thread apply all backtrace 30"], output: output)
    child?.wait()
    for line in ChildProcess.lines(of: output) where line.hasPrefix("#") || line.hasPrefix("Thread") {
      say("hang:   \(line)")
    }
  }

  private func keepDirectory() {
    guard let directory, let place = ProcessInfo.processInfo.environment["TALLY_FAULT_KEEP"] else { return }
    let copy = FilePath(place).appending("hang-\(getpid())")
    try? FileManager.default.copyItem(atPath: directory.string, toPath: copy.string)
    say("hang: its files are in \(copy)")
  }

  private static func children(of parent: Int32) -> [Int32] {
    numbers(in: "/proc").filter { process in
      text("/proc/\(process)/status").split(separator: "\n").contains { $0 == "PPid:\t\(parent)" }
    }
  }

  private static func numbers(in directory: String) -> [Int32] {
    ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).compactMap { Int32($0) }.sorted()
  }

  /// The text of a file; empty where it cannot be read.
  private static func text(_ path: String) -> String {
    let data = FileManager.default.contents(atPath: path) ?? Data()
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
