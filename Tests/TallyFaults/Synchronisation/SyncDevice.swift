import Dispatch
import Foundation
import Synchronization
import SystemPackage
import Tally
import TallySync
import TallyTestSupport

/// A device: a directory with a store and, unless devices share one, its copy of the folder of a space.
struct SyncDevice {
  let directory: FilePath
  let folder: FilePath
  let store: TaskStore
  private let sync: StoreSync

  /// Opens the store, which may be new.
  init(at directory: FilePath, folder: FilePath? = nil, isRelaxed: Bool = false) throws {
    self.directory = directory
    self.folder = folder ?? directory.appending("folder")
    var configuration = TaskStore.Configuration.testing()
    configuration.durability = isRelaxed ? .relaxed : .durable
    store = try TaskStore(at: directory.appending("store"), configuration: configuration)
    sync = StoreSync(store)
  }

  /// Creates a space, and returns the invitation to it.
  func setUp() throws -> String {
    try waiting { [sync, folder] in try await sync.setUp(in: folder, deviceName: "first").invitation }
  }

  func join(_ invitation: String) throws {
    try waiting { [sync, folder] in _ = try await sync.join(invitation, in: folder, deviceName: "other") }
  }

  @discardableResult
  func synchronize() throws -> SyncReport {
    try waiting { [sync] in try await sync.synchronize() }
  }

  /// How the store stands; `nil` if it belongs to no space yet.
  func status() throws -> SyncStatus? {
    do {
      return try waiting { [sync] in try await sync.status() }
    } catch let error as TallyError where error.code == .notSynchronising {
      return nil
    }
  }

  /// Lets a copy of a device be the original: the inode in `replica.id` distinguishes the two.
  static func keepIdentity(at directory: FilePath) throws {
    let file = directory.appending("store").appending("replica.id")
    guard let words = try? String(contentsOfFile: file.string, encoding: .utf8).split(separator: " "), words.count == 3
    else { return }
    let inode = try file.stat().inode.rawValue
    let handle = try FileDescriptor.open(file, .writeOnly, options: [.truncate])
    _ = try handle.closeAfter { try handle.writeAll("\(words[0]) \(words[1]) \(inode)\n".utf8) }
  }
}

/// Waits for a body that suspends; not from one of Swift's own threads.
func waiting<R: Sendable>(for body: @escaping @Sendable () async throws -> R) throws -> R {
  let (outcome, done) = (Outcome<R>(), DispatchSemaphore(value: 0))
  Task {
    do {
      let value = try await body()
      outcome.result.withLock { $0 = .success(value) }
    } catch {
      outcome.result.withLock { $0 = .failure(error) }
    }
    done.signal()
  }
  done.wait()
  guard let result = outcome.result.withLock({ $0 }) else { throw Failure(description: "a task has no outcome") }
  return try result.get()
}

private final class Outcome<R: Sendable>: Sendable {
  let result = Mutex<Result<R, any Error>?>(nil)
}
