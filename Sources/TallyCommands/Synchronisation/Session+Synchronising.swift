import Foundation
import SystemPackage
import Tally
import TallySync
import TallySystem

extension Session {
  /// Exchanges changes for the first time; the store is in its space even if that fails.
  @discardableResult
  func synchroniseFirst(_ sync: StoreSync) -> SyncReport? {
    do {
      return try wait { try await sync.synchronise() }
    } catch {
      note("Nothing was exchanged yet: \((error as? TallyError)?.message ?? "\(error)").")
      return nil
    }
  }

  /// Runs a call that commits by itself; whether `tally undo` would reverse its change, and no other.
  func findingChange<R: Sendable>(
    in store: TaskStore, _ body: @escaping @Sendable () async throws -> R
  ) throws -> (result: R, isUndoable: Bool) {
    let last = try store.read { try $0.history(limit: 1).first?.id }
    let result = try wait(for: body)
    // Another program may have committed meanwhile.
    let newer = try store.read { try $0.history(limit: 2) }.prefix { $0.id != last }
    guard newer.count == 1, let own = newer.first else { return (result, false) }
    // A change that was too large for the history shows nothing of what it changed.
    return (result, !own.tasks.isEmpty || !own.lists.isEmpty || !own.savedFilters.isEmpty)
  }

  /// The faults in the rows of synchronisation; none in a store that does not synchronise.
  func synchronisationFaults() throws -> [StoreFault] {
    guard let sync = try synchronisingStore() else { return [] }
    return try wait { try await sync.verify() }
  }

  /// The tasks and lists with a text that is too large to be sent; none in a store that does not synchronise.
  func unsentTexts() throws -> [String] {
    guard let sync = try synchronisingStore() else { return [] }
    return try wait { try await sync.unsentTexts() }
  }

  /// Repairs those, and returns them.
  func repairSynchronisation() throws -> [StoreFault] {
    guard let sync = try synchronisingStore() else { return [] }
    return try wait { try await sync.repair() }
  }

  /// Whether the store may belong to a space, without opening it.
  var isSynchronising: Bool {
    FileManager.default.fileExists(atPath: storePath.appending(StoreSync.replicaFileName).string)
  }

  /// The store, if it belongs to a space: others are not opened.
  private func synchronisingStore() throws -> StoreSync? {
    guard isSynchronising else { return nil }
    let sync = StoreSync(try openStore(for: .changing))
    return try wait { try await sync.isSetUp } ? sync : nil
  }

  /// The name of this machine.
  static var deviceName: String { ProcessInfo.processInfo.hostName }

  /// The passphrase in the first line of a file.
  func passphrase(inFile path: String) throws -> String { try secret("passphrase", inFile: path) }

  /// The first line of a file.
  ///
  /// - Parameters:
  ///   - name: What it is, for messages.
  ///   - path: The file.
  /// - Returns: The line.
  /// - Throws: `CommandFailure`.
  func secret(_ name: String, inFile path: String) throws -> String {
    let text: String
    do {
      // It may also be a pipe, for example from a password manager.
      let file = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
      text = String(decoding: try file.closeAfter { try file.readToEnd(atMost: 1 << 16) }, as: UTF8.self)
    } catch {
      throw CommandFailure(
        .inputUnreadable, code: "inputUnreadable", "The file with the \(name) cannot be read: \(error)",
        remedy: "Check its name")
    }
    let line = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).first.map(String.init) ?? ""
    guard !line.isEmpty else {
      throw CommandFailure.usage("The \(name) is empty", remedy: "Write it into the first line of the file")
    }
    return line
  }
}
