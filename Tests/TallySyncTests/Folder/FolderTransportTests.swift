import Foundation
import SystemPackage
import TallySystem
import TallyTestSupport
import Testing

@testable import TallySync
@testable import TallySyncConformance

@Suite struct FolderTransportTests {
  @Test func theLayoutIsTheDocumentedOne() async throws {
    try await withFolder { fixture in
      let segment = try await fixture.store(1)[0]
      let (stream, transport) = (fixture.stream, fixture.transport)
      try await transport.putCard(stream.card(1), of: stream.replica, number: 1)
      let name = stream.snapshot(3, partCount: 2)
      try await transport.putPart(stream.part(0), number: 0, of: name)
      let top = fixture.folder.appending("tally-\(String(repeating: "a5", count: 16))")
      #expect(fixture.space == top)
      let files = try FileManager.default.subpathsOfDirectory(atPath: top.string).filter { $0.contains(".") }
      let digests = [segment.head.digest, name.digest].map { HexDigits.text(of: $0) }
      #expect(
        Set(files) == [
          "replicas/\(stream.replica)/0000000001-0000000001-\(digests[0]).seg",
          "replicas/\(stream.replica)/card-0000000001.card",
          "snapshots/\(stream.replica)/0000000003-\(digests[1])-00000of00002.snap",
        ])
    }
  }

  @Test func onlyCreatingCreatesTheFolderOfASpace() async throws {
    try await withTemporaryDirectory { directory in
      let fault = #expect(throws: FolderFault.self) {
        try FolderTransport(at: directory, space: FolderFixture.space)
      }
      #expect(fault?.kind == .unreachable)
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory.string).isEmpty)
      let missing = #expect(throws: FolderFault.self) {
        try FolderTransport.create(at: directory.appending("missing"), space: FolderFixture.space)
      }
      #expect(missing?.kind == .unreachable)
      _ = try FolderTransport.create(at: directory, space: FolderFixture.space)
      _ = try FolderTransport.create(at: directory, space: FolderFixture.space)
      #expect(try await FolderTransport(at: directory, space: FolderFixture.space).heads() == [:])
    }
  }

  @Test func aMissingFolderIsNotAnEmptySpace() async throws {
    try await withFolder { fixture in
      let segment = try await fixture.store(1)[0]
      try FileManager.default.removeItem(atPath: fixture.space.string)
      let (transport, stream) = (fixture.transport, fixture.stream)
      let name = stream.snapshot(1, partCount: 1)
      let calls: [@Sendable () async throws -> Void] = [
        { _ = try await transport.heads() },
        { _ = try await transport.segments(of: stream.replica, after: 0, byteCount: 1) },
        { _ = try await transport.append(segment) },
        { _ = try await transport.cards() },
        { try await transport.putCard(stream.card(1), of: stream.replica, number: 1) },
        { _ = try await transport.snapshots() },
        { _ = try await transport.part(0, of: name) },
        { try await transport.putPart(stream.part(0), number: 0, of: name) },
        { try await transport.delete(segmentsOf: stream.replica, upTo: 1, snapshots: []) },
        { _ = try await transport.waitForChanges(seconds: 60) },
        { try await transport.pack(stream.replica) },
      ]
      for call in calls {
        let fault = await folderFault(call)
        #expect(fault?.kind == .unreachable)
        #expect(fault?.description.contains("cannot be reached: No such file or directory") == true)
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder.string).isEmpty)
    }
  }

  @Test func anEmptiedFolderIsAnEmptySpaceThatCanBeFilledAgain() async throws {
    try await withFolder { fixture in
      let segments = try await fixture.store(2)
      for name in try FileManager.default.contentsOfDirectory(atPath: fixture.space.string) {
        try FileManager.default.removeItem(atPath: fixture.space.appending(name).string)
      }
      #expect(try await fixture.transport.heads() == [:])
      #expect(try await fixture.transport.snapshots() == [])
      try await fixture.transport.store(segments)
      #expect(try await fixture.segments() == segments.map(\.bytes))
    }
  }

  @Test func filesOfOthersAndPlaceholdersAreIgnored() async throws {
    try await withFolder { fixture in
      let segments = try await fixture.store(3)
      for name in try fixture.names() {
        for copy in ["\(name).bak", name.replacing(".seg", with: " 2.seg"), ".syncthing.\(name).tmp", "\(name)~"] {
          try write([1, 2, 3], to: fixture.directory.appending(copy))
        }
      }
      try write([], to: fixture.space.appending("replicas").appending("not-a-replica"))
      try write([], to: fixture.space.appending(".stfolder"))
      #expect(try await fixture.head() == segments[2].head)
      // An evicted file is not here, but its replica knows that it is stored.
      let last = fixture.path(segments[2])
      let placeholder = fixture.directory.appending(".\(last.lastComponent?.string ?? "").icloud")
      try SystemCalls.rename(last, to: placeholder)
      #expect(try await fixture.head() == segments[1].head)
      #expect(try await fixture.segments() == segments[..<2].map(\.bytes))
      #expect(try await fixture.transport.append(segments[2]) == .known)
      _ = try await fixture.store(1)
    }
  }

  @Test func aFileAfterAGapCountsWhenTheMissingOneArrives() async throws {
    try await withFolder { fixture in
      let segments = try await fixture.store(4)
      let (path, hidden) = (fixture.path(segments[1]), fixture.folder.appending("hidden"))
      try SystemCalls.rename(path, to: hidden)
      #expect(try await fixture.head() == segments[0].head)
      #expect(try await fixture.segments() == [segments[0].bytes])
      #expect(try await fixture.segments(after: 2) == segments[2...].map(\.bytes))
      try SystemCalls.rename(hidden, to: path)
      #expect(try await fixture.head() == segments[3].head)
      #expect(try await fixture.segments() == segments.map(\.bytes))
    }
  }

  @Test func aStreamWhoseFirstSegmentsAreDeletedHasAHead() async throws {
    try await withFolder { fixture in
      let segments = try await fixture.store(3)
      try SystemCalls.removeFile(fixture.path(segments[0]))
      #expect(try await fixture.head() == segments[2].head)
      #expect(try await fixture.segments() == [])
    }
  }

  @Test func noLinkIsFollowed() async throws {
    try await withFolder { fixture in
      let segments = try await fixture.store(2)
      let outside = fixture.folder.appending("outside")
      try SystemCalls.rename(fixture.path(segments[1]), to: outside)
      try FileManager.default.createSymbolicLink(
        atPath: fixture.path(segments[1]).string, withDestinationPath: outside.string)
      #expect(try await fixture.head() == segments[0].head)
      #expect(try await fixture.segments() == [segments[0].bytes])
      let away = fixture.folder.appending("away")
      try SystemCalls.rename(fixture.directory, to: away)
      try FileManager.default.createSymbolicLink(atPath: fixture.directory.string, withDestinationPath: away.string)
      #expect(try await fixture.transport.heads() == [:])
      let fault = await folderFault { [fixture] in
        try await fixture.transport.putCard(fixture.stream.card(1), of: fixture.replica, number: 1)
      }
      #expect(fault?.path == fixture.directory)
      let names = try FileManager.default.contentsOfDirectory(atPath: away.string)
      #expect(!names.contains { $0.hasPrefix("card") })
    }
  }

  @Test func aFileThatIsTooLargeIsIgnored() async throws {
    try await withFolder { fixture in
      let segment = try await fixture.store(1)[0]
      let file = try FileDescriptor.open(fixture.path(segment), .writeOnly)
      try file.closeAfter { try file.resize(to: FolderDisk.largestFileInBytes + 1) }
      #expect(try await fixture.transport.heads() == [:])
      #expect(try await fixture.segments() == [])
    }
  }

  @Test func bytesThatAreNotWhatTheyShouldBeAreNotStored() async throws {
    try await withFolder { fixture in
      let (first, other) = (fixture.stream.next(), SampleStream(in: FolderFixture.space))
      let (transport, replica) = (fixture.transport, fixture.replica)
      let calls: [@Sendable () async throws -> Void] = [
        { _ = try await transport.append([first.bytes + [0]], of: replica) },
        { _ = try await transport.append([first.bytes], of: other.replica) },
        { _ = try await transport.append([other.card(1)], of: other.replica) },
        { _ = try await transport.append([[]], of: replica) },
        { try await transport.putCard(first.bytes, of: replica, number: 1) },
        { try await transport.putCard(other.card(1), of: other.replica, number: 0) },
        { try await transport.putPart(other.part(0), number: 1, of: other.snapshot(1, partCount: 1)) },
        { try await transport.putPart(other.part(0), number: 0, of: other.snapshot(1, partCount: 0)) },
        { try await transport.putPart([], number: 0, of: other.snapshot(1, partCount: 1)) },
      ]
      for call in calls {
        let fault = await folderFault(call)
        #expect(fault?.kind == .invalid)
      }
      let heads = try await transport.heads()
      #expect(heads == [:])
    }
  }

  @Test func aReadOnlyFolderIsAFaultWithItsPath() async throws {
    guard geteuid() != 0 else { return }
    try await withFolder { fixture in
      _ = try await fixture.store(1)
      try SystemCalls.changePermissions(fixture.directory, to: [.ownerRead, .ownerExecute])
      let next = fixture.stream.next()
      let fault = await folderFault { [fixture] in _ = try await fixture.transport.append(next) }
      #expect(fault?.kind == .notPermitted)
      #expect(fault?.path == fixture.path(next))
      #expect(fault?.description.contains("Permission denied") == true)
      try SystemCalls.changePermissions(fixture.directory, to: .ownerReadWriteExecute)
    }
  }
}
