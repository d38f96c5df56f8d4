import TallySync

extension TransportConformance {
  static let deleting = [
    ConformanceCheck("deleting old segments keeps the newer ones") { place in
      var stream = place.stream()
      let (transport, reader) = (try await place.connect(stream), try await place.connect(place.stream()))
      let segments = stream.next(6)
      try await transport.store(segments)
      try await transport.delete(segmentsOf: stream.replica, upTo: 0, snapshots: [])
      try await reader.requireSegments(segments, of: stream.replica, after: 0)
      try await transport.delete(segmentsOf: stream.replica, upTo: 4, snapshots: [])
      try await reader.requireSegments(Array(segments[4...]), of: stream.replica, after: 4)
      try require(try await reader.heads(), is: [stream.replica: segments[5].head], "the heads")
      // A place may keep more than it must, but not give what follows a gap.
      let rest = try await reader.segments(of: stream.replica, after: 0, byteCount: .max)
      try require(rest.isEmpty || rest == segments.map(\.bytes), "nothing after a gap")
    },
    ConformanceCheck("a stream goes on after all its segments are deleted") { place in
      var stream = place.stream()
      let transport = try await place.connect(stream)
      let segments = stream.next(3)
      try await transport.store(segments)
      try await transport.delete(segmentsOf: stream.replica, upTo: 3, snapshots: [])
      try require(try await transport.heads(), is: [stream.replica: segments[2].head], "the heads")
      let next = stream.next(2)
      try await place.connect(stream).store(next)
      try await transport.requireSegments(next, of: stream.replica, after: 3)
    },
    ConformanceCheck("a deleted snapshot is gone, and the others stay") { place in
      let stream = place.stream()
      let transport = try await place.connect(stream)
      let names = [1, 2, 3].map { stream.snapshot($0, partCount: 2) }
      for name in names {
        for number in 0..<2 { try await transport.putPart(stream.part(number), number: number, of: name) }
      }
      try await transport.delete(segmentsOf: stream.replica, upTo: 0, snapshots: [names[1]])
      try require(try await transport.snapshots(), is: [names[2], names[0]], "the snapshots")
      let part = try? await transport.part(0, of: names[1])
      try require(part == nil, "an error for a part of a deleted snapshot")
    },
    ConformanceCheck("a replica deletes nothing of others") { place in
      var (stream, other) = (place.stream(), place.stream())
      let (transport, reader) = (try await place.connect(stream), try await place.connect(other))
      let (own, foreign) = (stream.next(3), other.next(3))
      try await transport.store(own)
      try await reader.store(foreign)
      let name = other.snapshot(1, partCount: 1)
      try await reader.putPart(other.part(0), number: 0, of: name)
      // Whether this is an error is for the place to choose.
      try? await transport.delete(segmentsOf: stream.replica, upTo: 3, snapshots: [name])
      try require(try await reader.snapshots(), is: [name], "the snapshots of the other replica")
      try await reader.requireSegments(foreign, of: other.replica, after: 0)
    },
  ]
}
