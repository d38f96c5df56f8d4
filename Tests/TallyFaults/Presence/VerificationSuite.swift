import Foundation
import SystemPackage
import Tally
import TallyTestSupport

/// Verifies a store while other processes write to it; a sound store is never called damaged.
enum VerificationSuite {
  private static let roles = (0..<4).map { "writer-\($0)" } + ["importer-0", "importer-1", "undoer-0"]

  /// How many verifications a store gets before a new one takes its place: writers make a store grow, and each takes longer.
  private static let verificationsPerStore = 200

  static func run(_ run: inout FaultRun) throws -> String {
    let count = run.count("VERIFICATIONS", short: 80, long: 5_000)
    var (done, sequences) = (0, UInt64(0))
    while done < count {
      run.advance(to: done, of: count)
      let part = min(verificationsPerStore, count - done)
      sequences += try withScratch { try verify(part, in: $0, &run) }
      done += part
    }
    run.require(sequences > UInt64(count), "there were only \(sequences) commits: the suite proves nothing")
    let others = "\(roles.count) processes and \(sequences) commits"
    return "\(count) verifications, half of them by 'tally verify', beside \(others)"
  }

  /// Verifies one store, on a disk, where a commit takes a while, and returns the number of its commits.
  private static func verify(_ count: Int, in directory: FilePath, _ run: inout FaultRun) throws -> UInt64 {
    let store = directory.appending("store")
    try TaskStore(at: store).close()
    let writers = try roles.map { role in
      try ChildProcess.act(["busy", store.string, role], output: directory.appending("\(role).out"))
    }
    let output = directory.appending("verify.out")
    let library = try ChildProcess.act(["verify", store.string, "\(count - count / 2)"], output: output)
    let tally = TallyOnDisk(directory: directory)
    for number in 0..<count / 2 {
      let (ending, lines) = try tally.run(["verify"], store: "store")
      run.require(ending == .exit(0), "tally verify, \(number): \(ending) \(lines)")
    }
    run.require(library.wait() == .exit(0), "the library: \(library.lines)")
    for line in library.lines where line != "verified" { run.fail("the library: \(line)") }
    for (writer, role) in zip(writers, roles) {
      writer.kill()
      for line in writer.lines { run.fail("\(role): \(line)") }
    }
    let opened = try TaskStore(at: store)
    run.require(try opened.verify().isSound, "the store is not sound afterwards")
    let sequence = try opened.information().sequence
    try opened.close()
    return sequence
  }
}

/// Verifies a store again and again, first while it is open, then as one that may be damaged: `verify STORE COUNT`.
struct VerifyAct {
  private let directory: FilePath
  private let count: Int

  init(_ act: Act) throws {
    directory = try act.path(0)
    count = try act.number(1)
  }

  func run() throws {
    let store = try TaskStore(at: directory)
    for number in 0..<count / 2 { report(number) { try store.verify() } }
    try store.close()
    for number in count / 2..<count { report(number) { try TaskStore.verify(at: directory) } }
    say("verified")
  }

  private func report(_ number: Int, _ verify: () throws -> VerificationReport) {
    do {
      let report = try verify()
      if !report.isSound { say("\(number): \(report.faults)") }
    } catch {
      say("\(number): \(error)")
    }
  }
}

/// Changes a store in one way until it is killed: `busy STORE ROLE-NUMBER`.
struct BusyAct {
  private let directory: FilePath
  private let role: String

  private static let operationsPerOpening = 40

  init(_ act: Act) throws {
    directory = try act.path(0)
    role = try act.text(1)
  }

  func run() throws {
    var round = 0
    while true {
      let store = try TaskStore(at: directory)
      for _ in 0..<Self.operationsPerOpening {
        switch role.prefix(while: { $0 != "-" }) {
        case "writer": try write(store, round)
        case "importer": try importTasks(store, round)
        case "undoer": try undo(store, round)
        default: throw FaultProgram.Misuse()
        }
        round += 1
      }
      try store.close()
    }
  }

  /// Adds, completes, opens again and deletes tasks, so that the store stays small.
  private func write(_ store: TaskStore, _ round: Int) throws {
    try store.writeAndWait { transaction in
      let task = try transaction.add("\(role) \(round) #tag\(round % 5)", to: round.isMultiple(of: 2) ? .today : .inbox)
      if round.isMultiple(of: 3) { try transaction.complete(task.id) }
      let own = try transaction.view(.all).tasks.filter { $0.title.hasPrefix(role) }
      for task in own.dropLast(30) { try transaction.delete(task.id) }
    }
  }

  /// Imports tasks, half of which it has imported before.
  private func importTasks(_ store: TaskStore, _ round: Int) throws {
    let kind: UInt8 = role.hasSuffix("1") ? 21 : 20
    let lines = (0..<40).map { task in
      let id = Rivals.id(kind, round % 10 * 20 + task).uuidString.lowercased()
      return "{\"id\":\"\(id)\",\"text\":\"imported \(round)\",\"scheduledDate\":\"2026-11-\(10 + task % 20)\"}\n"
    }
    let document = try FileDescriptor.temporary(beside: directory)
    try document.writeAll(lines.joined().utf8)
    try document.seek(offset: 0, from: .start)
    _ = try document.closeAfter { try store.importDocument(from: document, format: .ndjson) }
  }

  private func undo(_ store: TaskStore, _ round: Int) throws {
    do {
      try store.writeAndWait { _ = round.isMultiple(of: 3) ? try $0.redo() : try $0.undo() }
    } catch let error as TallyError where Self.refusals.contains(error.code) {
      // Another process has changed what the undo would bring back.
    }
  }

  private static let refusals: Set<TallyError.Code> = [.nothingToUndo, .nothingToRedo, .undoConflict]
}
