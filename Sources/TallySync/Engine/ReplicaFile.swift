import Foundation
import SystemPackage
import Tally
import TallySystem

/// The file `replica.id` beside a store: says that this directory, on this machine, is the replica that the store names.
///
/// A copy or a restored backup of a store has no such file, or one with another inode: it must not write as the same
/// replica.
struct ReplicaFile {
  private let path: FilePath

  init(of store: TaskStore) {
    path = store.directory.appending(TaskStore.replicaFileName)
  }

  /// Whether this directory is the replica.
  func names(_ replica: ReplicaID) -> Bool {
    guard let bytes = try? WholeFile.read(path, atMost: Self.mostBytes), let inode = try? inode(of: path) else {
      return false
    }
    return content(replica, inode: inode).utf8.elementsEqual(bytes)
  }

  /// Says that this directory is the replica.
  ///
  /// The content has the inode of the file itself, which a copy cannot keep.
  func write(_ replica: ReplicaID) throws {
    let file = try AtomicFile(replacing: path)
    let inode = try file.descriptor.stat().inode
    _ = try file.descriptor.writeAll(Array(content(replica, inode: UInt64(inode.rawValue)).utf8))
    try file.publish()
  }

  func remove() throws {
    try SystemCalls.removeFile(path)
  }

  private static let mostBytes = 4_096

  private func inode(of path: FilePath) throws -> UInt64 { UInt64(try path.stat().inode.rawValue) }

  private func content(_ replica: ReplicaID, inode: UInt64) -> String {
    "\(replica) \(Self.machine) \(inode)\n"
  }

  /// Identifies the machine: systemd's machine id, or else the name of the host.
  private static let machine: String = {
    let id = try? WholeFile.read("/etc/machine-id", atMost: mostBytes)
    let text = id.map { String(decoding: $0, as: UTF8.self).filter { !$0.isWhitespace } } ?? ""
    return text.isEmpty ? ProcessInfo.processInfo.hostName : text
  }()
}
