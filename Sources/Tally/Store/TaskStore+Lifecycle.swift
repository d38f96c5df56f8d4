import Foundation
import LMDB
import SystemPackage
import TallyEngine
import TallySystem

extension TaskStore {
  /// Finishes the waiting writes, flushes them and closes the store.
  ///
  /// After that, every call but this one throws `storeClosed`.
  ///
  /// - Throws: `storeBusy` while reads or writes are in progress; the store then stays open.
  public func close() throws {
    try session.end(as: .closed, waitingAtMost: nil)
  }

  /// Finishes the waiting writes, waits for reads and writes in progress, flushes and closes the store.
  ///
  /// Calls that begin meanwhile wait for the outcome, and then throw `storeClosed` or continue. It blocks its thread.
  ///
  /// - Parameter limit: the longest time to wait, in total.
  /// - Throws: `storeBusy` if that takes longer, or inside a read or write of this thread; `diskFull` or
  ///   `storageFailed` if flushing fails. In each case the store stays open.
  public func close(waitingAtMost limit: Duration) throws {
    try session.end(as: .closed, waitingAtMost: limit)
  }

  /// Releases every lock and file of the store until ``resume()``.
  ///
  /// It is for applications that the system suspends, because the system kills an application that holds a lock on a
  /// shared file while suspended. It commits the waiting writes, and waits for reads, writes and copies in progress.
  /// Calls that begin meanwhile wait for the outcome; once the store is suspended, reads and writes throw
  /// `storeSuspended`, and observations wait. Other processes may do anything with the store, including compacting or
  /// restoring it. It blocks its thread. Suspending a suspended store does nothing.
  ///
  /// - Parameter limit: the longest time to wait, in total.
  /// - Throws: `storeBusy` if that takes longer, or inside a read or write of this thread; `diskFull` or
  ///   `storageFailed` if flushing relaxed writes fails; `storeClosed`. Except after `storeClosed`, the store stays
  ///   open.
  public func suspend(waitingAtMost limit: Duration = .seconds(2)) throws {
    try session.end(as: .suspended, waitingAtMost: limit)
  }

  /// Opens a suspended store again; does nothing if it is open.
  ///
  /// Observations continue, and report the changes that other processes have made in the meantime.
  ///
  /// - Throws: `storeClosed`; `storeMissing` if the store has been removed; otherwise as opening a store. On failure
  ///   the store stays suspended.
  /// - Complexity: as opening a store.
  public func resume() throws {
    try session.resume()
  }
}

extension TaskStore {
  /// Runs calls that block, such as a backup or an import, on their own thread, and awaits them without blocking.
  ///
  /// ```swift
  /// let summary = try await TaskStore.perform { try store.importDocument(from: "export.json") }
  /// try await TaskStore.perform { try store.close(waitingAtMost: .seconds(5)) }
  /// ```
  ///
  /// Swift's tasks share a few threads, which blocking calls would occupy. The closure belongs to the calling Swift
  /// task: if that is cancelled, calls that report progress throw `cancelled`.
  ///
  /// - Parameter body: the calls, of this library or any others that block.
  /// - Returns: what the closure returns.
  /// - Throws: what the closure throws.
  /// - Complexity: starts a thread, which takes some tens of microseconds.
  @discardableResult
  public static func perform<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await ThreadExecutor.perform(body)
  }
}

extension TaskStore {
  /// Opens a new, empty store for tests and previews, which is deleted with its last reference.
  ///
  /// ```swift
  /// let store = try TaskStore.temporary()
  /// try store.writeAndWait { try $0.add("Water the plants", to: .today) }
  /// ```
  ///
  /// It is a real store with all its rules, in a new directory inside the system's temporary directory. If a process
  /// ends without releasing it, the directory stays until another temporary store is created.
  ///
  /// - Parameter configuration: how to open it; by default, its writes are relaxed.
  /// - Returns: the store.
  /// - Throws: as opening a store.
  public static func temporary(configuration: Configuration? = nil) throws -> TaskStore {
    let item = try TallyError.translatingErrno {
      try TemporaryItem(.directory, in: FilePath(FileManager.default.temporaryDirectory.path), for: "tally")
    }
    var relaxed = Configuration()
    relaxed.durability = .relaxed
    let configuration = configuration ?? relaxed
    return try TaskStore(
      StoreOpening(directory: item.storeDirectory.absolute, configuration: configuration), configuration,
      temporary: item)
  }
}
