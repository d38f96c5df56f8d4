import Foundation
import SystemPackage
import Tally
import TallySystem
import TallyTestSupport

/// Three processes of one store, whose snapshots do not change and whose file stays as large as it was.
///
/// One process copies the directory of its own store and opens a twin made of links, one is killed while it reads, again and
/// again, and one writes and reads.
enum PresenceSuite {
  static func run(_ run: inout FaultRun) throws -> String {
    let seconds = run.count("PRESENCE_SECONDS", short: 4, long: 600)
    return try withScratch { directory in
      let store = directory.appending("store")
      try fill(store)
      let copier = try ChildProcess.act(["copy-itself", store.string], output: directory.appending("copier.out"))
      let writer = try ChildProcess.act(["write-and-read", store.string], output: directory.appending("writer.out"))
      let begin = ContinuousClock.now
      let warmUp = Duration.seconds(min(60, max(1, seconds / 4)))
      var (killCount, size) = (0, Int64(0))
      while ContinuousClock.now - begin < .seconds(seconds) {
        run.advance("\((ContinuousClock.now - begin).components.seconds) of \(seconds) s")
        let reader = try ChildProcess.act(["read-on", store.string], output: directory.appending("reader.out"))
        while reader.isRunning && reader.lines.isEmpty { usleep(1_000) }
        usleep(UInt32.random(in: 0...20_000))
        run.require(reader.kill(), "a reader ended: \(reader.lines)")
        killCount += 1
        if size == 0, ContinuousClock.now - begin >= warmUp { size = try Self.size(of: store) }
        guard copier.isRunning, writer.isRunning else { break }
      }
      let end = try Self.size(of: store)
      for (child, name) in [(copier, "copier"), (writer, "writer")] {
        run.require(child.kill(), "the \(name) ended: \(child.lines)")
        for line in child.lines where !line.hasPrefix("done ") { run.fail("\(name): \(line)") }
      }
      let (copies, commits) = (copier.lines.count, writer.lines.count)
      run.note(killCount, .kills)
      run.require(Double(end) <= growthLimit(of: warmUp) * Double(size), "the file grew from \(size) to \(end) bytes")
      run.require(killCount > 2 && copies > 2 && commits > 2, "too little happened: the suite proves nothing")
      let opened = try TaskStore(at: store)
      run.require(try opened.verify().isSound, "the store is not sound afterwards")
      let sequence = try opened.information().sequence
      try opened.close()
      return """
        \(seconds) seconds: \(killCount) readers killed, \(copies) copies and twins, \(commits) snapshots compared over \
        \(sequence) commits; \(size) bytes after \(warmUp.components.seconds) s, \(end) at the end
        """
    }
  }

  /// How many times its size after a warm-up the file may have in the end.
  ///
  /// Open snapshots also keep pages, and a short run may not have had its longest snapshot in the warm-up.
  private static func growthLimit(of warmUp: Duration) -> Double {
    warmUp < .seconds(60) ? 2 : 1.2
  }

  /// Fills the store until its history has reached its full length.
  private static func fill(_ directory: FilePath) throws {
    var configuration = TaskStore.Configuration()
    configuration.durability = .relaxed
    let store = try TaskStore(at: directory, configuration: configuration)
    for number in 0..<2_500 { try store.writeAndWait { try PresenceTasks.change(number, in: &$0) } }
    try store.close()
  }

  private static func size(of store: FilePath) throws -> Int64 {
    try store.appending("data.mdb").stat().size
  }
}

/// The twenty tasks of the three processes; each transaction rewrites some of them.
enum PresenceTasks {
  static let count = 20

  static func change(_ number: Int, in transaction: inout StoreWriteTransaction) throws {
    for offset in 0..<3 {
      let id = Rivals.id(30, (number * 3 + offset) % count)
      let notes = String(repeating: "\(number) ", count: 20 + number % 50)
      if try transaction.task(id) == nil {
        _ = try transaction.add(TaskDraft(id: id, title: "\(number)", notes: notes))
      } else {
        try transaction.update(id) { ($0.title, $0.notes) = ("\(number)", notes) }
      }
    }
  }

  /// The contents of a snapshot as one text.
  static func contents(of transaction: borrowing StoreReadTransaction) throws -> String {
    let tasks = try transaction.view(.all).tasks.map { "\($0.id) \($0.title) \($0.notes ?? "")" }
    return "\(try transaction.sequence)\n" + tasks.sorted().joined(separator: "\n")
  }
}

/// Copies its own store's directory and opens its twin, within a snapshot: `copy-itself STORE`.
struct CopyItselfAct {
  private let directory: FilePath

  init(_ act: Act) throws {
    directory = try act.path(0)
  }

  func run() throws {
    let store = try TaskStore(at: directory)
    var round = 0
    while true {
      try store.read { transaction in
        let before = try PresenceTasks.contents(of: transaction)
        try copyFiles()
        try openTwin()
        usleep(UInt32.random(in: 0...50_000))
        if try PresenceTasks.contents(of: transaction) != before { say("a snapshot changed in round \(round)") }
      }
      if round.isMultiple(of: 10) { try store.writeAndWait { try PresenceTasks.change(round, in: &$0) } }
      round += 1
      say("done \(round)")
    }
  }

  /// As `cp -r` in this process: each file is opened, read and closed.
  private func copyFiles() throws {
    let copy = directory.removingLastComponent().appending("copy")
    try? FileManager.default.removeItem(atPath: copy.string)
    try FileManager.default.createDirectory(atPath: copy.string, withIntermediateDirectories: true)
    for name in try FileManager.default.contentsOfDirectory(atPath: directory.string) {
      guard let bytes = try? bytes(of: directory.appending(name)) else { continue }
      try write(bytes, to: copy.appending(name))
    }
  }

  /// As `cp -al`, and a program that opens the result.
  private func openTwin() throws {
    let twin = directory.removingLastComponent().appending("twin")
    try? FileManager.default.removeItem(atPath: twin.string)
    try FileManager.default.createDirectory(atPath: twin.string, withIntermediateDirectories: true)
    for name in ["data.mdb", "lock.mdb", "access.lock"] {
      try SystemCalls.link(directory.appending(name), as: twin.appending(name))
    }
    var configuration = TaskStore.Configuration()
    configuration.waitLimitInSeconds = 0
    do {
      try TaskStore(at: twin, configuration: configuration).close()
      say("a twin was opened")
    } catch let error as TallyError where error.code == .alreadyOpen {}
    let lock = try FileDescriptor.open(twin.appending("lock.mdb"), .readWrite)
    try lock.close()
  }
}

/// Keeps a snapshot until it is killed: `read-on STORE`.
struct ReadOnAct {
  private let directory: FilePath

  init(_ act: Act) throws {
    directory = try act.path(0)
  }

  func run() throws {
    let store = try TaskStore(at: directory)
    try store.read { transaction in
      _ = try PresenceTasks.contents(of: transaction)
      say("reading")
      while true { sleep(1) }
    }
  }
}

/// Compares what a snapshot shows before and after further commits: `write-and-read STORE`.
struct WriteAndReadAct {
  private let directory: FilePath

  init(_ act: Act) throws {
    directory = try act.path(0)
  }

  func run() throws {
    let store = try TaskStore(at: directory)
    var number = 0
    while true {
      try store.read { transaction in
        let before = try PresenceTasks.contents(of: transaction)
        for _ in 0..<5 {
          number += 1
          try store.writeAndWait { try PresenceTasks.change(number, in: &$0) }
        }
        if try PresenceTasks.contents(of: transaction) != before { say("a snapshot changed before commit \(number)") }
      }
      say("done \(number)")
    }
  }
}
