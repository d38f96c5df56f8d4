import TallySync

extension TransportConformance {
  /// Longer than any test should take.
  private static let longWaitInSeconds = 86_400.0

  static let waiting = [
    ConformanceCheck("a wait ends at its limit") { place in
      let transport = try await place.connect(place.stream())
      _ = try await transport.heads()
      for seconds in [-1, 0, 0.05] {
        let error = try await place.ending("a wait of \(seconds) seconds") {
          let isChanged = try await transport.waitForChanges(seconds: seconds)
          try require(!isChanged, "a wait in which nothing changes to return false")
        }
        if let error { throw error }
      }
    },
    ConformanceCheck("a segment of another replica ends a wait") { place in
      var stream = place.stream()
      let (writer, reader) = (try await place.connect(stream), try await place.connect(place.stream()))
      _ = try await reader.heads()
      // The first one creates whatever a new replica needs; the second one is an ordinary one.
      for segment in stream.next(2) {
        let wait = Task {
          let isChanged = try await reader.waitForChanges(seconds: longWaitInSeconds)
          try require(isChanged, "a wait that a segment ends to return true")
        }
        try await writer.store([segment])
        if let error = try await place.ending(of: wait, "the wait for segment \(segment.head.number)") { throw error }
        try require(try await reader.heads(), is: [stream.replica: segment.head], "the heads after the wait")
      }
    },
    ConformanceCheck("a change between a look and a wait ends the wait") { place in
      var stream = place.stream()
      let (writer, reader) = (try await place.connect(stream), try await place.connect(place.stream()))
      try await writer.store(stream.next(1))
      _ = try await reader.heads()
      try await writer.store(stream.next(1))
      let error = try await place.ending("a wait that begins after the change") {
        _ = try await reader.waitForChanges(seconds: longWaitInSeconds)
      }
      if let error { throw error }
    },
    ConformanceCheck("other functions can be called while a wait goes on") { place in
      var stream = place.stream()
      let transport = try await place.connect(stream)
      _ = try await transport.heads()
      let wait = Task { _ = try await transport.waitForChanges(seconds: longWaitInSeconds) }
      for segment in stream.next(3) {
        try await transport.store([segment])
        try require(try await transport.heads(), is: [stream.replica: segment.head], "the heads during the wait")
      }
      wait.cancel()
      _ = try await place.ending(of: wait, "a wait during which others were called")
    },
    ConformanceCheck("a cancelled wait ends with an error") { place in
      let transport = try await place.connect(place.stream())
      _ = try await transport.heads()
      let wait = Task { _ = try await transport.waitForChanges(seconds: longWaitInSeconds) }
      wait.cancel()
      let error = try await place.ending(of: wait, "a cancelled wait")
      try require(error is CancellationError, "a CancellationError from a cancelled wait")
    },
  ]
}
