import Foundation
import SystemPackage
import TallySystem
import TestSupport
import Testing

@Suite struct FileLockTests {
  @Test func anExclusiveLockKeepsAllOthersOutAndSharedOnesOnlyIt() throws {
    let directory = try TemporaryDirectory()
    let locks = try (0..<3).map { _ in try FileLock(opening: directory.path.appending("lock")) }
    #expect(try locks[0].tryAcquire(.shared) && locks[1].tryAcquire(.shared))
    #expect(try !locks[2].tryAcquire(.exclusive))
    for lock in locks[0...1] { lock.release() }
    #expect(try locks[2].tryAcquire(.exclusive))
    #expect(try !locks[0].tryAcquire(.shared))
  }

  /// The bug: an opener of the file before its removal got a lock that kept nobody out.
  @Test func aLockOnAFileThatWasRemovedIsTakenOnTheNewOne() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path.appending("lock")
    let (holder, other) = try (FileLock(opening: path), FileLock(opening: path))
    #expect(try holder.tryAcquire(.exclusive))
    try SystemCalls.removeFile(path)
    holder.release()
    #expect(try other.tryAcquire(.exclusive))
    try Self.expectToKeepOthersOut(other, path)
  }

  private static func expectToKeepOthersOut(_ lock: FileLock, _ path: FilePath) throws {
    let third = try FileLock(opening: path)
    #expect(try !third.tryAcquire(.exclusive))
    lock.release()
    #expect(try third.tryAcquire(.exclusive))
  }

  /// The bug: a program that another thread started between two system calls got the descriptor, and the lock.
  ///
  /// A thread that looks all the time sees that sooner or later.
  @Test func aDescriptorIsHiddenFromProgramsStartedHereAtEveryMoment() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path.appending("lock")
    let lock = try FileLock(opening: path)
    let (stop, shown, descriptor) = (Stop(), Stop(), lock.descriptor.rawValue)
    let watching = onThread { ready in
      ready.signal()
      while !stop.isSet { if fcntl(descriptor, F_GETFD) & FD_CLOEXEC == 0 { shown.set() } }
    }
    for _ in 0..<5_000 {
      try SystemCalls.removeFile(path)
      #expect(try lock.tryAcquire(.exclusive))
      lock.release()
    }
    stop.set()
    watching.wait()
    #expect(!shown.isSet)
  }

  /// A link might lead to anyone's file, and opening a pipe waits for somebody who writes to it.
  @Test func aLinkIsRefusedAndAPipeIsNotWaitedFor() throws {
    let directory = try TemporaryDirectory()
    let (link, pipe) = (directory.path.appending("link"), directory.path.appending("pipe"))
    try FileManager.default.createSymbolicLink(atPath: link.string, withDestinationPath: "lock")
    _ = try FileLock(opening: directory.path.appending("lock"))
    #expect(throws: Errno.tooManySymbolicLinkLevels) { try FileLock(opening: link) }
    #expect(unsafe mkfifo(pipe.string, 0o600) == 0)
    #expect(throws: Never.self) { try FileLock(opening: pipe) }
  }

  /// Without the permission to read, its own user could not open it a second time.
  @Test func theOwnerMayReadAndWriteALockWhateverTheMaskTakesAway() throws {
    let directory = try TemporaryDirectory()
    #expect(try HelperProcess("lock-under-mask", directory, 0o777).lines() == ["none"])
    #expect(try directory.path.appending("lock").stat().permissions == .ownerReadWrite)
  }

  @Test func aFileThatCannotBeCreatedAgainIsNotLocked() throws {
    let directory = try TemporaryDirectory()
    let inner = directory.path.appending("inner")
    try SystemCalls.createDirectory(inner, permissions: .ownerReadWriteExecute)
    let lock = try FileLock(opening: inner.appending("lock"))
    try SystemCalls.removeFile(inner.appending("lock"))
    try SystemCalls.removeDirectory(inner)
    #expect(throws: Errno.noSuchFileOrDirectory) { try lock.tryAcquire(.exclusive) }
  }
}
