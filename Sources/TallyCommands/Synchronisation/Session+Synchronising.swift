import Foundation
import SystemPackage
import Tally
import TallySync

extension Session {
  /// Exchanges changes for the first time; the store is in its space even if that fails.
  func synchroniseFirst(_ store: TaskStore) {
    do {
      let sync = StoreSync(store, connector: invocation.hubClient)
      let report = try wait { try await sync.synchronise() }
      if let failure = CommandFailure(incomplete: report.incomplete, clock) {
        note("\(failure.message). \(failure.remedy).")
      }
    } catch {
      note("Nothing was exchanged yet: \((error as? TallyError)?.message ?? "\(error)").")
    }
  }

  /// The faults in the rows of synchronisation; none in a store that does not synchronise.
  func synchronisationFaults() throws -> [StoreFault] {
    guard let sync = try synchronisingStore() else { return [] }
    return try wait { try await sync.verify() }
  }

  /// Repairs those, and returns them.
  func repairSynchronisation() throws -> [StoreFault] {
    guard let sync = try synchronisingStore() else { return [] }
    return try wait { try await sync.repair() }
  }

  /// The store, if it belongs to a space: others are not opened.
  private func synchronisingStore() throws -> StoreSync? {
    guard FileManager.default.fileExists(atPath: storePath.appending(StoreSync.replicaFileName).string) else {
      return nil
    }
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
      text = try String(contentsOfFile: path, encoding: .utf8)
    } catch {
      throw CommandFailure(
        .inputUnreadable, code: "inputUnreadable", "The file with the \(name) cannot be read", remedy: "Check its name")
    }
    let line = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).first.map(String.init) ?? ""
    guard !line.isEmpty else {
      throw CommandFailure.usage("The \(name) is empty", remedy: "Write it into the first line of the file")
    }
    return line
  }
}
