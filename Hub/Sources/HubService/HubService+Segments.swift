import HTTPTypes
import HubStorage
import HubWire
import Hummingbird
import TallySync

extension HubService {
  func addSegmentRoutes(to router: RouterGroup<HubContext>) {
    router.post("spaces/:space/replicas/:replica/segments", use: append)
    router.get("spaces/:space/replicas/:replica/segments", use: stream)
    router.get("spaces/:space/segments", use: segments)
    router.get("spaces/:space/cards", use: cards)
    router.put("spaces/:space/replicas/:replica/cards/:number", use: putCard)
    router.post("spaces/:space/replicas/:replica/deletion", use: delete)
  }

  private static let defaultByteCount = 1 << 20
  private static let mostByteCount = 8 << 20

  @Sendable private func append(_ request: Request, _ context: HubContext) async throws -> Response {
    let (member, replica) = (try await writer(request, context), try context.replica())
    let bytes = try await body(request, context)
    let parts = try SegmentFrame.split(bytes).orBadRequest("The body is not made of whole segments.")
    let answers = try await store.append(parts.map(\.bytes), of: replica, by: member)
    measures.noteAppended(parts.map(\.bytes), answers)
    if let position = answers.compactMap(\.storedPosition).last {
      configuration.webhook?.noteAppend(to: member.space, position: position)
    }
    if answers.contains(where: { if case .stored = $0 { true } else { false } }) { noteChange(of: member.space) }
    let message = HubMessage.AppendAnswers(answers: answers.map { HubMessage.AppendAnswer($0, of: replica) })
    return .json(message.json, status: answers.last?.status ?? .ok)
  }

  /// How far a stream has been read.
  fileprivate struct StreamCursor: Sendable {
    /// The number of the last segment of which reading has begun.
    var after: UInt64
    /// How many more bytes are wanted.
    var left: Int
    /// A segment of which only the beginning was read: its position, the bytes read, and its size.
    var large: (position: UInt64, offset: Int, byteCount: Int)?
  }

  @Sendable private func stream(_ request: Request, _ context: HubContext) async throws -> Response {
    let (member, replica) = (try await member(request, context), try context.replica())
    let start = StreamCursor(after: try request.number("after", as: UInt64.self) ?? 0, left: try byteCount(request))
    return try await answer(request, context, from: start) { [store] cursor in
      var cursor = cursor
      if let large = cursor.large {
        let slice = try await store.segment(
          at: large.position, from: large.offset, count: Self.pageByteCount, in: member.space)
        return try cursor.advance(by: slice, of: large)
      }
      let wanted = min(cursor.left, Self.pageByteCount)
      let segments = try await store.segments(of: replica, after: cursor.after, byteCount: wanted, in: member.space)
      return cursor.advance(by: segments, wanted: wanted)
    }
  }

  @Sendable private func segments(_ request: Request, _ context: HubContext) async throws -> Response {
    let member = try await member(request, context)
    let position = try request.number("after", as: UInt64.self) ?? 0
    try await flows.hold(Self.pageByteCount, for: context.channel)
    // The header with the position of the last segment precedes the bytes, so there is only one page; but a first segment that is
    // larger than a page is given as a whole.
    var segments = try await store.segments(
      after: position, byteCount: min(try byteCount(request), Self.pageByteCount), in: member.space)
    if segments.count > 1, let last = segments.last, last.bytes.count < last.byteCount { segments.removeLast() }
    var response = Response.sealed(Self.joined(segments.map(\.bytes)))
    if let first = segments.first, first.bytes.count < first.byteCount {
      response = try await answer(request, context, from: 0) { [store] offset in
        let slice = try await store.segment(
          at: first.position, from: offset, count: Self.pageByteCount, in: member.space)
        return try slice.next(after: offset, of: first.byteCount)
      }
    }
    if let name = HTTPField.Name("Tally-Position") {
      response.headers[name] = "\(segments.last?.position ?? position)"
    }
    return response
  }

  private func byteCount(_ request: Request) throws -> Int {
    min(max(try request.number("bytes", as: Int.self) ?? Self.defaultByteCount, 1), Self.mostByteCount)
  }

  @Sendable private func cards(_ request: Request, _ context: HubContext) async throws -> Response {
    let member = try await member(request, context)
    return try await answer(request, context, from: ReplicaID?.none) { [store] replica in
      let cards = try await store.cards(after: replica, byteCount: Self.pageByteCount, in: member.space)
      let bytes = Self.joined(cards.map(\.bytes))
      return (bytes, bytes.count < Self.pageByteCount ? nil : cards.last.map { .some($0.replica) })
    }
  }

  @Sendable private func putCard(_ request: Request, _ context: HubContext) async throws -> Response {
    let (member, replica) = (try await member(request, context), try context.replica())
    let bytes = try await body(request, context, upTo: 64 << 10)
    guard let frame = SegmentFrame(bytes[...]), frame.byteCount == bytes.count, frame.replica == replica,
      !frame.isSegment
    else {
      throw HTTPError(.badRequest, message: "The body is not a card of this replica.")
    }
    try await store.putCard(
      bytes, number: try context.number("number"), of: replica, by: member, mostCards: configuration.mostCards)
    noteChange(of: member.space)
    return Response(status: .noContent)
  }

  @Sendable private func delete(_ request: Request, _ context: HubContext) async throws -> Response {
    let (member, replica) = (try await member(request, context), try context.replica())
    let message = try await message(HubMessage.Deletion.self, request, context, upTo: 1 << 20)
    let names = try message.snapshots.map { try $0.name.orBadRequest("The name of a snapshot is invalid.") }
    try await store.delete(segmentsOf: replica, upTo: message.upTo, snapshots: names, by: member)
    return Response(status: .noContent)
  }
}

extension HubService.StreamCursor {
  /// Advances past a page of segments, whose last one may be cut short.
  fileprivate mutating func advance(by segments: [HubSegment], wanted: Int) -> (bytes: [UInt8], next: Self?) {
    let bytes = HubService.joined(segments.map(\.bytes))
    after += UInt64(segments.count)
    left -= segments.reduce(0) { $0 + $1.byteCount }
    if let last = segments.last, last.bytes.count < last.byteCount {
      large = (last.position, last.bytes.count, last.byteCount)
      return (bytes, self)
    }
    // Otherwise no further segment begins within the wanted bytes.
    return (bytes, left > 0 && bytes.count >= wanted ? self : nil)
  }

  /// Advances past some bytes of a segment that is read in slices.
  fileprivate mutating func advance(
    by slice: HubSlice?, of large: (position: UInt64, offset: Int, byteCount: Int)
  ) throws -> (bytes: [UInt8], next: Self?) {
    let (bytes, next) = try slice.next(after: large.offset, of: large.byteCount)
    if let next {
      self.large = (large.position, next, large.byteCount)
      return (bytes, self)
    }
    self.large = nil
    return (bytes, left > 0 ? self : nil)
  }
}

/// The object that was being read in pages is gone, or another one has its name now.
private struct ChangedMeanwhile: Error {}

extension Optional<HubSlice> {
  /// The bytes, and where the next ones begin; `nil` after the last byte.
  func next(after offset: Int, of byteCount: Int) throws -> (bytes: [UInt8], next: Int?) {
    guard let self, self.byteCount == byteCount, !self.bytes.isEmpty || byteCount == 0 else { throw ChangedMeanwhile() }
    let end = offset + self.bytes.count
    return (self.bytes, end < byteCount ? end : nil)
  }
}

extension HubAppendAnswer {
  fileprivate var storedPosition: UInt64? { if case .stored(let position) = self { position } else { nil } }

  fileprivate var status: HTTPResponse.Status {
    switch self {
    case .stored, .known: .ok
    case .fork, .gap: .conflict
    case .quota: .lackOfRoom
    case .denied: .forbidden
    }
  }
}

extension HubMessage.AppendAnswer {
  fileprivate init(_ answer: HubAppendAnswer, of replica: ReplicaID) {
    switch answer {
    case .stored(let position): self.init(answer: "stored", position: position)
    case .known(let position): self.init(answer: "known", position: position)
    case .fork: self.init(answer: "fork")
    case .gap(let head): self.init(answer: "gap", head: HubMessage.Head(head, of: replica))
    case .quota: self.init(answer: "quota")
    case .denied: self.init(answer: "denied")
    }
  }
}
