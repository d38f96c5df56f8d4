import Foundation
import SystemPackage
import TallySystem

/// A file of a space's folder: its name, and what shows that it has changed.
struct FolderEntry: Hashable, Sendable {
  let name: FolderName
  let path: FilePath
  let byteCount: Int64
  /// The times of the last modification and of the last change of the file's status, in seconds and nanoseconds.
  let modified: [Int]

  /// Looks a file up; `nil` if it is not there, or no file that could be ours.
  init?(_ name: FolderName, at path: FilePath) throws {
    guard let status = try Self.status(of: path), status.type == .regular,
      status.size <= FolderDisk.largestFileInBytes
    else { return nil }
    (self.name, self.path, byteCount) = (name, path, status.size)
    modified = [status.st_mtim, status.st_ctim].flatMap { [Int($0.tv_sec), Int($0.tv_nsec)] }
  }

  private static func status(of path: FilePath) throws -> Stat? {
    do {
      return try path.stat(followTargetSymlink: false)
    } catch Errno.noSuchFileOrDirectory {
      return nil
    }
  }

  /// Takes a file for which another one is a placeholder; its size is unknown.
  init(_ name: FolderName, standingAt placeholder: FolderEntry) {
    (self.name, path, modified) = (name, placeholder.path, placeholder.modified)
    byteCount = FolderDisk.largestFileInBytes
  }
}

/// Finds the files of a space.
struct FolderListing: Sendable {
  /// How often the names are listed while they change.
  static let mostListings = 8

  /// The directory of the space.
  let space: FilePath

  /// What belongs to replicas, one directory each.
  enum Part: String, CaseIterable {
    case replicas, snapshots
  }

  /// Creates a listing of a directory that need not exist.
  init(of space: FilePath) {
    self.space = space
  }

  /// Where the files of a replica are.
  func directory(_ part: Part, of replica: ReplicaID) -> FilePath {
    space.appending(part.rawValue).appending(replica.description)
  }

  /// Throws a fault unless the directory of the space is there.
  func requireReachable() throws(FolderFault) {
    var reason = Errno.noSuchFileOrDirectory
    do {
      if try FolderDisk.isDirectory(space) { return }
    } catch {
      reason = error as? Errno ?? .ioError
    }
    throw FolderFault(kind: .unreachable, path: space, reason: "\(reason)")
  }

  /// The replicas that have a directory.
  func replicas(_ part: Part) throws(FolderFault) -> [ReplicaID] {
    try names(in: space.appending(part.rawValue)).compactMap { name in
      let id = HexDigits.bytes(of: name).flatMap { ReplicaID(bytes: $0) }
      return id?.description == name ? id : nil
    }
  }

  /// The files of a replica, with names that count.
  ///
  /// A file that vanishes between the names and the look at it is in a pack by now, which the names do not have: they are
  /// listed again then.
  func entries(_ part: Part, of replica: ReplicaID) throws(FolderFault) -> [FolderEntry] {
    let directory = directory(part, of: replica)
    var listed = Set(try names(in: directory))
    for _ in 1..<Self.mostListings {
      let found = try entries(listed, in: directory)
      if found.count == listed.count { return found }
      let now = Set(try names(in: directory))
      if now == listed { return found }
      listed = now
    }
    return try entries(listed, in: directory)
  }

  private func entries(_ names: Set<String>, in directory: FilePath) throws(FolderFault) -> [FolderEntry] {
    var entries: [FolderEntry] = []
    for text in names {
      guard let name = FolderName(text) else { continue }
      // Appending a component is slow in a debug build, where swift-system checks the whole path after each byte.
      let path = FilePath("\(directory)/\(text)")
      if let entry = try FolderFault.at(path, { try FolderEntry(name, at: path) }) { entries.append(entry) }
    }
    return entries
  }

  /// The names in a directory; none if it is not there, or a link to somewhere else.
  private func names(in directory: FilePath) throws(FolderFault) -> [String] {
    do {
      guard try FolderDisk.isDirectory(directory) else { return [] }
      return try FileManager.default.contentsOfDirectory(atPath: directory.string)
    } catch {
      let code = ((error as? CocoaError)?.underlying as? POSIXError)?.code.rawValue
      let errno = error as? Errno ?? code.map { Errno(rawValue: $0) } ?? .ioError
      if [.noSuchFileOrDirectory, .notDirectory].contains(errno) { return [] }
      throw FolderFault(errno, at: directory)
    }
  }
}
