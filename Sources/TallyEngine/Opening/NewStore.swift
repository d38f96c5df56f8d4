import Foundation
package import LMDB
package import SystemPackage
import TallySystem

/// A new store, created under a temporary name and moved into place once it is complete.
///
/// | the path names | how the store gets there |
/// | --- | --- |
/// | nothing | created next to the path; the directory is renamed |
/// | an empty directory | created inside it; the files are linked into place |
///
/// An existing directory is never replaced: it may be a mounted volume or the target of a link, and it belongs to its
/// owner. If another process is faster, its store stays.
package struct NewStore {
  private let directory: FilePath
  private let layout: any StoreLayout
  private var options: LMDBEnvironment.Options

  package init(at directory: FilePath, layout: any StoreLayout, options: LMDBEnvironment.Options) {
    (self.directory, self.layout) = (directory, layout)
    self.options = options
    self.options.durability = .full
  }

  /// Creates an empty store, unless another process does so at the same time.
  package func create() throws {
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
    // liblmdb would create them with permissions that the process's umask narrows.
    for name in StoreOpening.fileNames {
      try SystemCalls.createFile(staging.appending(name), permissions: .ownerReadWrite)
    }
    let environment = try LMDBEnvironment(path: staging, options: options)
    defer { try? environment.close() }
    try environment.write { transaction in
      try layout.createTables(in: &transaction)
      var header = StoreHeader(storeID: UUIDv7.next(), sequence: 0)
      header.requiredFeatures = layout.requiredFeatures
      try StoreHeader.table(creatingIn: &transaction).put(header, forKey: .header, in: &transaction)
    }
    try environment.close()
    try SystemCalls.flushDirectory(staging)
  }

  /// Links the files into the store's directory, the data file last, because that file makes the directory a store.
  private func moveFiles(from staging: FilePath) throws {
    // Only the directory's owner may change its permissions, and the files are private in any case.
    try? SystemCalls.changePermissions(directory, to: .ownerReadWriteExecute)
    do {
      try link(StoreOpening.lockFileName, from: staging)
    } catch Errno.fileExists {
      // A failed opening has left the lock file, or it is already in use; liblmdb accepts it.
    }
    try link(StoreOpening.dataFileName, from: staging)
  }

  private func link(_ name: String, from staging: FilePath) throws(Errno) {
    // Unlike a rename, a link never replaces the file of a faster process.
    try SystemCalls.link(staging.appending(name), as: directory.appending(name))
  }
}
