import SystemPackage

@testable import LMDB

/// An environment in a directory of its own, with two databases to work on.
struct Sample {
  typealias Numbers = Database<UInt64, [UInt8]>
  typealias Bytes = Database<[UInt8], [UInt8]>

  let directory: TemporaryDirectory
  let environment: LMDBEnvironment
  let numbers: Numbers
  let bytes: Bytes

  init(options: LMDBEnvironment.Options = .init()) throws {
    directory = try TemporaryDirectory()
    environment = try LMDBEnvironment(path: directory.path, options: options)
    (numbers, bytes) = try environment.write { transaction in
      (
        try Numbers(opening: "numbers", creating: true, in: &transaction),
        try Bytes(opening: "bytes", creating: true, in: &transaction)
      )
    }
  }

  /// Options with a small map that does not shrink.
  static func options(mapSizeInBytes: Int, maximum: Int = 1 << 30, maxReaders: Int = 64) -> LMDBEnvironment.Options {
    var options = LMDBEnvironment.Options()
    options.mapSizeInBytes = mapSizeInBytes
    options.minimumMapSizeInBytes = mapSizeInBytes
    options.maximumMapSizeInBytes = maximum
    options.maxReaders = maxReaders
    return options
  }

  /// The number of pages that are free to be used again.
  func freePageCount() throws -> Int {
    try environment.withSnapshotPage { reader, meta in
      var walk = try PageWalk(reader: reader, meta: meta)
      var count = 0
      try walk.forEachFreePage { _, _ in count += 1 }
      return count
    }
  }

  func put(_ value: [UInt8], forKey key: UInt64) throws {
    try environment.write { try numbers.put(value, forKey: key, in: &$0) }
  }

  func value(forKey key: UInt64) throws -> [UInt8]? {
    try environment.read { try numbers.value(forKey: key, in: $0) }
  }

  func count() throws -> Int {
    try environment.read { try numbers.count(in: $0) }
  }
}

/// The code of the error a body throws, or `nil` if it throws none.
func code(_ body: () throws -> Void) throws -> LMDBError.Code? {
  do {
    try body()
    return nil
  } catch let error as LMDBError {
    return error.code
  }
}

/// The code of the error a commit throws, or `nil`.
func codeOfCommit(_ transaction: consuming WriteTransaction) -> LMDBError.Code? {
  do {
    try transaction.commit()
    return nil
  } catch {
    return error.code
  }
}
