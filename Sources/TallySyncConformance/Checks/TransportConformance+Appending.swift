import TallySync

extension TransportConformance {
  static let appending = [
    ConformanceCheck("an empty place has nothing") { place in
      let stream = place.stream()
      let transport = try await place.connect(stream)
      try require(try await transport.heads(), is: [:], "the heads")
      try require(try await transport.cards(), is: [:], "the cards")
      try require(try await transport.snapshots(), is: [], "the snapshots")
      try await transport.requireSegments([], of: stream.replica, after: 0)
    },
    ConformanceCheck("segments are appended in order, and the last one is the head") { place in
      var stream = place.stream()
      let transport = try await place.connect(stream)
      for segment in stream.next(12) {
        try await transport.store([segment])
        try require(try await transport.heads(), is: [stream.replica: segment.head], "the heads")
      }
    },
    ConformanceCheck("the same segment again is known") { place in
      var stream = place.stream()
      let transport = try await place.connect(stream)
      let segments = stream.next(3)
      try await transport.store(segments)
      for segment in segments.reversed() {
        let answer = try await transport.append(segment)
        try require(answer, is: .known, "the answer to segment \(segment.head.number) again")
      }
      try await transport.requireSegments(segments, of: stream.replica, after: 0)
    },
    ConformanceCheck("another segment with a number that is taken is a fork") { place in
      var stream = place.stream()
      let transport = try await place.connect(stream)
      var twin = stream
      let segments = stream.next(3)
      try await transport.store(segments)
      for segment in twin.next(3) {
        let answer = try await transport.append(segment)
        try require(answer, is: .fork, "the answer to another segment \(segment.head.number)")
      }
      try require(try await transport.heads(), is: [stream.replica: segments[2].head], "the heads")
      try await transport.requireSegments(segments, of: stream.replica, after: 0)
    },
    ConformanceCheck("a segment that is not the next one is refused with the last one there") { place in
      var stream = place.stream()
      let transport = try await place.connect(stream)
      let segments = stream.next(5)
      try require(try await transport.append(segments[1]), is: .gap(.none), "the answer to segment 2 alone")
      try await transport.store(Array(segments[..<2]))
      let answer = try await transport.append(segments[4])
      try require(answer, is: .gap(segments[1].head), "the answer to segment 5 after 2")
      try await transport.requireSegments(Array(segments[..<2]), of: stream.replica, after: 0)
      try await transport.store(Array(segments[2...]))
    },
    ConformanceCheck("segments that are sent together are stored in their order") { place in
      var stream = place.stream()
      let transport = try await place.connect(stream)
      let segments = stream.next(20)
      let bytes = segments.map(\.bytes)
      let first = try await transport.append(Array(bytes[..<12]), of: stream.replica)
      try require(first, is: Array(repeating: .stored, count: 12), "the answers to 12 segments")
      try await transport.requireSegments(Array(segments[..<12]), of: stream.replica, after: 0)
      // As after an answer that was lost.
      let again = try await transport.append(Array(bytes[4...]), of: stream.replica)
      let expected = Array(repeating: AppendAnswer.known, count: 8) + Array(repeating: .stored, count: 8)
      try require(again, is: expected, "the answers to 8 segments that are there and 8 that follow")
      try require(try await transport.heads(), is: [stream.replica: segments[19].head], "the heads")
      try await transport.requireSegments(segments, of: stream.replica, after: 0)
    },
    ConformanceCheck("of segments that are sent together none is stored after one that is not") { place in
      var stream = place.stream()
      let transport = try await place.connect(stream)
      var twin = stream
      let (segments, other) = (stream.next(6), twin.next(2)[1])
      let gap = [segments[0], segments[1], segments[3], segments[4]].map(\.bytes)
      let answers = try await transport.append(gap, of: stream.replica)
      try require(answers, is: [.stored, .stored, .gap(segments[1].head)], "the answers to segments 1, 2, 4 and 5")
      let fork = [segments[0], other, segments[2]].map(\.bytes)
      let refused = try await transport.append(fork, of: stream.replica)
      try require(refused, is: [.known, .fork], "the answers to 1, another 2, and 3")
      try require(try await transport.heads(), is: [stream.replica: segments[1].head], "the heads")
      try await transport.requireSegments(Array(segments[..<2]), of: stream.replica, after: 0)
    },
    ConformanceCheck("the streams of two replicas do not depend on each other") { place in
      var (first, second) = (place.stream(), place.stream())
      let transports = (try await place.connect(first), try await place.connect(second))
      let segments = (first.next(3), second.next(2))
      try await transports.0.store([segments.0[0]])
      try await transports.1.store(segments.1)
      try await transports.0.store(Array(segments.0[1...]))
      for transport in [transports.0, transports.1] {
        let heads = [first.replica: segments.0[2].head, second.replica: segments.1[1].head]
        try require(try await transport.heads(), is: heads, "the heads")
        try await transport.requireSegments(segments.0, of: first.replica, after: 0)
        try await transport.requireSegments(segments.1, of: second.replica, after: 0)
      }
    },
  ]
}
