import Foundation
import SystemPackage
import TallyTestSupport

/// Programs that use one store together, any of which is killed or stopped at any moment.
struct Crowd {
  private let directory: FilePath
  private let launch: (_ member: Int, _ output: FilePath) throws -> ChildProcess
  private var members: [ChildProcess] = []
  /// How many programs have been started.
  private var startCount = 0
  private(set) var killCount = 0
  private(set) var stopCount = 0
  /// What programs have said that they should not have.
  private(set) var faults: [String] = []

  /// Starts a number of programs; their outputs go to a directory.
  init(
    of count: Int, in directory: FilePath, launch: @escaping (_ member: Int, _ output: FilePath) throws -> ChildProcess
  ) throws {
    (self.directory, self.launch) = (directory, launch)
    for member in 0..<count { members.append(try start(member)) }
  }

  private mutating func start(_ member: Int) throws -> ChildProcess {
    startCount += 1
    return try launch(member, directory.appending("program-\(startCount).out"))
  }

  /// Lets all programs run for a while, then kills or stops one, or kills all of them; who was killed is started again.
  mutating func disturb(using generator: inout SeededGenerator) throws {
    pause(upTo: 60_000, using: &generator)
    let member = Int.random(in: members.indices, using: &generator)
    switch Int.random(in: 0..<10, using: &generator) {
    case 0:
      for member in members.indices { kill(member) }
      pause(upTo: 10_000, using: &generator)
      for member in members.indices { members[member] = try start(member) }
    case 1..<5:
      members[member].send(SIGSTOP)
      stopCount += 1
      // Longer than a merge; another one may die meanwhile.
      pause(upTo: 200_000, using: &generator)
      let other = Int.random(in: members.indices, using: &generator)
      if other != member, generator.oneIn(2) { try replace(other, using: &generator) }
      if generator.oneIn(4) { try replace(member, using: &generator) } else { members[member].send(SIGCONT) }
    default: try replace(member, using: &generator)
    }
  }

  private mutating func replace(_ member: Int, using generator: inout SeededGenerator) throws {
    kill(member)
    pause(upTo: 20_000, using: &generator)
    members[member] = try start(member)
  }

  private mutating func kill(_ member: Int) {
    if members[member].kill() { killCount += 1 }
    judge(member, .signal(SIGKILL))
  }

  private mutating func judge(_ member: Int, _ expected: ChildProcess.Ending) {
    let (ending, lines) = (members[member].wait(), members[member].lines)
    // One that has nothing left to do may end before it is killed.
    if ![expected, .exit(0)].contains(ending) || !lines.isEmpty {
      faults.append("program \(member): \(ending), \(lines.prefix(60).joined(separator: "\n    "))")
    }
  }

  /// Kills all programs.
  mutating func killAll() {
    for member in members.indices { kill(member) }
  }

  /// Waits for all programs, which have been told to end.
  mutating func wait() {
    for member in members.indices { judge(member, .exit(0)) }
  }

  private func pause(upTo microseconds: UInt32, using generator: inout SeededGenerator) {
    usleep(UInt32.random(in: 0...microseconds, using: &generator))
  }
}
