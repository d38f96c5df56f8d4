import Foundation
import LMDB
import SystemPackage
import Tally
import TallyTestSupport

/// Programs with a log that write, read, open and close together, killed and stopped at any moment, all of them at once
/// now and then.
enum LogKillSuite {
  private static let disturbancesPerRound = 8
  private static let roundsPerStore = 4

  static func run(_ run: inout FaultRun) throws -> String {
    var generator = SeededGenerator(seed: run.seed)
    let bank = try disturbBanks(&run, &generator)
    let store = try disturbStores(&run, &generator)
    return "\(bank); \(store)"
  }

  // MARK: Accounts

  private static let roles: [(program: Int, role: LogBankAct.Role)] = [
    (0, .durable), (1, .relaxed), (2, .opener), (0, .reader), (0, .visitor),
  ]

  private static func disturbBanks(_ run: inout FaultRun, _ generator: inout SeededGenerator) throws -> String {
    let wanted = run.count("LOG_KILLS", short: 40, long: 1_000)
    var (killCount, stopCount, commitCount, round) = (0, 0, 0, 0)
    while killCount + stopCount < wanted {
      try withScratch(inMemory: true) { directory in
        let (bank, notes) = (directory.appending("bank"), directory.appending("notes"))
        try FileManager.default.createDirectory(atPath: bank.string, withIntermediateDirectories: false)
        try LogBank.create(in: bank)
        try write([], to: notes)
        for _ in 0..<roundsPerStore where killCount + stopCount < wanted {
          var crowd = try Crowd(of: roles.count, in: directory) { [seed = generator.next() >> 2] member, output in
            let (program, role) = roles[member]
            let arguments = [bank.string, notes.string, "\(program)", "\(seed + UInt64(member))", "1000000"]
            return try ChildProcess.act(["log-bank"] + arguments + [role.rawValue], output: output)
          }
          for _ in 0..<disturbancesPerRound { try crowd.disturb(using: &generator) }
          try end(&crowd, killing: generator.oneIn(2), flag: FilePath(notes.string + ".end"))
          for fault in crowd.faults { run.fail("round \(round): \(fault)") }
          (killCount, stopCount, round) = (killCount + crowd.killCount, stopCount + crowd.stopCount, round + 1)
          try audit(bank, notes, "round \(round)", &run, &generator)
          run.advance(to: killCount + stopCount, of: wanted)
        }
        commitCount += LogHistory(notes).acknowledged.reduce(0, +)
      }
    }
    run.note(killCount, .kills)
    run.require(commitCount > round, "there were only \(commitCount) commits: the suite proves nothing")
    return "accounts: \(killCount) kills and \(stopCount) stops in \(round) rounds, \(commitCount) commits"
  }

  /// Lets all programs end, or kills them.
  private static func end(_ crowd: inout Crowd, killing: Bool, flag: FilePath) throws {
    guard !killing else { return crowd.killAll() }
    try write([], to: flag)
    crowd.wait()
    try FileManager.default.removeItem(atPath: flag.string)
  }

  private static func audit(
    _ directory: FilePath, _ notes: FilePath, _ round: String, _ run: inout FaultRun, _ generator: inout SeededGenerator
  ) throws {
    do {
      let bank = try LogBank(in: directory)
      let (state, history) = (try bank.state(), LogHistory(notes))
      if let fault = history.fault(ofKilled: state) { run.fail("\(round): \(fault)") }
      try bank.environment.checkStructure()
      try bank.close()
      let names = try FileManager.default.contentsOfDirectory(atPath: directory.string).sorted()
      run.require(names == ["data.mdb", "lock.mdb"], "\(round): after closing there are \(names)")
      let plain = try LogBank(in: directory, hasLog: false)
      run.require(try plain.state() == state, "\(round): the plain file differs")
      try plain.close()
    } catch {
      run.fail("\(round): \(error)")
    }
  }

  // MARK: Stores of tasks

  private static let rivals = [
    ("writer-0", "resident"), ("writer-1", "suspender"), ("watcher", "watcher"), ("visitor", "visitor"),
  ]

  /// The race that wedged the journal, of earlier versions: ordinary programs beside one that suspends and resumes.
  private static func disturbStores(_ run: inout FaultRun, _ generator: inout SeededGenerator) throws -> String {
    let seconds = run.count("LOG_SECONDS", short: 2, long: 120)
    let (begin, limit) = (ContinuousClock.now, Duration.seconds(seconds))
    var (killCount, stopCount, commitCount, round, logCount) = (0, 0, UInt64(0), 0, 0)
    while ContinuousClock.now - begin < limit {
      try withScratch(inMemory: true) { directory in
        let store = directory.appending("store")
        var last: UInt64 = 0
        for _ in 0..<roundsPerStore where ContinuousClock.now - begin < limit {
          var crowd = try Crowd(of: rivals.count, in: directory) { member, output in
            let (name, role) = rivals[member]
            return try ChildProcess.act(
              ["rival", store.string, directory.appending("\(name).acknowledged").string, role, "\(member)"],
              output: output)
          }
          for _ in 0..<disturbancesPerRound { try crowd.disturb(using: &generator) }
          if FileManager.default.fileExists(atPath: store.appending("log").string) { logCount += 1 }
          try end(&crowd, killing: generator.oneIn(2), flag: directory.appending("end"))
          for fault in crowd.faults { run.fail("stores, round \(round): \(fault)") }
          (killCount, stopCount, round) = (killCount + crowd.killCount, stopCount + crowd.stopCount, round + 1)
          let sequence = try KillSuite.check(directory, round, &run)
          run.require(sequence >= last, "stores, round \(round): sequence \(sequence) after \(last)")
          last = sequence
          run.advance("\((ContinuousClock.now - begin).components.seconds) of \(seconds) seconds")
        }
        commitCount += last
      }
    }
    run.note(killCount, .kills)
    run.require(logCount > 0, "no store had a log: the suite proves nothing")
    run.require(commitCount > UInt64(round), "there were only \(commitCount) commits: the suite proves nothing")
    return "stores: \(killCount) kills and \(stopCount) stops in \(round) rounds, \(commitCount) commits"
  }
}
