import Foundation
import SystemPackage
import Tally
import TallyTestSupport

/// Processes that write, read, import and compact together, killed at random moments.
enum KillSuite {
  private static let roundsWithOneStore = 8

  static func run(_ run: inout FaultRun) throws -> String {
    let roundCount = run.count("KILL_ROUNDS", short: 8, long: 120)
    var generator = SeededGenerator(seed: run.seed)
    var (killCount, commitCount) = (0, UInt64(0))
    for first in stride(from: 0, to: roundCount, by: roundsWithOneStore) {
      try withScratch { directory in
        var lastSequence: UInt64 = 0
        for round in first..<min(first + roundsWithOneStore, roundCount) {
          run.advance(to: round, of: roundCount)
          killCount += try killRivals(in: directory, round, &run, using: &generator)
          let sequence = try check(directory, round, &run)
          run.require(sequence >= lastSequence, "round \(round): sequence \(sequence) after \(lastSequence)")
          lastSequence = sequence
        }
        commitCount += lastSequence
      }
    }
    run.note(killCount, .kills)
    run.require(killCount > roundCount, "only \(killCount) processes were killed: the suite proves nothing")
    run.require(commitCount > UInt64(roundCount), "there were only \(commitCount) commits: the suite proves nothing")
    return "\(killCount) processes killed in \(roundCount) rounds, over \(commitCount) commits"
  }

  /// Starts all processes, kills some, lets the others continue for a while, and kills them too; returns how many had
  /// not ended by themselves.
  private static func killRivals(
    in directory: FilePath, _ round: Int, _ run: inout FaultRun, using generator: inout SeededGenerator
  ) throws -> Int {
    let roles = (0..<Rivals.writerCount).map { ("writer", $0) } + [("reader", 0), ("importer", 0), ("compactor", 0)]
    let rivals = try roles.map { role, number in
      let name = "\(role)-\(number)"
      return try ChildProcess.act(
        ["rival", store(in: directory).string, directory.appending("\(name).acknowledged").string, role, "\(number)"],
        output: directory.appending("\(name).out"))
    }
    usleep(UInt32.random(in: 20_000...350_000, using: &generator))
    let victims = rivals.shuffled(using: &generator)
    let firstCount = Int.random(in: 1...victims.count, using: &generator)
    var killCount = victims.prefix(firstCount).count { $0.kill() }
    usleep(UInt32.random(in: 0...100_000, using: &generator))
    killCount += victims.dropFirst(firstCount).count { $0.kill() }
    for (rival, role) in zip(rivals, roles) where !rival.lines.isEmpty {
      run.fail("round \(round), \(role.0): \(rival.lines)")
    }
    return killCount
  }

  private static func store(in directory: FilePath) -> FilePath { directory.appending("store") }

  /// Checks that the store is sound and has all acknowledged writes; returns its sequence.
  static func check(_ directory: FilePath, _ round: Int, _ run: inout FaultRun) throws -> UInt64 {
    let store = try TaskStore(at: store(in: directory))
    let report = try store.verify()
    run.require(report.isSound, "round \(round): \(report.faults)")
    let account = try store.read { try Rivals.account(of: $0) }
    if let fault = account.fault { run.fail("round \(round): \(fault)") }
    let numbers = (0..<Rivals.writerCount).map { ("writer-\($0)", account.writers[$0]) }
    for (name, number) in numbers + [("importer-0", account.importCount)] {
      let acknowledged = ChildProcess.lines(of: directory.appending("\(name).acknowledged")).compactMap { Int($0) }.last
      run.require(
        (acknowledged ?? 0)...(acknowledged ?? 0) + 1 ~= number,
        "round \(round): \(name) acknowledged \(acknowledged ?? 0), and the store has \(number)")
    }
    try store.close()
    return account.sequence
  }
}
