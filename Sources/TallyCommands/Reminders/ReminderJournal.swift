import Foundation
import SystemPackage
import Tally
import TallyEngine
import TallySystem

/// The record of what `tally remind` has done, so that a new start neither repeats nor forgets a reminder.
///
/// A text file of lines, appended and flushed before and after each run of the program:
///
/// ```
/// since 2026-11-21T12:00:00Z            reminders before it are not handled
/// start 2026-11-21T12:05:00Z ID         the program is about to be run
/// end 2026-11-21T12:05:00Z ID           it has ended, and nothing more is done
/// fail 2026-11-21T12:05:00Z ID 2026-11-21T12:05:31Z     it has failed, and is tried again at the second instant
/// ```
///
/// A start without an end was running when `tally` was killed: whether its work was done is unknown, so it
/// is reported and not run again. The journal is not in the store: it is about one machine's programs, and undo would
/// revert it.
final class ReminderJournal {
  /// A reminder; moved to another time, it is another one.
  struct Entry: Hashable {
    let date: Timestamp
    let taskID: UUID
  }

  /// Reminders before this are not handled.
  private(set) var since: Timestamp
  /// The reminders whose programs were started, whether they ended or not.
  private(set) var begun: Set<Entry> = []
  /// The reminders that an earlier run started and did not end.
  private(set) var interrupted: [Entry] = []
  /// The reminders whose programs failed and are tried again.
  var retries = ReminderRetries()
  private static let beginning = "since "
  private let path: FilePath
  private let file: FileDescriptor
  /// Keeps other processes from the journal for as long as this lives.
  private let lock: FileLock

  /// Opens the journal, or begins one at `now`.
  ///
  /// - Throws: ``CommandFailure`` if it cannot be used, is a file of a store, or another process has it open.
  init(at path: FilePath, ofStoreAt store: FilePath, now: Timestamp) throws {
    guard !StoreFiles.contain(path, ofStoreAt: store) else {
      throw CommandFailure(openingJournal: path, "It is a file of a store")
    }
    since = now
    self.path = path
    file = try Self.opening(path) {
      try FileDescriptor.open(
        path, .readWrite, options: [.create, .append, .closeOnExec], permissions: .ownerReadWrite)
    }
    let file = file
    // A pipe or a device does not return the lines that were written to it, or never ends.
    guard try Self.opening(path, { try file.stat().type == .regular }) else {
      throw CommandFailure(openingJournal: path, "It is not a regular file")
    }
    let lock = try Self.opening(path) { try FileLock(opening: SystemCalls.resolvingLinks(path) ?? path) }
    self.lock = lock
    guard try Self.opening(path, { try lock.tryAcquire(.exclusive) }) else {
      throw CommandFailure(
        .busy, code: "storeBusy", "Another 'tally remind' is running for this store", remedy: "Stop that one first")
    }
    guard try read() else { return }
    try append("since \(now.iso8601)")
    // After a power cut the file must still have its name: it is the record of the programs that were run.
    let resolved = SystemCalls.resolvingLinks(path) ?? path
    try Self.opening(path) { try SystemCalls.flushDirectory(resolved.parentOrCurrent) }
  }

  private static func opening<R>(_ path: FilePath, _ body: () throws -> R) throws -> R {
    try CommandFailure.replacing({ CommandFailure(openingJournal: path, "\($0)") }, body)
  }

  deinit {
    try? file.close()
  }

  /// Records that a program is about to be run.
  func begin(_ entry: Entry) throws {
    begun.insert(entry)
    try append("start \(entry.date.iso8601) \(entry.taskID.text)")
  }

  /// Records that a program has failed; returns when it is tried again, or `nil` if that was the last time.
  func fail(_ entry: Entry, at now: Timestamp) throws -> Timestamp? {
    guard let next = retries.recordFailure(of: entry, at: now) else {
      try end(entry)
      return nil
    }
    try append("fail \(entry.date.iso8601) \(entry.taskID.text) \(next.iso8601)")
    return next
  }

  /// Records that a program has ended, or that the reminder has been reported.
  func end(_ entry: Entry) throws {
    retries.remove(entry)
    try append("end \(entry.date.iso8601) \(entry.taskID.text)")
  }
}

extension ReminderJournal {
  /// Reads what earlier runs have written; true if there was nothing.
  private func read() throws -> Bool {
    let text = String(decoding: try Self.opening(path) { try file.readToEnd() }, as: UTF8.self)
    // Only the first line may have been cut off before it said so.
    guard text.hasPrefix(Self.beginning) || Self.beginning.hasPrefix(text) else {
      throw CommandFailure(openingJournal: path, "It does not begin with a 'since' line")
    }
    // A line without its end was cut off by a crash; its program was not started.
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    var open: Set<Entry> = []
    for line in lines {
      let words = line.split(separator: " ").map(String.init)
      guard let date = words.dropFirst().first.flatMap({ try? Timestamp(iso8601: $0) }) else { continue }
      if words[0] == "since" { since = date }
      guard words.count >= 3, let id = UUID(uuidString: words[2]) else { continue }
      let entry = Entry(date: date, taskID: id)
      begun.insert(entry)
      if words[0] == "start" { open.insert(entry) } else { open.remove(entry) }
      if words[0] == "end" { retries.remove(entry) }
      if words[0] == "fail", let next = words.dropFirst(3).first.flatMap({ try? Timestamp(iso8601: $0) }) {
        retries.restore(entry, next: next)
      }
    }
    interrupted = open.sorted { ($0.date, $0.taskID.uuidString) < ($1.date, $1.taskID.uuidString) }
    // A line that a crash cut off must not merge with the next one, nor the rest of a first word stay the first.
    try Self.opening(path) {
      if !text.hasPrefix(Self.beginning) {
        try file.resize(to: 0)
      } else if !text.hasSuffix("\n") {
        _ = try file.writeAll("\n".utf8)
      }
    }
    return lines.isEmpty
  }

  private func append(_ line: String) throws {
    do {
      try file.writeAll((line + "\n").utf8)
      try SystemCalls.flush(file)
    } catch {
      throw CommandFailure(
        .storageFailed, code: "storageFailed",
        "The journal '\(path.string.escapedForDisplay())' cannot be written: \(error)",
        remedy: "Free space on its disk, or name another file with --journal")
    }
  }
}

extension CommandFailure {
  /// The failure of a journal that cannot be opened or whose directory cannot be created.
  init(openingJournal path: FilePath, _ reason: String) {
    self.init(
      .outputNotCreated, code: "outputNotCreated",
      "The journal '\(path.string.escapedForDisplay())' cannot be opened: \(reason)",
      remedy: "Check its directory and permissions, or name another file with --journal")
  }
}

/// The failed programs to try again, and when: three times, after 30 seconds, one minute and two.
struct ReminderRetries {
  private static let firstDelayInSeconds: Int64 = 30
  private static let maximumCount = 3

  private var failures: [ReminderJournal.Entry: (count: Int, next: Timestamp)] = [:]

  /// Records that a program has failed at an instant; returns when it is tried again, or `nil` after the last try.
  mutating func recordFailure(of entry: ReminderJournal.Entry, at now: Timestamp) -> Timestamp? {
    let count = (failures[entry]?.count ?? 0) + 1
    guard count <= Self.maximumCount else {
      failures[entry] = nil
      return nil
    }
    let next = now.adding(seconds: Self.firstDelayInSeconds << Int64(count - 1))
    failures[entry] = (count, next)
    return next
  }

  /// Records that a program has ended well, or that its reminder was moved or deleted.
  mutating func remove(_ entry: ReminderJournal.Entry) { failures[entry] = nil }

  /// Restores the state of a journal: a failure, and when to try again.
  mutating func restore(_ entry: ReminderJournal.Entry, next: Timestamp) {
    failures[entry] = ((failures[entry]?.count ?? 0) + 1, next)
  }

  /// The reminders whose next try is due, earliest first.
  func due(at now: Timestamp) -> [ReminderJournal.Entry] {
    failures.filter { $0.value.next <= now }.sorted { $0.value.next < $1.value.next }.map(\.key)
  }
}
