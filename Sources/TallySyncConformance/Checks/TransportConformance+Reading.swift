import TallySync

extension TransportConformance {
  static let reading = [
    ConformanceCheck("segments are given back byte for byte, from any number on") { place in
      var stream = place.stream()
      let transport = try await place.connect(stream)
      let segments = stream.next(4) + [stream.next(bodyByteCount: 1 << 20)] + stream.next(2)
      try await transport.store(segments)
      for number in 0...segments.count {
        let rest = Array(segments[number...])
        try await transport.requireSegments(rest, of: stream.replica, after: UInt64(number))
      }
      for number in [8, 1_000_000, UInt64.max] {
        try await transport.requireSegments([], of: stream.replica, after: number)
      }
      try await transport.requireSegments([], of: place.stream().replica, after: 0)
    },
    ConformanceCheck("reading stops at the number of bytes, after one segment at least") { place in
      var stream = place.stream()
      let transport = try await place.connect(stream)
      let segments = stream.next(9)
      try await transport.store(segments)
      let size = segments[0].bytes.count
      for limit in [0, 1, size - 1, size, size + 1, 3 * size, 3 * size + 1, 100 * size] {
        var found: [[UInt8]] = []
        while found.count < segments.count {
          let next = try await transport.segments(
            of: stream.replica, after: UInt64(found.count), byteCount: limit)
          try require(!next.isEmpty, "a segment after \(found.count) with a limit of \(limit) bytes")
          let sizeBeforeLast = next.dropLast().reduce(0) { $0 + $1.count }
          try require(
            next.count == 1 || sizeBeforeLast < limit,
            "reading to stop at \(limit) bytes, not \(sizeBeforeLast) before the last segment")
          found += next
        }
        try require(found == segments.map(\.bytes), "every segment once and in order with a limit of \(limit) bytes")
      }
    },
    ConformanceCheck("a new connection finds what an old one has stored") { place in
      var stream = place.stream()
      let segments = stream.next(3)
      try await place.connect(stream).store(segments)
      let transport = try await place.connect(stream)
      try require(try await transport.heads(), is: [stream.replica: segments[2].head], "the heads")
      try await transport.requireSegments(segments, of: stream.replica, after: 0)
      try await transport.store(stream.next(1))
    },
    ConformanceCheck("a reader beside a writer finds whole segments without gaps") { place in
      var stream = place.stream()
      let (writer, reader) = (try await place.connect(stream), try await place.connect(place.stream()))
      let segments = stream.next(40)
      let replica = stream.replica
      let writing = Task { try await writer.store(segments) }
      let error = try await place.ending("reading") {
        var known = 0
        while known < segments.count {
          let found = try await reader.segments(of: replica, after: 0, byteCount: .max)
          try require(
            found == segments.prefix(found.count).map(\.bytes) && found.count >= known,
            "the first segments, at least \(known) of them, while others are written")
          // A place may refuse a reader that asks without a pause.
          if found.count == known { try await Task.sleep(for: .milliseconds(20)) }
          known = found.count
        }
      }
      try await writing.value
      if let error { throw error }
    },
  ]
}
