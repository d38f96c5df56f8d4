import TallySync

extension TransportConformance {
  static let snapshots = [
    ConformanceCheck("a snapshot is there when all its parts are") { place in
      let stream = place.stream()
      let (transport, reader) = (try await place.connect(stream), try await place.connect(place.stream()))
      let name = stream.snapshot(1, partCount: 3)
      let parts = (0..<3).map { stream.part($0) }
      for number in [2, 0, 1] {
        try require(try await reader.snapshots(), is: [], "the snapshots before part \(number) is there")
        try await transport.putPart(parts[number], number: number, of: name)
      }
      try require(try await reader.snapshots(), is: [name], "the snapshots")
      for number in 0..<3 {
        try require(try await reader.part(number, of: name) == parts[number], "part \(number) unchanged")
      }
    },
    ConformanceCheck("the newest snapshot comes first") { place in
      let stream = place.stream()
      let transport = try await place.connect(stream)
      for number: UInt64 in [9, 11, 2, 10] {
        try await transport.putPart(stream.part(0), number: 0, of: stream.snapshot(number, partCount: 1))
      }
      try require(try await transport.snapshots().map(\.number), is: [11, 10, 9, 2], "the numbers of the snapshots")
    },
    ConformanceCheck("a part that is not there is an error") { place in
      let stream = place.stream()
      let transport = try await place.connect(stream)
      try await transport.putPart(stream.part(0), number: 0, of: stream.snapshot(1, partCount: 2))
      for (number, name) in [(1, stream.snapshot(1, partCount: 2)), (0, stream.snapshot(2, partCount: 2))] {
        let part = try? await transport.part(number, of: name)
        try require(part == nil, "an error for part \(number) of snapshot \(name.number)")
      }
    },
  ]
}
