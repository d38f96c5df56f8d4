import Foundation
import LMDB
import SystemPackage
import TallySystem

/// A store that is created under a temporary name and moved into place when it is complete.
///
/// | the path names | how the store gets there |
/// | --- | --- |
/// | nothing | created beside it; the directory is renamed |
/// | an empty directory | created inside it; the files are linked |
///
/// An existing directory is not replaced: it may be a mounted volume or the target of a link, and it belongs to its
/// owner. If another process is first, its store stays.
struct NewStore {
  private let directory: FilePath
  private let options: LMDBEnvironment.Options
  private let features: StoreFeatures

  init(at directory: FilePath, options: LMDBEnvironment.Options, features: StoreFeatures) {
    (self.directory, self.features) = (directory, features)
    var options = options
    options.durability = .full
    self.options = options
  }

  /// Creates an empty store unless another process does so at the same time.
  func create() throws {
    let isDirectoryThere = (try? directory.stat()) != nil
    let parent = isDirectoryThere ? directory : directory.parentOrCurrent
    let staging = try TemporaryItem(.directory, in: parent, for: directory.lastComponent?.string ?? "store")
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
    // liblmdb would create them with permissions narrowed by the process's umask.
    for name in StoreOpening.fileNames {
      try SystemCalls.createFile(staging.appending(name), permissions: .ownerReadWrite)
    }
    let environment = try LMDBEnvironment(path: staging, options: options)
    defer { try? environment.close() }
    try environment.write { transaction in
      let tables = try Tables(creatingIn: &transaction)
      let header = StoreHeader(storeID: UUIDv7.next(), sequence: 0).requiring(features)
      try tables.meta.put(header, forKey: .header, in: &transaction)
    }
    try environment.close()
    try SystemCalls.flushDirectory(staging)
  }

  /// Links the files into the store's directory, the lock file first: it is the data file that makes a directory a
  /// store.
  private func moveFiles(from staging: FilePath) throws {
    // Only the directory's owner may change its permissions; the files are private in any case.
    try? SystemCalls.changePermissions(directory, to: .ownerReadWriteExecute)
    do {
      try link(StoreOpening.lockFileName, from: staging)
    } catch Errno.fileExists {
      // Left by a failed opening, or already in use: liblmdb accepts it.
    }
    try link(StoreOpening.dataFileName, from: staging)
  }

  private func link(_ name: String, from staging: FilePath) throws(Errno) {
    // Unlike a rename, a link never replaces the file of a process that was first.
    try SystemCalls.link(staging.appending(name), as: directory.appending(name))
  }
}
