import Foundation
import SystemPackage
import TallySystem
import Testing

@testable import TallySync
@testable import TallySyncConformance

/// Files of which a program that copies the folder has only written a part.
@Suite struct PartialFileTests {
  @Test func noPartOfASegmentIsGiven() async throws {
    try await withFolder { fixture in
      let segments = try await fixture.store(2)
      let (path, bytes) = (fixture.path(segments[1]), segments[1].bytes)
      for count in 0..<bytes.count {
        try write(bytes.prefix(count), to: path)
        #expect(try await fixture.segments() == [segments[0].bytes])
        // As some programs do, which reserve the room first.
        try write(bytes.prefix(count) + [UInt8](repeating: 0, count: bytes.count - count), to: path)
        let isSame = bytes[count...].allSatisfy { $0 == 0 }
        #expect(try await fixture.segments().count == (isSame ? 2 : 1))
      }
      try write(bytes, to: path)
      #expect(try await fixture.segments() == segments.map(\.bytes))
    }
  }

  @Test func noPartOfAPackIsGiven() async throws {
    try await withFolder { fixture in
      let segments = try fixture.copy(64)
      try await fixture.transport.pack(fixture.replica)
      let path = fixture.path(segments)
      let bytes = segments.flatMap(\.bytes)
      for count in stride(from: 0, to: bytes.count, by: 97) {
        try write(bytes.prefix(count), to: path)
        #expect(try await fixture.segments() == [])
        var wrong = bytes
        wrong[count] ^= 1
        try write(wrong, to: path)
        #expect(try await fixture.segments() == [])
      }
      try write(bytes, to: path)
      #expect(try await fixture.segments() == segments.map(\.bytes))
    }
  }

  @Test func aDamagedFileIsStoredAgain() async throws {
    try await withFolder { fixture in
      let segments = try await fixture.store(3)
      for segment in segments {
        for count in [0, 10, 200, segment.bytes.count - 1] {
          try write(segment.bytes.prefix(count), to: fixture.path(segment))
          #expect(try await fixture.transport.append(segment) == .stored)
          #expect(try await fixture.transport.append(segment) == .known)
        }
        try write(segment.bytes.reversed(), to: fixture.path(segment))
        #expect(try await fixture.transport.append(segment) == .stored)
      }
      #expect(try await fixture.segments() == segments.map(\.bytes))
    }
  }

  @Test func anOlderCardStandsInForAPartOfANewerOne() async throws {
    try await withFolder { fixture in
      let (transport, stream) = (fixture.transport, fixture.stream)
      let cards = [stream.card(1), stream.card(2), stream.card(3)]
      for number in 0..<3 { try await transport.putCard(cards[number], of: stream.replica, number: UInt64(number + 1)) }
      #expect(try fixture.names() == ["card-0000000002.card", "card-0000000003.card"])
      for count in 0..<cards[2].count {
        try write(cards[2].prefix(count), to: fixture.directory.appending("card-0000000003.card"))
        #expect(try await transport.cards() == [stream.replica: cards[1]])
      }
    }
  }

  @Test func aSnapshotWithAPartThatIsNotWholeIsNotComplete() async throws {
    try await withFolder { fixture in
      let (transport, stream) = (fixture.transport, fixture.stream)
      let (old, new) = (stream.snapshot(1, partCount: 2), stream.snapshot(2, partCount: 2))
      for name in [old, new] {
        for number in 0..<2 { try await transport.putPart(stream.part(number), number: number, of: name) }
      }
      #expect(try await transport.snapshots() == [new, old])
      let file = FolderName.part(1, of: .init(number: 2, digest: new.digest, partCount: 2)).text
      let path = transport.listing.directory(.snapshots, of: stream.replica).appending(file)
      let bytes = stream.part(1)
      for count in 0..<bytes.count {
        try write(bytes.prefix(count), to: path)
        #expect(try await transport.snapshots() == [old])
        let fault = await folderFault { _ = try await transport.part(1, of: new) }
        #expect(fault?.kind == .missing)
      }
      try write(bytes, to: path)
      #expect(try await transport.snapshots() == [new, old])
    }
  }

  @Test func twoStreamsUnderOneNameAreAForkForBoth() async throws {
    try await withFolder { fixture in
      var twin = fixture.stream
      let segments = try await fixture.store(3)
      // Another device has written as the same replica, and its files have arrived by now.
      let foreign = twin.next(3)
      for segment in foreign { try write(segment.bytes, to: fixture.path(segment)) }
      #expect(try await fixture.transport.append(segments[2]) == .fork)
      #expect(try await fixture.transport.append(foreign[2]) == .fork)
      #expect(try await fixture.segments().count == 3)
      #expect(try await fixture.head()?.number == 3)
    }
  }
}
