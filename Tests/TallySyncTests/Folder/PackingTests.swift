import Foundation
import SystemPackage
import TallySystem
import Testing

@testable import TallySync
@testable import TallySyncConformance

@Suite struct PackingTests {
  /// Stops everything after a number of steps, as a crash does.
  private final class Crash: Sendable {
    private let rest: Monitor<Int>
    private let error: Errno

    init(after count: Int, with error: Errno = .ioError) {
      rest = Monitor(count)
      self.error = error
    }

    var hasHappened: Bool { rest.withLock { $0 < 0 } }

    func step(_: FolderDisk.Step) throws {
      let isOver = rest.withLock { rest in
        if rest >= 0 { rest -= 1 }
        return rest < 0
      }
      if isOver { throw error }
    }
  }

  @Test func aReplicaKeepsFewFiles() async throws {
    try await withFolder { fixture in
      var segments: [SampleStream.Segment] = []
      for _ in 0..<40 {
        segments += try fixture.copy(20)
        try await fixture.transport.pack(fixture.replica)
        #expect(try fixture.names().count < 100)
      }
      #expect(try await fixture.segments() == segments.map(\.bytes))
      #expect(try await fixture.head() == segments.last?.head)
      for segment in segments.suffix(40) { #expect(try await fixture.transport.append(segment) == .known) }
      // A number of bytes is counted within packs, too.
      let some = try await fixture.transport.segments(of: fixture.replica, after: 3, byteCount: 1_000)
      #expect(some == segments[3..<8].map(\.bytes))
    }
  }

  @Test func packsAreNotLargerThanFourMebibytes() async throws {
    try await withFolder { fixture in
      let segments = try fixture.copy(70, bodyByteCount: 200_000)
      try await fixture.transport.pack(fixture.replica)
      let sizes = try fixture.names().map { try Int(fixture.directory.appending($0).stat().size) }
      #expect(sizes.count < 32 && sizes.allSatisfy { $0 <= 4 << 20 })
      #expect(try await fixture.segments() == segments.map(\.bytes))
    }
  }

  @Test func fewFilesAreLeftAlone() async throws {
    try await withFolder { fixture in
      _ = try fixture.copy(20)
      let names = try fixture.names()
      let crash = Crash(after: 0)
      try await fixture.transport(before: crash.step).pack(fixture.replica)
      #expect(try fixture.names() == names && !crash.hasHappened)
    }
  }

  /// Readers find every segment after a crash between any two steps, and the next call finishes the work.
  @Test func aCrashWhilePackingLosesNothing() async throws {
    for stepCount in Array(0..<9) + stride(from: 10, through: 80, by: 14) {
      let isFinished = try await isFinished(afterCrashAt: stepCount)
      if isFinished { break }
    }
  }

  private func isFinished(afterCrashAt stepCount: Int) async throws -> Bool {
    var isFinished = false
    try await withFolder { fixture in
      let segments = try fixture.copy(64)
      let crash = Crash(after: stepCount)
      try? await fixture.transport(before: crash.step).pack(fixture.replica)
      #expect(try await fixture.segments() == segments.map(\.bytes), "after \(stepCount) steps")
      #expect(try await fixture.head() == segments.last?.head)
      try await fixture.transport.pack(fixture.replica)
      let files = try fixture.transport.segmentFiles(of: fixture.replica).files
      #expect(files.map(\.entry.path) == [fixture.path(segments)])
      #expect(try await fixture.segments() == segments.map(\.bytes))
      isFinished = !crash.hasHappened
    }
    return isFinished
  }

  @Test func aCrashWhileAppendingIsMendedByTheNextAttempt() async throws {
    for stepCount in 0..<100 {
      let crash = Crash(after: stepCount)
      try await withFolder { fixture in
        let first = try await fixture.store(1)[0]
        let second = fixture.stream.next()
        let fault = await folderFault { [fixture] in
          _ = try await fixture.transport(before: crash.step).append(second)
        }
        #expect((fault != nil) == crash.hasHappened)
        let found = try await fixture.segments()
        #expect(found == [first.bytes] || found == [first.bytes, second.bytes])
        let answer = try await fixture.transport.append(second)
        #expect(answer == (found.count == 2 ? .known : .stored))
        #expect(try await fixture.segments() == [first.bytes, second.bytes])
      }
      if !crash.hasHappened { break }
    }
  }

  @Test(arguments: [Errno.noSpace, .diskQuotaExceeded])
  func aFullDiskRefusesTheSegmentAndLeavesNothing(error: Errno) async throws {
    try await withFolder { fixture in
      _ = try await fixture.store(1)
      let names = try fixture.names()
      let next = fixture.stream.next()
      for failing in [FolderDisk.Step.write, .flush, .publish] {
        let full = fixture.transport { if $0 == failing { throw error } }
        guard case .refused(let reason) = try await full.append(next) else {
          Issue.record("stored on a full disk")
          return
        }
        #expect(reason.contains("full") && reason.contains(fixture.directory.string))
        #expect(try fixture.names() == names)
        let card = fixture.stream.card(1)
        let fault = await folderFault { [fixture] in try await full.putCard(card, of: fixture.replica, number: 1) }
        #expect(fault?.kind == .full)
      }
      #expect(try await fixture.transport.append(next) == .stored)
    }
  }

  @Test func leftOversAreRemovedByTheNextAppendUnlessSomebodyWritesThem() async throws {
    try await withFolder { fixture in
      _ = try await fixture.store(1)
      let (orphan, live) = (FolderName.temporary(1).text, FolderName.temporary(2).text)
      for name in [orphan, live, "notes.tmp"] {
        try write([1], to: fixture.directory.appending(name))
        try FileManager.default.setAttributes(
          [.modificationDate: Date.now.addingTimeInterval(name == orphan ? 0 : -7_200)],
          ofItemAtPath: fixture.directory.appending(name).string)
      }
      let lock = try FileLock(opening: fixture.directory.appending(live))
      try #require(try lock.tryAcquire(.exclusive))
      _ = try await fixture.store(1)
      let names = try fixture.names()
      #expect(!names.contains(orphan) && names.contains(live) && names.contains("notes.tmp"))
      lock.release()
      _ = try await fixture.store(1)
      #expect(!(try fixture.names().contains(live)))
    }
  }

  @Test func readersBesideAPackingReplicaFindEverySegment() async throws {
    try await withFolder { fixture in
      let first = try fixture.copy(64)
      let (folder, replica) = (fixture.folder, fixture.replica)
      let isOver = Monitor(false)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<2 {
          group.addTask {
            let reader = try FolderTransport(at: folder, space: FolderFixture.space)
            var count = first.count
            while !isOver.withLock({ $0 }) {
              let found = try await reader.segments(of: replica, after: 0, byteCount: .max)
              #expect(found.count >= count, "a reader lost segments")
              #expect(found.starts(with: first.map(\.bytes)))
              count = found.count
            }
          }
        }
        for _ in 0..<8 {
          _ = try fixture.copy(60)
          try await fixture.transport.pack(replica)
        }
        isOver.withLock { $0 = true }
        try await group.waitForAll()
      }
    }
  }

  @Test func anotherStreamUnderTheSameNameIsNotRemoved() async throws {
    try await withFolder { fixture in
      var twin = fixture.stream
      let foreign = twin.next(2)[1]
      let segments = try fixture.copy(64)
      try await fixture.transport.pack(fixture.replica)
      try write(foreign.bytes, to: fixture.path(foreign))
      try await fixture.transport.pack(fixture.replica)
      #expect(try fixture.transport.segmentFiles(of: fixture.replica).files.count == 2)
      #expect(try await fixture.segments() == segments.map(\.bytes))
      #expect(try await fixture.transport.append(foreign) == .fork)
    }
  }
}
