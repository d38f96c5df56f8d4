import BenchmarkData
import Foundation
import SystemPackage
import Tally
import TallySync

/// A store that shares a folder with others.
struct SyncedSpace: Sendable {
  let scratch: FilePath
  let store: TaskStore
  let setup: SpaceSetup

  /// Sets up a space with a store, and sends all that the store has.
  ///
  /// - Parameters:
  ///   - name: The name of the benchmark's scratch folder.
  ///   - store: The store; `nil` for a copy of the data set.
  /// - Throws: What the store and the folder throw.
  init(_ name: String, _ store: TaskStore? = nil) async throws {
    scratch = try BenchmarkFolder.makeScratch(name)
    self.store = try store ?? dataSet.openCopy("\(name)-first")
    let folder = try Self.makeFolder("folder", in: scratch)
    setup = try await StoreSync(self.store).setUp(in: folder, deviceName: "first")
    try await StoreSync(self.store).synchronize()
  }

  /// The folder that the space was set up in.
  var folder: FilePath { scratch.appending("folder") }

  /// Another folder, empty, as a place for the same space.
  func makeFolder(_ name: String) throws -> FilePath {
    try Self.makeFolder(name, in: scratch)
  }

  private static func makeFolder(_ name: String, in scratch: FilePath) throws -> FilePath {
    let folder = scratch.appending(name)
    try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
    return folder
  }

  /// The transport that reads and writes a folder for the space.
  func transport(at folder: FilePath) throws -> MeasuredTransport {
    MeasuredTransport(try FolderTransport.create(at: folder, space: setup.space.bytes))
  }

  /// An empty store.
  func makeStore(_ name: String) throws -> TaskStore {
    try TaskStore(at: scratch.appending(name), configuration: DataSet.configuration())
  }

  /// Ensures that another store has the same tasks.
  func expectSameTasks(in other: TaskStore) throws {
    let hashes = try [store, other].map { store in
      try store.read { AnswerHash(try $0.page(of: .all, limit: .max).tasks) }
    }
    try expectEqual(hashes[0], hashes[1], "tasks of both stores")
  }
}
