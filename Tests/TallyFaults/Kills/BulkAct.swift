import Foundation
import SystemPackage
import Tally

/// Runs one bulk step: `bulk STORE STEP FILE`.
struct BulkAct {
  private let directory: FilePath
  private let step: BulkKillSuite.Step
  private let file: FilePath

  init(_ act: Act) throws {
    directory = try act.path(0)
    guard let step = BulkKillSuite.Step(rawValue: try act.text(1)) else { throw FaultProgram.Misuse() }
    self.step = step
    file = try act.path(2)
  }

  func run() throws {
    switch step {
    case .importing:
      var configuration = TaskStore.Configuration()
      // As a command does.
      configuration.makesLog = false
      let store = try TaskStore(at: directory, configuration: configuration)
      try store.importDocument(from: file)
      say("done")
      try store.close()
    case .compact:
      try TaskStore.compact(at: directory)
      say("done")
    case .restore:
      try TaskStore.restore(from: file, to: directory)
      say("done")
    case .repair:
      try TaskStore.repair(at: directory)
      say("done")
    }
  }
}
