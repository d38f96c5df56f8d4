import HTTPTypes
import HubStorage
import HubWire
import Hummingbird
import TallySync

extension HubService {
  func addSegmentRoutes(to router: RouterGroup<BasicRequestContext>) {
    router.post("spaces/:space/replicas/:replica/segments", use: append)
    router.get("spaces/:space/replicas/:replica/segments", use: stream)
    router.get("spaces/:space/segments", use: segments)
    router.get("spaces/:space/cards", use: cards)
    router.put("spaces/:space/replicas/:replica/cards/:number", use: putCard)
    router.post("spaces/:space/replicas/:replica/deletion", use: delete)
  }

  private static let defaultByteCount = 1 << 20
  private static let mostByteCount = 8 << 20

  @Sendable private func append(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let (member, replica) = (try await writer(request, context), try context.replica())
    let bytes = try await request.bytes()
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

  @Sendable private func stream(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let member = try await member(request, context)
    let number = try request.number("after", as: UInt64.self) ?? 0
    let segments = try await store.segments(
      of: try context.replica(), after: number, byteCount: try byteCount(request), in: member.space)
    return .sealed(segments.flatMap(\.bytes))
  }

  @Sendable private func segments(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let member = try await member(request, context)
    let position = try request.number("after", as: UInt64.self) ?? 0
    let segments = try await store.segments(
      after: position, byteCount: try byteCount(request), in: member.space)
    var response = Response.sealed(segments.flatMap(\.bytes))
    if let name = HTTPField.Name("Tally-Position") {
      response.headers[name] = "\(segments.last?.position ?? position)"
    }
    return response
  }

  private func byteCount(_ request: Request) throws -> Int {
    min(max(try request.number("bytes", as: Int.self) ?? Self.defaultByteCount, 1), Self.mostByteCount)
  }

  @Sendable private func cards(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let member = try await member(request, context)
    return .sealed(try await store.cards(in: member.space).sorted { $0.key < $1.key }.flatMap(\.value))
  }

  @Sendable private func putCard(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let (member, replica) = (try await member(request, context), try context.replica())
    let bytes = try await request.bytes(upTo: 64 << 10)
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

  @Sendable private func delete(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let (member, replica) = (try await member(request, context), try context.replica())
    let message = try await request.message(HubMessage.Deletion.self)
    let names = try message.snapshots.map { try $0.name.orBadRequest("The name of a snapshot is invalid.") }
    try await store.delete(segmentsOf: replica, upTo: message.upTo, snapshots: names, by: member)
    return Response(status: .noContent)
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
