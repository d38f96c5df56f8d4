import Foundation
import SystemPackage
import Tally
import TallyTestSupport

/// Somebody sets the clock back while a store waits: for the end of a write, and for the time of a flush.
enum ClockSuite {
  /// How far, in seconds; more than any limit here and its leeway on a busy machine.
  private static let secondsBack = 60

  static func run(_ run: inout FaultRun) throws -> String {
    let library = try Preloads.path("set-clock-back")
    return try withScratch { directory in
      let (mark, flushed) = (directory.appending("fired").string, directory.appending("flushed").string)
      let arguments = ["clock", directory.appending("store").string, flushed]
      let environment = [
        "LD_PRELOAD": library, "TALLY_SET_BACK": "\(secondsBack)", "TALLY_FAULT_FIRED": mark, "TALLY_FLUSHED": flushed,
      ]
      let start = ContinuousClock.now
      let child = try ChildProcess.act(arguments, output: directory.appending("out"), environment: environment)
      let ending = child.wait()
      let isInTime = ContinuousClock.now - start < .seconds(secondsBack)
      run.require(ending == .exit(0) && child.lines == ["storeBusy", "flushed"], "\(ending): \(child.lines)")
      run.require(isInTime, "a limit followed the clock that was set back")
      run.require(FileManager.default.fileExists(atPath: mark), "nobody waited: the suite proves nothing")
      run.note(1, .injectedFaults)
      return "the clock set back by \(secondsBack) s, and no limit longer for it"
    }
  }
}

/// Waits for a write of another thread, and for a flush: `clock STORE FLUSHED`.
struct ClockAct {
  private let directory: FilePath
  private let flushed: String

  init(_ act: Act) throws {
    (directory, flushed) = (try act.path(0), try act.text(1))
  }

  func run() throws {
    var configuration = TaskStore.Configuration.testing()
    configuration.durability = .relaxed
    configuration.flushIntervalInSeconds = 1
    let store = try TaskStore(at: directory, configuration: configuration)
    try suspend(store)
    try store.writeAndWait { _ = try $0.add("relaxed", to: .inbox) }
    try? FileManager.default.removeItem(atPath: flushed)
    while !FileManager.default.fileExists(atPath: flushed) { Thread.sleep(forTimeInterval: 0.01) }
    say("flushed")
    try store.close()
  }

  /// Says what becomes of a suspension while another thread writes.
  private func suspend(_ store: TaskStore) throws {
    let (begun, mayEnd, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    Thread.detachNewThread {
      try? store.writeAndWait { _ in
        begun.signal()
        mayEnd.wait()
      }
      ended.signal()
    }
    begun.wait()
    say(outcome { try store.suspend(waitingAtMost: .seconds(1)) })
    mayEnd.signal()
    ended.wait()
  }
}
