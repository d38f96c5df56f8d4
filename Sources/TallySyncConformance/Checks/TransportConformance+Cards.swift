import TallySync

extension TransportConformance {
  static let cards = [
    ConformanceCheck("of the cards of a replica the one with the greatest number is given") { place in
      let (stream, other) = (place.stream(), place.stream())
      let (transport, reader) = (try await place.connect(stream), try await place.connect(other))
      for number: UInt64 in [1, 2, 9, 10, 11] {
        let card = stream.card(number)
        try await transport.putCard(card, of: stream.replica, number: number)
        try require(try await reader.cards() == [stream.replica: card], "card \(number) alone")
      }
      let newest = try await reader.cards()
      try await transport.putCard(stream.card(3), of: stream.replica, number: 3)
      try require(try await reader.cards() == newest, "card 11 to stay after card 3 was stored")
    },
    ConformanceCheck("every replica has a card of its own") { place in
      let streams = [place.stream(), place.stream(), place.stream()]
      var cards: [ReplicaID: [UInt8]] = [:]
      for stream in streams {
        let card = stream.card(1)
        cards[stream.replica] = card
        try await place.connect(stream).putCard(card, of: stream.replica, number: 1)
      }
      for stream in streams {
        try require(try await place.connect(stream).cards() == cards, "the cards of three replicas")
      }
    },
  ]
}
