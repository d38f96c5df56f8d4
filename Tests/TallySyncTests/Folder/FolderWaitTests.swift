import Foundation
import SystemPackage
import TallySystem
import Testing

@testable import TallySync
@testable import TallySyncConformance

/// What the conformance suite does not know of a wait: files, and not transports, change.
@Suite(.timeLimit(.minutes(30))) struct FolderWaitTests {
  private static let longWaitInSeconds = 86_400.0

  private func wait(for fixture: FolderFixture) -> Task<Bool, any Error> {
    Task { [transport = fixture.transport] in try await transport.waitForChanges(seconds: Self.longWaitInSeconds) }
  }

  @Test func aFileThatArrivesEndsAWait() async throws {
    try await withFolder { fixture in
      let segments = fixture.stream.next(2)
      _ = try await fixture.transport.heads()
      let first = wait(for: fixture)
      try SystemCalls.makeDirectory(fixture.directory)
      try write(segments[0].bytes, to: fixture.path(segments[0]))
      #expect(try await first.value)
      #expect(try await fixture.transport.heads().count == 1)
      let second = wait(for: fixture)
      try write(segments[1].bytes, to: fixture.folder.appending("file"))
      try SystemCalls.rename(fixture.folder.appending("file"), to: fixture.path(segments[1]))
      #expect(try await second.value)
    }
  }

  @Test func theRestOfAPartEndsAWait() async throws {
    try await withFolder { fixture in
      let segment = try await fixture.store(1)[0]
      try write(segment.bytes.prefix(190), to: fixture.path(segment))
      _ = try await fixture.transport.heads()
      let wait = wait(for: fixture)
      try write(segment.bytes, to: fixture.path(segment))
      #expect(try await wait.value)
    }
  }

  @Test func aSnapshotOfANewReplicaEndsAWait() async throws {
    try await withFolder { fixture in
      _ = try await fixture.transport.heads()
      let wait = wait(for: fixture)
      let writer = try FolderTransport(at: fixture.folder, space: FolderFixture.space)
      try await writer.putPart(fixture.stream.part(0), number: 0, of: fixture.stream.snapshot(1, partCount: 2))
      #expect(try await wait.value)
    }
  }

  @Test func ownChangesDoNotEndAWait() async throws {
    try await withFolder { fixture in
      _ = try await fixture.transport.heads()
      _ = try await fixture.store(70)
      try await fixture.transport.putCard(fixture.stream.card(1), of: fixture.replica, number: 1)
      try await fixture.transport.pack(fixture.replica)
      let known = fixture.transport.seen.withLock(\.self)
      #expect(try FolderScan(fixture.transport.listing) == known)
    }
  }

  @Test func filesThatDoNotCountAreNoChange() async throws {
    try await withFolder { fixture in
      _ = try await fixture.store(1)
      let scan = try FolderScan(fixture.transport.listing)
      for name in ["x.sync-conflict", ".tmp-0000000001", ".DS_Store"] {
        try write([1], to: fixture.directory.appending(name))
      }
      #expect(try FolderScan(fixture.transport.listing) == scan)
    }
  }

  /// Whatever the time of the cancellation, also before the wait has begun.
  @Test func aCancelledWaitEnds() async throws {
    try await withFolder { fixture in
      for pause in [0, 1, 20] {
        let wait = wait(for: fixture)
        try await Task.sleep(for: .milliseconds(pause))
        wait.cancel()
        await #expect(throws: CancellationError.self) { try await wait.value }
      }
    }
  }

  @Test func aFolderThatVanishesEndsAWaitWithAFault() async throws {
    try await withFolder { fixture in
      _ = try await fixture.transport.heads()
      let wait = wait(for: fixture)
      try FileManager.default.removeItem(atPath: fixture.space.string)
      let fault = await folderFault { _ = try await wait.value }
      #expect(fault?.kind == .unreachable)
    }
  }

  @Test(arguments: [0, -1, -Double.infinity, .nan, 0.01])
  func aWaitWithoutTimeReturns(seconds: Double) async throws {
    try await withFolder { fixture in
      let isChanged = try await fixture.transport.waitForChanges(seconds: seconds)
      #expect(!isChanged)
    }
  }

  /// Where the system reports nothing, the files are looked at.
  @Test func aWatchOfNothingIsInterrupted() {
    let watch = DirectoryWatch(isBlind: true)
    #expect(!watch.watchNames(in: "/"))
    watch.interrupt()
    #expect(!watch.wait(atMost: .longestWait))
  }
}
