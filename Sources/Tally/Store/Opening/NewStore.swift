import Foundation
import LMDB
import SystemPackage
import TallySystem

/// A store that is being made under a name of its own, and gets its place when it is complete.
///
/// | the place | how the store gets there |
/// | --- | --- |
/// | nothing | made beside it; the directory is renamed |
/// | an empty directory | made inside it; the files are linked |
///
/// A directory that exists is not replaced: it may be a mounted volume or the target of a link, and it is its owner's.
/// Both ways fail where another process has been first, and then its store stays.
struct NewStore {
  private let directory: FilePath
  private let options: Environment.Options

  init(at directory: FilePath, options: Environment.Options) {
    self.directory = directory
    var options = options
    options.durability = .full
    self.options = options
  }

  /// Makes an empty store unless another process does so at the same time.
  func create() throws {
    let isDirectoryThere = (try? directory.stat()) != nil
    let parent = isDirectoryThere ? directory : directory.parentOrCurrent
    StagingDirectory.sweep(parent)
    let staging = try StagingDirectory(in: parent, for: directory.lastComponent?.string ?? "store")
    try fill(staging.path)
    do {
      if isDirectoryThere {
        try moveFiles(from: staging.path)
      } else {
        try SystemCalls.rename(staging.path, to: directory)
      }
    } catch Errno.fileExists, Errno.directoryNotEmpty {
      return
    }
    try SystemCalls.flushDirectory(parent)
  }

  private func fill(_ staging: FilePath) throws {
    // liblmdb would create them with permissions narrowed by the process's mask.
    for name in StoreOpening.fileNames {
      try SystemCalls.createFile(staging.appending(name), permissions: .ownerReadWrite)
    }
    let environment = try Environment(path: staging, options: options)
    do {
      try environment.write { transaction in
        let tables = try Tables(creatingIn: &transaction)
        let header = StoreHeader(storeID: UUIDv7.next(), sequence: 0)
        try tables.meta.put(header, forKey: .header, in: &transaction)
      }
    } catch {
      try? environment.close()
      throw error
    }
    try environment.close()
    try SystemCalls.flushDirectory(staging)
  }

  /// Gives the files their names in the store's directory, the lock first: a data file is what makes it a store.
  private func moveFiles(from staging: FilePath) throws {
    // Its owner alone may change them; the files are closed to others in any case.
    try? SystemCalls.changePermissions(directory, to: .ownerReadWriteExecute)
    do {
      try link(StoreOpening.lockFileName, from: staging)
    } catch Errno.fileExists {
      // Left from a failed opening, or in use already: liblmdb takes it as it is.
    }
    try link(StoreOpening.dataFileName, from: staging)
  }

  private func link(_ name: String, from staging: FilePath) throws(Errno) {
    // Unlike a renaming, a link never replaces the file of somebody who was first.
    try SystemCalls.link(staging.appending(name), as: directory.appending(name))
  }
}
