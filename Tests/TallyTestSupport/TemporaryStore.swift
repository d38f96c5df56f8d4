import Foundation
public import SystemPackage
public import Tally

/// A store whose tables contradict each other at the end of a test.
public struct UnsoundStore: Error, CustomStringConvertible {
  /// The findings of the check.
  public let description: String
}

/// A directory for one test, removed at the end.
public func withTemporaryDirectory<R>(_ body: (FilePath) throws -> R) throws -> R {
  let url = FileManager.default.temporaryDirectory.appendingPathComponent("tally-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: url) }
  return try body(FilePath(url.path))
}

/// As the synchronous form, for asynchronous tests.
public func withTemporaryDirectory<R>(_ body: (FilePath) async throws -> R) async throws -> R {
  let url = FileManager.default.temporaryDirectory.appendingPathComponent("tally-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: url) }
  return try await body(FilePath(url.path))
}

/// A store for one test; its invariants are checked at the end.
public func withStore<R>(
  _ configuration: TaskStore.Configuration = .testing(), _ body: (TaskStore) throws -> R
) throws -> R {
  try withTemporaryDirectory { directory in
    let store = try TaskStore(at: directory.appending("store"), configuration: configuration)
    let result = try body(store)
    try checkInvariants(of: store)
    try store.close()
    return result
  }
}

/// As the synchronous form, for asynchronous tests.
public func withStore<R>(
  _ configuration: TaskStore.Configuration = .testing(), _ body: (TaskStore) async throws -> R
) async throws -> R {
  try await withTemporaryDirectory { directory in
    let store = try TaskStore(at: directory.appending("store"), configuration: configuration)
    let result = try await body(store)
    try checkInvariants(of: store)
    try store.close()
    return result
  }
}

/// Throws if any two tables of a store disagree.
public func checkInvariants(of store: TaskStore) throws {
  let report = try store.verify()
  guard report.isSound else {
    throw UnsoundStore(description: report.faults.map(\.description).joined(separator: "; "))
  }
}

extension TaskStore.Configuration {
  /// A store in Istanbul's time, at noon of 2026-11-21 there unless a clock is given.
  public static func testing(clock: TestClock = .noon, timeZone: String = "Europe/Istanbul") -> Self {
    var configuration = TaskStore.Configuration()
    configuration.now = { clock.now }
    configuration.calendar = Calendar(identifier: .gregorian)
    configuration.calendar.timeZone = TimeZone(identifier: timeZone) ?? .gmt
    configuration.calendar.firstWeekday = 2
    // Under ThreadSanitizer a process has room for four maps of the usual size, and waiting tests keep theirs.
    configuration.mapSizeInBytes = 1 << 36
    return configuration
  }
}

extension TestClock {
  /// A new clock at 2026-11-21T09:00:00Z, noon in Istanbul.
  public static var noon: TestClock {
    TestClock((try? Timestamp(iso8601: "2026-11-21T09:00:00Z")) ?? .earliest)
  }
}
