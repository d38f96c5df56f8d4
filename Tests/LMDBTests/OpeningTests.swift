import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import LMDB

@Suite struct OpeningTests {
  @Test func secondEnvironmentOnTheSameDirectoryIsRefused() throws {
    let sample = try Sample()
    #expect(try code { _ = try LMDBEnvironment(path: sample.directory.path) } == .alreadyOpen)
    #expect(try sample.count() == 0)
  }

  @Test func secondEnvironmentThroughASymbolicLinkIsRefused() throws {
    let sample = try Sample()
    let links = try TemporaryDirectory()
    let link = links.path.appending("link")
    try FileManager.default.createSymbolicLink(
      atPath: link.string,
      withDestinationPath: sample.directory.path.string
    )
    #expect(try code { _ = try LMDBEnvironment(path: link) } == .alreadyOpen)
    #expect(try code { _ = try LMDBEnvironment(path: sample.directory.path.appending("./")) } == .alreadyOpen)
  }

  @Test func missingDirectoryIsCreatedOnlyIfAskedFor() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path.appending("a/b")
    #expect(try code { _ = try LMDBEnvironment(path: path) } == .noSuchFile)
    var options = LMDBEnvironment.Options()
    options.createsDirectory = true
    options.isReadOnly = true
    #expect(try code { _ = try LMDBEnvironment(path: path, options: options) } == .noSuchFile)
    #expect(!FileManager.default.fileExists(atPath: directory.path.appending("a").string))
    options.isReadOnly = false
    for _ in 0..<2 { try LMDBEnvironment(path: path, options: options).close() }
    for created in [path, path.removingLastComponent()] {
      let attributes = try FileManager.default.attributesOfItem(atPath: created.string)
      #expect(attributes[.posixPermissions] as? Int == 0o700)
    }
    let file = directory.path.appending("file")
    try Data().write(to: URL(fileURLWithPath: file.string))
    #expect(try code { _ = try LMDBEnvironment(path: file.appending("a"), options: options) } == .noSuchFile)
  }

  @Test func closedEnvironmentCanBeOpenedAgain() throws {
    let sample = try Sample()
    try sample.put([1], forKey: 1)
    try sample.environment.close()
    let again = try LMDBEnvironment(path: sample.directory.path)
    let numbers = try Sample.Numbers(opening: "numbers", in: again)
    #expect(try again.read { try numbers.value(forKey: 1, in: $0) } == [1])
  }

  @Test func lastReferenceClosesTheEnvironment() throws {
    let directory = try TemporaryDirectory()
    _ = try LMDBEnvironment(path: directory.path)
    _ = try LMDBEnvironment(path: directory.path)
  }

  @Test func failedOpeningLeavesTheDirectoryFreeToOpen() throws {
    let directory = try TemporaryDirectory()
    let file = directory.path.appending("data.mdb").string
    try Data(repeating: 0xAB, count: 8192).write(to: URL(fileURLWithPath: file))
    #expect(try code { _ = try LMDBEnvironment(path: directory.path) } == .invalidFile)
    try FileManager.default.removeItem(atPath: file)
    _ = try LMDBEnvironment(path: directory.path)
  }

  @Test func missingDirectoryAndFileInItsPlaceAreRefused() throws {
    let directory = try TemporaryDirectory()
    let missing = directory.path.appending("missing")
    #expect(try code { _ = try LMDBEnvironment(path: missing) } == .noSuchFile)
    try Data().write(to: URL(fileURLWithPath: missing.string))
    #expect(try code { _ = try LMDBEnvironment(path: missing) } == .noSuchFile)
  }

  @Test func readingOnlyCreatesNothing() throws {
    let directory = try TemporaryDirectory()
    var options = LMDBEnvironment.Options()
    options.isReadOnly = true
    #expect(try code { _ = try LMDBEnvironment(path: directory.path, options: options) } == .noSuchFile)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path.string) == [])
  }

  @Test func fileOfAnotherVersionIsRefused() throws {
    let sample = try Sample()
    let page = try sample.environment.information().pageSizeInBytes
    try sample.environment.close()
    let file = try FileDescriptor.open(sample.directory.path.appending("data.mdb"), .writeOnly)
    // After the page's header of 16 bytes: magic, then version, in both meta pages.
    for meta in 0..<2 { try file.writeAll(toAbsoluteOffset: Int64(meta * page + 20), [99]) }
    try file.close()
    #expect(try code { _ = try LMDBEnvironment(path: sample.directory.path) } == .versionMismatch)
  }

  @Test func directoryWithoutPermissionIsRefused() throws {
    let directory = try TemporaryDirectory()
    try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: directory.path.string)
    #expect(try HelperProcess("unprivileged", directory).lines() == ["permissionDenied"])
  }

  @Test func senselessOptionsAreRefused() throws {
    let directory = try TemporaryDirectory()
    let senseless: [(WritableKeyPath<LMDBEnvironment.Options, Int>, Int)] = [
      (\.mapSizeInBytes, 0), (\.minimumMapSizeInBytes, 0), (\.maxReaders, 0), (\.maxReaders, -1),
      (\.maxReaders, 1 << 24 + 1), (\.maxDatabases, -1), (\.maxDatabases, 1 << 15 + 1),
    ]
    for (number, value) in senseless {
      var options = LMDBEnvironment.Options()
      options[keyPath: number] = value
      #expect(try code { _ = try LMDBEnvironment(path: directory.path, options: options) } == .invalidArgument)
    }
  }

  @Test(.enabled(if: memoryCanBeLimited)) func mapIsHalvedUntilTheSystemAllowsIt() throws {
    let directory = try TemporaryDirectory()
    let limit = 40 << 30
    let lines = try HelperProcess("little-memory", directory, limit).lines()
    #expect(lines == ["\(1 << 35)"])
    // Not below what the options allow.
    #expect(try HelperProcess("little-memory", TemporaryDirectory(), limit, 1 << 36).lines() == ["outOfMemory"])
  }

  @Test(.enabled(if: memoryCanBeLimited)) func aMapThatCannotBeHadAgainLeavesClosing() throws {
    let lines = try HelperProcess("lost-map", TemporaryDirectory()).lines()
    #expect(lines == ["growth: outOfMemory", "read: panic", "write: panic", "close: none", "again: none"])
  }

  @Test func filesAreForTheirOwnerOnly() throws {
    let sample = try Sample()
    for name in ["data.mdb", "lock.mdb"] {
      let path = sample.directory.path.appending(name).string
      let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      #expect(permissions == 0o600)
    }
  }

  #if os(Linux)
    /// The bug: where the disk was full, writing to a page of the file through its map ended the process.
    @Test(arguments: [nil, 0, 100, 65_664, 200_000])
    func theFileOfLocksHasItsRoomOnTheDiskBeforeItIsMapped(sizeInBytes: Int?) throws {
      let directory = try TemporaryDirectory()
      let path = directory.path.appending("lock.mdb")
      if let sizeInBytes {
        let file = try FileDescriptor.open(path, .writeOnly, options: .create, permissions: .ownerReadWrite)
        try file.closeAfter { try file.resize(to: Int64(sizeInBytes)) }
      }
      for isReadOnly in [false, true] {
        var options = LMDBEnvironment.Options()
        options.isReadOnly = isReadOnly
        try LMDBEnvironment(path: directory.path, options: options).close()
        let status = try path.stat()
        #expect(status.size >= max(sizeInBytes ?? 0, 65_664))
        #expect(status.sizeAllocated >= status.size)
      }
    }

    /// Who has a shorter file mapped would look beyond its end for readers that a longer one counts.
    @Test func theFileOfLocksIsNotMadeLongerUnderAnotherProcess() throws {
      let directory = try TemporaryDirectory()
      var options = LMDBEnvironment.Options()
      options.maxReaders = 10
      let environment = try LMDBEnvironment(path: directory.path, options: options)
      let size = try directory.path.appending("lock.mdb").stat().size
      #expect(try HelperProcess("open-and-close", directory, 1).lines() == ["done"])
      #expect(try directory.path.appending("lock.mdb").stat().size == size)
      try environment.close()
    }
  #endif

  @Test func everyDescriptorIsHiddenFromProgramsStartedHere() throws {
    let sample = try Sample()
    let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
    let ours = open.filter { descriptor in
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
      return target?.hasPrefix(sample.directory.path.string) == true
    }
    // Two of liblmdb for the data, and two for the locks: liblmdb's and ours.
    #expect(ours.count == 4)
    for descriptor in ours { #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0) }
  }

  /// As it can happen while another process opens or closes the environment.
  @Test(arguments: [Errno.resourceTemporarilyUnavailable, .permissionDenied, .interrupted])
  func aRefusalThatPassesIsNotSeen(refusal: Errno) throws {
    for (refusalCount, expected) in [(9, nil), (10, refusal.rawValue)] {
      var attempts = 0
      let returnCode = try returnCode {
        try LMDBEnvironment.tryingToOpen(LMDBEnvironment.Options()) { _ throws(LMDBError) in
          attempts += 1
          if attempts <= refusalCount { throw LMDBError(returnCode: refusal.rawValue, operation: "test") }
        }
      }
      #expect(attempts == 10 && returnCode == expected)
    }
  }

  private func returnCode(_ body: () throws -> Void) throws -> Int32? {
    do {
      try body()
      return nil
    } catch let error as LMDBError {
      return error.returnCode
    }
  }

  @Test func openingHoldsAgainstProcessesThatOpenAndClose() throws {
    let directory = try TemporaryDirectory()
    let others = try (0..<2).map { _ in try HelperProcess("open-and-close", directory, 100) }
    for _ in 0..<100 { try LMDBEnvironment(path: directory.path).close() }
    for other in others { #expect(other.lines() == ["done"]) }
  }
}

/// Not under a sanitizer, whose own memory needs more address space than the limits of the tests leave.
private let memoryCanBeLimited = ProcessInfo.processInfo.environment["TALLY_SANITIZER"] == nil
