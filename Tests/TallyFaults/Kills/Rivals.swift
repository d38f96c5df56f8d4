import Foundation
import SystemPackage
import Tally
import TallyTestSupport

/// The work of several processes on one store until they are killed, by which each snapshot is seen to be whole or torn.
///
/// A writer's n-th transaction writes n into two tasks of its own, adds two tasks and deletes one: a snapshot in which
/// the two disagree, or in which the number of tasks does not follow from the numbers, is torn.
struct Rivals {
  static let writerCount = 2
  static let importedTaskCount = 200

  /// The id of an item by its kind and number.
  static func id(_ kind: UInt8, _ number: Int) -> UUID {
    let bytes = (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * (3 - $0))) }
    return UUID(
      uuid: (kind, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, bytes[0], bytes[1], bytes[2], bytes[3]))
  }

  static func markers(of writer: Int) -> [UUID] {
    [id(1, 2 * writer), id(1, 2 * writer + 1)]
  }

  /// The writers and imports as seen in a snapshot.
  struct Account {
    var sequence: UInt64 = 0
    /// The number of transactions of each writer.
    var writers: [Int] = []
    var importCount = 0
    /// The fault of the snapshot.
    var fault: String?
  }

  static func account(of transaction: borrowing StoreReadTransaction) throws -> Account {
    var account = Account(sequence: try transaction.sequence)
    var expectedCount = 0
    for writer in 0..<writerCount {
      let numbers = try markers(of: writer).map { try transaction.task($0).flatMap { Int($0.title) } }
      if numbers[0] != numbers[1] { account.fault = "writer \(writer)'s two tasks say \(numbers)" }
      account.writers.append(numbers[0] ?? 0)
      expectedCount += numbers[0].map { $0 + 2 } ?? 0
    }
    let importedCount = try transaction.taskCount - expectedCount
    account.importCount = importedCount / importedTaskCount
    if importedCount < 0 || !importedCount.isMultiple(of: importedTaskCount) {
      account.fault = "the writers say \(account.writers), and there are \(importedCount) tasks beside theirs"
    }
    return account
  }
}

/// One process of several: `rival STORE FILE ROLE NUMBER`; it acknowledges its transactions in a file.
struct RivalAct {
  private let directory: FilePath
  private let acknowledgements: FilePath
  private let role: String
  private let number: Int
  /// The newest sequence that a reader has seen.
  private var sequence: UInt64 = 0

  private static let operationsPerOpening = 12

  init(_ act: Act) throws {
    directory = try act.path(0)
    acknowledgements = try act.path(1)
    role = try act.text(2)
    number = try act.number(3)
  }

  mutating func run() throws {
    let file = try FileDescriptor.open(
      acknowledgements, .writeOnly, options: [.create, .append, .closeOnExec], permissions: .ownerReadWrite)
    switch role {
    case "writer": try repeatedly { try write($0, acknowledging: file) }
    case "reader": try repeatedly { try read($0) }
    case "importer": try repeatedly { try importAgain($0, acknowledging: file) }
    case "compactor": try compactAgain()
    case "resident": try stay { try write($0, acknowledging: file) }
    case "suspender": try stay(suspending: true) { try write($0, acknowledging: file) }
    case "watcher": try stay { try watch($0) }
    case "visitor": try visit()
    default: throw FaultProgram.Misuse()
    }
  }

  /// A store may be held for a moment by a process that compacts or creates it.
  private func openPatiently() throws -> TaskStore {
    while true {
      do {
        return try TaskStore(at: directory)
      } catch let error as TallyError where error.code == .storeBusy {
        usleep(2_000)
      }
    }
  }

  /// Uses the store for a few operations, closes it for a moment, and begins again.
  private func repeatedly(_ body: (TaskStore) throws -> Void) throws {
    while true {
      let store = try openPatiently()
      try body(store)
      try store.close()
      usleep(UInt32.random(in: 0...3_000))
    }
  }

  /// Whether the program is to end.
  private var isEnding: Bool {
    FileManager.default.fileExists(atPath: acknowledgements.removingLastComponent().appending("end").string)
  }

  /// Keeps the store open, and suspends it between two operations if it should.
  private func stay(suspending: Bool = false, _ body: (TaskStore) throws -> Void) throws {
    let watchdog = Watchdog(directory: directory)
    watchdog.begin("opening")
    let store = try openPatiently()
    while !isEnding {
      watchdog.begin("\(role)")
      try body(store)
      guard suspending else { continue }
      watchdog.begin("suspending")
      do {
        try store.suspend()
      } catch let error as TallyError where error.code == .storeBusy {
        // Somebody who was stopped had it; the store stays open.
        continue
      }
      usleep(UInt32.random(in: 0...5_000))
      watchdog.begin("resuming")
      while true {
        do {
          try store.resume()
          break
        } catch let error as TallyError where error.code == .storeBusy {
          usleep(2_000)
        }
      }
    }
    watchdog.begin("closing")
    try store.close(waitingAtMost: .seconds(30))
  }

  /// Reads slowly; a snapshot is never older than the one before.
  private mutating func watch(_ store: TaskStore) throws {
    let account = try store.read { transaction in
      let account = try Rivals.account(of: transaction)
      usleep(UInt32.random(in: 0...20_000))
      let again = try Rivals.account(of: transaction)
      return again.writers == account.writers ? account : Rivals.Account(fault: "a snapshot has changed")
    }
    note(account)
  }

  /// Opens the store for reading only, again and again; it may not be there yet.
  private mutating func visit() throws {
    let watchdog = Watchdog(directory: directory)
    var configuration = TaskStore.Configuration()
    configuration.isReadOnly = true
    while !isEnding {
      watchdog.begin("a visit")
      do {
        let store = try TaskStore(at: directory, configuration: configuration)
        note(try store.read { try Rivals.account(of: $0) })
        try store.close()
      } catch let error as TallyError where [.storeBusy, .storeMissing].contains(error.code) {
        usleep(2_000)
      }
      usleep(UInt32.random(in: 0...5_000))
    }
  }

  private mutating func note(_ account: Rivals.Account) {
    if let fault = account.fault { say("torn: \(fault)") }
    if account.sequence < sequence { say("sequence \(sequence), then \(account.sequence)") }
    sequence = account.sequence
  }

  /// Compacts whenever no process has the store open; in the first round it may come before the store.
  private func compactAgain() throws {
    while true {
      do {
        try TaskStore.compact(at: directory)
      } catch let error as TallyError where [.storeBusy, .storeMissing].contains(error.code) {
        usleep(500)
      }
    }
  }

  private func write(_ store: TaskStore, acknowledging file: FileDescriptor) throws {
    let markers = Rivals.markers(of: number)
    let count = try store.read { try Rivals.account(of: $0).writers[number] }
    // A predecessor may have died between its commit and its acknowledgement.
    try file.writeAll("\(count)\n".utf8)
    for _ in 0..<Self.operationsPerOpening {
      let written = try store.writeAndWait { transaction in
        // Not the number that was read before: a predecessor's last commit may have come back since (L10).
        let next = (try transaction.task(markers[0]).flatMap { Int($0.title) } ?? 0) + 1
        for marker in markers {
          if try transaction.task(marker) == nil {
            _ = try transaction.add(TaskDraft(id: marker, title: "\(next)"))
          } else {
            try transaction.update(marker) { $0.title = "\(next)" }
          }
        }
        let kind = UInt8(2 + number)
        for half in 0..<2 {
          _ = try transaction.add(TaskDraft(id: Rivals.id(kind, 2 * next + half), title: "task", notes: "of \(number)"))
        }
        try transaction.delete(Rivals.id(kind, 2 * next))
        return next
      }
      try file.writeAll("\(written)\n".utf8)
    }
  }

  private mutating func read(_ store: TaskStore) throws {
    for _ in 0..<10 * Self.operationsPerOpening {
      note(try store.read { try Rivals.account(of: $0) })
    }
  }

  private func importAgain(_ store: TaskStore, acknowledging file: FileDescriptor) throws {
    var count = try store.read { try Rivals.account(of: $0).importCount }
    try file.writeAll("\(count)\n".utf8)
    for _ in 0..<2 {
      let document = try FileDescriptor.temporary(beside: acknowledgements)
      let lines = (0..<Rivals.importedTaskCount).map { task in
        let id = Rivals.id(9, count * Rivals.importedTaskCount + task).uuidString.lowercased()
        return "{\"id\":\"\(id)\",\"text\":\"imported\",\"scheduledDate\":\"2026-11-\(10 + task % 20)\"}\n"
      }
      try document.writeAll(lines.joined().utf8)
      try document.seek(offset: 0, from: .start)
      _ = try document.closeAfter { try store.importDocument(from: document, format: .ndjson) }
      count += 1
      try file.writeAll("\(count)\n".utf8)
    }
  }
}

extension FileDescriptor {
  /// An open file that has already lost its name.
  static func temporary(beside path: FilePath) throws -> FileDescriptor {
    let name = path.removingLastComponent().appending("document-\(UUID().uuidString)")
    let file = try FileDescriptor.open(
      name, .readWrite, options: [.create, .exclusiveCreate, .closeOnExec], permissions: .ownerReadWrite)
    try FileManager.default.removeItem(atPath: name.string)
    return file
  }
}
