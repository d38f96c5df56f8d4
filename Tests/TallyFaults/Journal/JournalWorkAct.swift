import Foundation
import LMDB
import SystemPackage
import TallySystem
import TallyTestSupport

/// Makes transactions in an environment with a journal, beside other processes:
/// `journal-work DIRECTORY ACKNOWLEDGEMENTS COUNT SEED SETTING`.
///
/// A line of the file of acknowledgements says that a transaction begins to commit, has returned, or has failed.
struct JournalWorkAct {
  private let directory: FilePath
  private let acknowledgements: FileDescriptor
  private let count: Int
  private let setting: JournalSetting
  private var generator: SeededGenerator

  init(_ act: Act) throws {
    directory = try act.path(0)
    acknowledgements = try FileDescriptor.open(
      act.path(1), .writeOnly, options: [.append, .create], permissions: .ownerReadWrite)
    count = try act.number(2)
    generator = SeededGenerator(seed: try act.number(3))
    setting = try JournalSetting(act, at: 4)
    if (try? directory.stat()) == nil {
      try SystemCalls.createDirectories(upTo: directory, permissions: .ownerReadWriteExecute)
    }
  }

  private struct Abandoned: Error {}

  mutating func run() throws {
    let environment = try open()
    let world = try JournalWorld(environment)
    for _ in 0..<count {
      try work(environment, world)
      if generator.oneIn(setting.kind == .pauses ? 4 : 20) { usleep(UInt32.random(in: 0..<9_000, using: &generator)) }
      if generator.oneIn(30) { try environment.clearStaleReaders() }
    }
    try environment.close(waitingAtMost: .seconds(20))
  }

  /// Opens the environment; a full disk that passes is part of the test.
  private func open() throws -> LMDBEnvironment {
    let environment = try waitForResult(
      until: .after(.seconds(30)), pausing: { _ in pause(microseconds: 2_000) },
      { () throws(LMDBError) -> LMDBEnvironment? in
        do throws(LMDBError) {
          return try LMDBEnvironment(path: directory, options: setting.options)
        } catch {
          guard error.code == .diskFull || error.code == .busy else { throw error }
          return nil
        }
      })
    guard let environment else { throw Failure(description: "the disk stays full") }
    return environment
  }

  private mutating func work(_ environment: LMDBEnvironment, _ world: JournalWorld) throws {
    let (isAbandoned, isWatching) = (generator.oneIn(40), setting.kind == .plain && generator.oneIn(4))
    var (number, salt) = (UInt64(0), generator.next())
    do {
      try environment.write { transaction in
        number = try world.last(in: transaction) + 1
        // Another process may end here, and its reader slots be freed.
        if isWatching {
          usleep(2_000)
          try environment.clearStaleReaders()
          // Many pages, so that those which were freed last are used, too.
          while !JournalWorld.isLong(number, salt: salt) { salt &+= 1 }
        }
        try world.make(number, salt: salt, in: &transaction)
        if isAbandoned { throw Abandoned() }
        try say("begun \(number) \(salt)")
      }
      try say("\(setting.isDurable ? "durable" : "relaxed") \(number) \(salt)")
    } catch is Abandoned {
    } catch let error as LMDBError where error.code == .diskFull {
      try say("failed \(number) \(salt)")
    }
  }

  private func say(_ line: String) throws {
    _ = try acknowledgements.writeAll(Array("\(line)\n".utf8))
  }
}

/// Reads what others commit, until a file named `stop` is there: `journal-read DIRECTORY ACKNOWLEDGEMENTS SETTING`.
struct JournalReadAct {
  private let directory: FilePath
  private let acknowledgements: FileDescriptor
  private let setting: JournalSetting

  init(_ act: Act) throws {
    directory = try act.path(0)
    acknowledgements = try FileDescriptor.open(
      act.path(1), .writeOnly, options: [.append, .create], permissions: .ownerReadWrite)
    setting = try JournalSetting(act, at: 2)
  }

  func run() throws {
    let environment = try LMDBEnvironment(path: directory, options: setting.options)
    let world = try JournalWorld(reading: environment)
    var last: UInt64 = 0
    while (try? directory.appending("stop").stat()) == nil {
      let (number, salt) = try environment.read { transaction in
        let number = try world.last(in: transaction)
        return (number, number == 0 ? 0 : try world.salts.value(forKey: number, in: transaction) ?? 0)
      }
      if number != last {
        last = number
        _ = try acknowledgements.writeAll(Array("seen \(number) \(salt)\n".utf8))
      }
      usleep(50)
    }
    try environment.close(waitingAtMost: .seconds(20))
  }
}

/// Opens an environment, which recovers it, and closes it: `journal-recover DIRECTORY SETTING`.
struct JournalRecoverAct {
  private let directory: FilePath
  private let setting: JournalSetting

  init(_ act: Act) throws {
    directory = try act.path(0)
    setting = try JournalSetting(act, at: 1)
  }

  func run() throws {
    try LMDBEnvironment(path: directory, options: setting.options).close(waitingAtMost: .seconds(20))
  }
}
