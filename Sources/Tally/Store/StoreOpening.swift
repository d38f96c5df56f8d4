import Foundation
import LMDB
import Logging
import SystemPackage

/// The steps from a path to an open store.
///
/// A new store is made in a directory beside the path, committed, flushed and renamed into place: a crash during
/// LMDB's first write would leave a file that cannot be read.
struct StoreOpening {
  let directory: FilePath
  let configuration: TaskStore.Configuration

  /// The name that liblmdb gives its file.
  static let dataFileName = "data.mdb"
  static let lockFileName = "lock.mdb"

  private var dataFile: FilePath { directory.appending(Self.dataFileName) }

  func open() throws -> (environment: Environment, tables: Tables) {
    if try !isStoreThere() {
      guard configuration.createsIfMissing, !configuration.isReadOnly else { throw TallyError.storeMissing }
      try createStore()
    }
    try refuseRemoteFilesystem(directory)
    let environment = try Environment(path: directory, options: environmentOptions)
    do {
      try refuseTruncatedFile(of: environment)
      try refuseOtherFormats(in: environment)
      let cleared = try environment.clearStaleReaders()
      if cleared > 0 { configuration.logger.notice("cleared reader slots of dead processes", metadata: ["count": "\(cleared)"]) }
      return (environment, try Tables(openingIn: environment))
    } catch {
      try? environment.close()
      throw error
    }
  }

  private var environmentOptions: Environment.Options {
    var options = Environment.Options()
    options.mapSizeInBytes = configuration.mapSizeInBytes
    options.maxDatabases = Tables.maximumCount
    options.isReadOnly = configuration.isReadOnly
    options.durability = configuration.durability == .durable ? .full : .noMetaSync
    return options
  }

  /// Whether the path is a store's; anything else that is there is refused untouched.
  private func isStoreThere() throws -> Bool {
    let type: FileType
    do {
      type = try directory.stat().type
    } catch Errno.noSuchFileOrDirectory {
      return false
    } catch {
      throw TallyError.cannotOpen(error)
    }
    guard type == .directory else {
      throw TallyError(
        .notAStore, "The path of the store is no directory", remedy: "Give the path of a directory, or of none yet")
    }
    if (try? dataFile.stat()) != nil { return true }
    // A directory that is not empty may be anyone's; liblmdb's lock alone may be left from a failed opening.
    let others = try contents(of: directory).filter { $0 != Self.lockFileName }
    guard others.isEmpty else {
      throw TallyError(
        .notAStore, "The directory holds other files and no store",
        remedy: "Give the directory of a store, an empty one, or a path that does not exist yet")
    }
    return false
  }

  private func contents(of directory: FilePath) throws -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: directory.string)
    } catch {
      throw TallyError(
        .permissionDenied, "The store's directory cannot be read", remedy: "Check its permissions", cause: error)
    }
  }

  private func refuseRemoteFilesystem(_ path: FilePath) throws {
    guard !configuration.allowsRemoteFilesystem, RemoteFilesystem.contains(path) else { return }
    throw TallyError(
      .remoteFilesystem, "The store lies on a remote filesystem, where memory maps and locks are not coherent",
      remedy: "Keep the store on a local disk and copy exports or backups instead")
  }

  /// liblmdb trusts the file's own word about its length; reading beyond its end would kill the process.
  private func refuseTruncatedFile(of environment: Environment) throws {
    let size = try dataFile.stat().size
    let information = try environment.information()
    let usedSize = Int64(information.pageCount) * Int64(information.pageSizeInBytes)
    guard size >= usedSize else {
      throw TallyError(
        .damagedStore, "The store's file has \(size) bytes, but its last commit needs \(usedSize)",
        remedy: "Restore the store from a backup or an export")
    }
  }

  private func refuseOtherFormats(in environment: Environment) throws {
    let meta = try Database<MetaKey, StoreHeader>(opening: "meta", in: environment)
    let header = try environment.read { transaction in try meta.value(forKey: .header, in: transaction) }
    guard let header else {
      throw TallyError(.notAStore, "The LMDB file is no Tally store", remedy: "Give the directory of a Tally store")
    }
    guard header.majorFormat <= StoreHeader.currentMajorFormat else {
      throw TallyError(
        .newerFormat,
        "The store has format \(header.majorFormat); this version knows formats up to \(StoreHeader.currentMajorFormat)",
        remedy: "Use a newer version of Tally; the store has not been touched")
    }
  }

  private func createStore() throws {
    do {
      let parent = directory.removingLastComponent()
      let parentOrHere = parent.isEmpty ? FilePath(".") : parent
      try createParents(parentOrHere)
      try refuseRemoteFilesystem(parentOrHere)
      try NewStore(beside: directory, options: environmentOptions).create(movingTo: directory)
    } catch let error as Errno {
      throw TallyError.cannotOpen(error)
    }
  }

  private func createParents(_ parent: FilePath) throws {
    if (try? parent.stat()) != nil { return }
    do {
      try FileManager.default.createDirectory(
        atPath: parent.string, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw TallyError(
        .permissionDenied, "The directory for the store cannot be created",
        remedy: "Check the permissions of the directories above it, or give another path", cause: error)
    }
  }
}

extension TallyError {
  static let storeMissing = TallyError(
    .storeMissing, "There is no store at this path", remedy: "Add a task to create one, or give another path")

  /// Why a store's directory or files could not be reached.
  static func cannotOpen(_ error: Errno) -> TallyError {
    switch error {
    case .permissionDenied, .notPermitted, .readOnlyFileSystem:
      TallyError(
        .permissionDenied, "The system refused access to the store's directory: \(error)",
        remedy: "Check its permissions and owner, or give another path", cause: error)
    case .notDirectory:
      TallyError(
        .notAStore, "A part of the store's path is no directory", remedy: "Give another path", cause: error)
    case .noSpace, .diskQuotaExceeded:
      TallyError(.diskFull, "The disk is full: \(error)", remedy: "Free some space, then try again", cause: error)
    default:
      TallyError(
        .storageFailed, "The store's directory cannot be used: \(error)", remedy: "Check the path and the disk",
        cause: error)
    }
  }
}
