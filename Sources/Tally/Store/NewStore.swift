import Foundation
import LMDB
import SystemPackage

/// A store that is being made under a name of its own, beside the place it is meant for.
struct NewStore {
  private let workshop: FilePath
  private let options: Environment.Options

  /// Chooses a name; nothing is made yet.
  init(beside directory: FilePath, options: Environment.Options) {
    let name = (directory.lastComponent?.string ?? "store") + ".new-" + UUID().uuidString.lowercased()
    workshop = directory.removingLastComponent().appending(name)
    self.options = options
  }

  /// Makes an empty store and gives it its name; where another process was first, its store stays.
  func create(movingTo directory: FilePath) throws {
    try SystemCalls.createDirectory(workshop, permissions: .ownerReadWriteExecute)
    do {
      try fill()
      try SystemCalls.flushDirectory(workshop)
      try move(to: directory)
    } catch {
      removeWorkshop()
      throw error
    }
  }

  private func fill() throws {
    var options = options
    options.durability = .full
    let environment = try Environment(path: workshop, options: options)
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
  }

  private func move(to directory: FilePath) throws {
    removeLeftLock(in: directory)
    do {
      try SystemCalls.rename(workshop, to: directory)
    } catch Errno.directoryNotEmpty, Errno.fileExists {
      // An empty directory would have given way: another process has made a store there.
      return removeWorkshop()
    }
    let parent = directory.removingLastComponent()
    try SystemCalls.flushDirectory(parent.isEmpty ? FilePath(".") : parent)
  }

  /// A lock file without a data file is what an interrupted opening leaves; it would keep the directory from giving way.
  private func removeLeftLock(in directory: FilePath) {
    guard (try? directory.appending(StoreOpening.dataFileName).stat()) == nil else { return }
    try? SystemCalls.removeFile(directory.appending(StoreOpening.lockFileName))
  }

  private func removeWorkshop() {
    for name in [StoreOpening.dataFileName, StoreOpening.lockFileName] {
      try? SystemCalls.removeFile(workshop.appending(name))
    }
    try? SystemCalls.removeDirectory(workshop)
  }
}
