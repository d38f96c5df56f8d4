import Foundation
import SystemPackage
import Tally
import TallyTestSupport

/// Long steps, killed at any moment: afterwards all of the step is there or none, and the store is sound.
enum BulkKillSuite {
  /// The long steps.
  enum Step: String, CaseIterable {
    case importing = "import"
    case compact, restore, repair
  }

  static func run(_ run: inout FaultRun) throws -> String {
    let taskCount = run.count("BULK_TASKS", short: 1_000, long: 100_000)
    let killCount = run.count("BULK_KILLS", short: 2, long: 200)
    var generator = SeededGenerator(seed: run.seed)
    // In memory: written data survives a kill in the system's cache, so flushes would cost time and show nothing.
    return try withScratch(inMemory: true) { directory in
      let bulk = try BulkStores(in: directory, taskCount: taskCount)
      var (figures, doneCount, killedCount) = ([String](), 0, 0)
      for step in Step.allCases {
        let duration = try bulk.durationInMicroseconds(of: step)
        var (wholeCount, noneCount) = (0, 0)
        for round in 0..<killCount {
          run.advance(to: doneCount, of: Step.allCases.count * killCount)
          let delay = UInt32.random(in: 0...duration + duration / 20, using: &generator)
          let (found, wasKilled) = try bulk.kill(step, afterMicroseconds: delay)
          if wasKilled { killedCount += 1 }
          switch found {
          case .all: wholeCount += 1
          case .none: noneCount += 1
          case .fault(let fault): run.fail("\(step.rawValue), round \(round): \(fault)")
          }
          doneCount += 1
        }
        figures.append("\(step.rawValue) \(killCount) times (all of it \(wholeCount), none \(noneCount))")
      }
      run.note(killedCount, .kills)
      run.require(killedCount > doneCount / 4, "only \(killedCount) were killed in time: the suite proves nothing")
      return "of \(taskCount) tasks killed: " + figures.joined(separator: ", ")
    }
  }
}
