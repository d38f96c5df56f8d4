import Foundation
import SystemPackage
import Tally
import TallyTestSupport

/// Random transactions by processes that are killed or end, with the store reopened each time and compared with the model.
enum ModelSuite {
  static func run(_ run: inout FaultRun) throws -> String {
    let transactionCount = UInt64(run.count("MODEL_TRANSACTIONS", short: 150, long: 3_000))
    var generator = SeededGenerator(seed: run.seed)
    return try withScratch { directory in
      let path = directory.appending("store")
      let acknowledgements = directory.appending("acknowledged")
      var workload = Workload(seed: run.seed)
      var (crashCount, reopenCount, compactionCount) = (0, 0, 0)
      // The first process may be killed before it has created the store, and only a store can be compacted.
      try TaskStore(at: path, configuration: workload.configuration).close()
      while workload.sequence < transactionCount {
        let goal = min(transactionCount, workload.sequence + UInt64.random(in: 1...120, using: &generator))
        let child = try ChildProcess.act(
          ["workload", path.string, acknowledgements.string, "\(run.seed)", "\(goal)", "durable"],
          output: directory.appending("out"))
        // One at least must crash.
        if generator.oneIn(3), crashCount > 0 {
          run.require(child.wait() == .exit(0), "the workload failed: \(child.lines)")
        } else {
          usleep(UInt32.random(in: 5_000...150_000, using: &generator))
          if child.kill() { crashCount += 1 }
        }
        run.advance(to: Int(workload.sequence), of: Int(transactionCount))
        reopenCount += 1
        if generator.oneIn(4) {
          try TaskStore.compact(at: path, configuration: workload.configuration)
          compactionCount += 1
        }
        try compare(&workload, at: path, acknowledgements, &run)
      }
      run.note(crashCount, .kills)
      run.require(crashCount > 0, "no process was killed before its end: the suite proves nothing")
      return "\(workload.sequence) random transactions equal the model after \(crashCount) crashes, "
        + "\(compactionCount) compactions and \(reopenCount) reopenings"
    }
  }

  private static func compare(
    _ workload: inout Workload, at path: FilePath, _ acknowledgements: FilePath, _ run: inout FaultRun
  ) throws {
    let words = ChildProcess.lines(of: acknowledgements).map { $0.split(separator: " ") }
    let acknowledged = words.last { $0[0] == "acknowledged" && $0.count == 2 }.flatMap { UInt64($0[1]) } ?? 0
    let store = try TaskStore(at: path, configuration: workload.configuration)
    let sequence = try store.information().sequence
    run.require(
      max(acknowledged, workload.sequence)...acknowledged + 1 ~= sequence,
      "acknowledged \(acknowledged), and the store is at \(sequence)")
    // The clock is that of the store, so that views of a day are compared too.
    while workload.sequence < sequence { workload.advance() }
    if let fault = try StoreComparison(store: store).fault(against: workload.model) {
      run.fail("after \(sequence) transactions: \(fault)")
    }
    try store.close()
  }
}
