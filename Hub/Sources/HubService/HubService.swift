package import CoreMetrics
import Foundation
import HTTPTypes
package import HubStorage
import HubWire
import Hummingbird
import Instrumentation
import Logging
import NIOCore
import Synchronization
import TallySync

/// The HTTP service of a hub: it stores sealed segments, snapshots and cards of spaces for those who have a token.
///
///     let store = try LMDBHubStore(at: "/var/lib/tally-hub")
///     let hub = HubService(store: store)
///     let application = Application(router: hub.router(), configuration: .init(address: .hostname("127.0.0.1", port: 8420)))
package final class HubService: Sendable {
  let store: any HubStore
  let configuration: HubConfiguration
  let waits = HubWaits()
  let writers = MemberCache()
  let measures: HubMeasures
  let flows: BytesInFlight
  /// Limits the requests of each member and account.
  private let limiter: RateLimiter<UUID>
  private let strangers: RateLimiter<ClientAddress>
  /// Limits the requests with unknown tokens, by address.
  private let guesses: RateLimiter<ClientAddress>
  /// Limits the attempts with each invitation and recovery code, by its hash.
  private let attempts: RateLimiter<[UInt8]>
  private let draining = Atomic(false)

  /// Creates the service.
  ///
  /// - Parameters:
  ///   - store: The store of the hub.
  ///   - configuration: The settings of the service.
  ///   - metrics: Gets the counts and measurements.
  package init(
    store: any HubStore, configuration: HubConfiguration = HubConfiguration(),
    metrics: any MetricsFactory = NOOPMetricsHandler.instance
  ) {
    (self.store, self.configuration) = (store, configuration)
    measures = HubMeasures(metrics)
    limiter = RateLimiter(burst: configuration.burst, perSecond: configuration.requestsPerSecond)
    strangers = RateLimiter(
      burst: configuration.burstOfStrangers, perSecond: configuration.requestsOfStrangersPerSecond)
    guesses = RateLimiter(burst: configuration.burst, perSecond: configuration.requestsPerSecond)
    attempts = RateLimiter(burst: 20, perSecond: 1)
    flows = BytesInFlight(ofMember: configuration.bytesInFlightOfMember, inAll: configuration.bytesInFlight)
  }

  /// Creates a router.
  ///
  /// - Returns: A router with all routes.
  func router() -> Router<HubContext> {
    let router = Router(context: HubContext.self)
    // The middleware splits each answer into several writes, even if nobody traces.
    if !(InstrumentationSystem.instrument is NoOpInstrument) { router.add(middleware: TracingMiddleware()) }
    router.add(middleware: HubMeasuresMiddleware(measures: measures))
    router.add(middleware: HubErrorMiddleware())
    router.add(middleware: FlowMiddleware(bytes: flows))
    router.get("health") { _, _ in HTTPResponse.Status.ok }
    router.get("ready") { [self] _, _ in
      guard !draining.load(ordering: .relaxed), !waits.isDraining else {
        throw HTTPError(.serviceUnavailable, message: "This hub is about to stop.")
      }
      _ = try await store.incarnation(for: nil)
      return HTTPResponse.Status.ok
    }
    let version = router.group("v1")
    addAccountRoutes(to: version)
    addSpaceRoutes(to: version)
    addSegmentRoutes(to: version)
    addSnapshotRoutes(to: version)
    addRecoveryRoutes(to: version)
    version.post("wait", use: wait)
    return router
  }

  /// Wakes those who wait here for a change of a space, and announces the change to other hubs.
  func noteChange(of space: SpaceID) {
    waits.noteChange(of: space)
    store.announceChange(of: space)
  }

  /// Reports from now on that the hub is not ready, but continues to answer requests.
  func beginDraining() { draining.store(true, ordering: .relaxed) }
}

// MARK: - Authorization

extension HubService {
  /// The account whose token a request has; the request is counted.
  func account(_ request: Request, _ context: HubContext) async throws -> HubAccount {
    let grant = try await grant(of: request.token, in: nil, from: context)
    guard case .account(let id) = grant, let account = try await store.account(id) else {
      throw HTTPError(.forbidden, message: "The token is not that of an account.")
    }
    try Self.take(from: limiter, for: id)
    context.assign(to: id, in: flows)
    return account
  }

  /// The grant of a token; an unknown token is counted for the client's address.
  ///
  /// - Parameters:
  ///   - token: The token.
  ///   - space: The space that the request is about; `nil` for the token of an account, or for a space that is not known.
  ///   - context: The context of the request.
  /// - Returns: The grant.
  /// - Throws: `HTTPError` for a token that is unknown, or of a member that was revoked.
  func grant(of token: String, in space: SpaceID?, from context: HubContext) async throws -> HubGrant {
    guard let hash = HubToken(token).hash, let grant = try await store.grant(for: hash, in: space) else {
      try Self.take(from: guesses, for: context.address)
      throw HTTPError(.unauthorized, message: "The token is missing or unknown.")
    }
    if case .revoked = grant {
      try Self.take(from: guesses, for: context.address)
      throw HTTPError(.unauthorized, headers: HubRefusal.revokedFields, message: "This device was revoked.")
    }
    return grant
  }

  /// The member that sends a request about the space in the path; with `isOwner`, it must be an owner.
  func member(_ request: Request, _ context: HubContext, isOwner: Bool = false) async throws -> HubMember {
    let member = try await member(of: context.space(), token: request.token, from: context)
    guard !isOwner || member.role == .owner else {
      throw HTTPError(.forbidden, message: "Only an owner of the space may do this.")
    }
    return member
  }

  /// The member that appends to the space in the path; it may have been revoked, which the store checks.
  func writer(_ request: Request, _ context: HubContext) async throws -> HubMember {
    let space = try context.space()
    guard let hash = HubToken(request.token).hash, let known = writers[hash], known.space == space else {
      let member = try await member(request, context)
      if let hash = HubToken(request.token).hash { writers[hash] = member }
      return member
    }
    try Self.take(from: limiter, for: known.id)
    context.assign(to: known.id, in: flows)
    return known
  }

  /// The member of a space with a token; its request is counted.
  func member(of space: SpaceID, token: String, from context: HubContext) async throws -> HubMember {
    guard case .member(let member) = try await grant(of: token, in: space, from: context), member.space == space else {
      throw HTTPError(.forbidden, message: "The token is not that of a member of this space.")
    }
    try take(for: member)
    context.assign(to: member.id, in: flows)
    return member
  }

  /// Counts a request of a member.
  func take(for member: HubMember) throws { try Self.take(from: limiter, for: member.id) }

  /// Counts a request without a token for its address, which many people may share.
  func limitStrangers(_ context: HubContext) throws { try Self.take(from: strangers, for: context.address) }

  /// Counts an attempt with an invitation or a recovery code; others cannot use up these attempts.
  func limitAttempts(with hash: [UInt8]) throws { try Self.take(from: attempts, for: hash) }

  private static func take<Key>(from limiter: RateLimiter<Key>, for key: Key) throws {
    guard let seconds = limiter.take(for: key) else { return }
    throw HTTPError(
      .tooManyRequests, headers: [.retryAfter: "\(Int(seconds.rounded(.up)))"], message: "Too many requests.")
  }
}

// MARK: - Requests and answers

/// A request with its connection.
struct HubContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  let channel: any Channel

  init(source: ApplicationRequestContextSource) {
    (coreContext, channel) = (CoreRequestContextStorage(source: source), source.channel)
  }

  /// The address from which the request comes.
  var address: ClientAddress { ClientAddress(channel.remoteAddress) }

  func assign(to member: UUID, in flows: BytesInFlight) { flows.assign(channel, to: member) }
}

extension HubContext {
  func space() throws -> SpaceID {
    try SpaceID(parameters.require("space")).orBadRequest("The id of the space is invalid.")
  }

  func replica() throws -> ReplicaID {
    try ReplicaID(parameters.require("replica")).orBadRequest("The id of the replica is invalid.")
  }

  func number(_ name: String) throws -> UInt64 {
    let number = try UInt64(parameters.require(name)).flatMap { $0 <= UInt64(Int64.max) ? $0 : nil }
    return try number.orBadRequest("The number in the path is invalid.")
  }
}

extension Optional {
  func orBadRequest(_ message: String) throws -> Wrapped {
    guard let self else { throw HTTPError(.badRequest, message: message) }
    return self
  }
}

extension HubService {
  /// The whole body of a request.
  ///
  /// The bytes in flight count it once for each copy that storing it makes.
  func body(_ request: Request, _ context: HubContext, upTo limit: Int = HubLimits.bodyByteCount) async throws
    -> [UInt8]
  {
    let length = request.headers[.contentLength].flatMap(Int.init)
    if let length, length > limit {
      throw HTTPError(.contentTooLarge, message: "The body is longer than \(limit) bytes.")
    }
    flows.noteReceiving(true, by: context.channel)
    defer { flows.noteReceiving(false, by: context.channel) }
    var bytes: [UInt8] = []
    for try await buffer in request.body {
      guard bytes.count + buffer.readableBytes <= limit else {
        throw HTTPError(.contentTooLarge, message: "The body is longer than \(limit) bytes.")
      }
      try await flows.hold(buffer.readableBytes * Self.copiesOfBodies, for: context.channel)
      flows.noteReceiving(true, by: context.channel)
      bytes += buffer.readableBytesView
    }
    // A connection that ends early ends the body, too.
    guard length.map({ $0 == bytes.count }) ?? true else {
      throw HTTPError(.badRequest, message: "The body ends before its stated length.")
    }
    return bytes
  }

  private static let copiesOfBodies = 2

  /// The body as JSON.
  func message<M: Decodable>(
    _ type: M.Type, _ request: Request, _ context: HubContext, upTo limit: Int = HubLimits.messageByteCount
  ) async throws -> M {
    let bytes = try await body(request, context, upTo: limit)
    do {
      return try JSONDecoder().decode(type, from: Data(bytes))
    } catch {
      throw HTTPError(.badRequest, message: "The body is not the JSON that this path expects.")
    }
  }

  static let pageByteCount = 64 << 10
  private static let writtenAtOnce = 32 << 10
  private static let pauseBeforeAskingAgain = Duration.seconds(1)

  /// Answers a member with sealed bytes that are read page by page, as the client takes them.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - context: The context of the request.
  ///   - start: Where the first page begins.
  ///   - read: Reads a page, and returns where the next one begins.
  /// - Returns: The answer; if it has several pages, they are read while it is written.
  /// - Throws: What reading the first page throws; a later error ends the connection before the answer is whole.
  func answer<Cursor: Sendable>(
    _ request: Request, _ context: HubContext, from start: Cursor,
    _ read: @escaping @Sendable (Cursor) async throws -> (bytes: [UInt8], next: Cursor?)
  ) async throws -> Response {
    try await flows.hold(Self.pageByteCount, for: context.channel)
    let (first, next) = try await read(start)
    guard let next else { return .sealed(first) }
    let (token, space) = (request.token, try context.space())
    // The first page is released when it is written, since the closure lives until the answer is complete.
    let start = Mutex(first)
    let body = ResponseBody { [self] (writer: inout any ResponseBodyWriter) async throws -> Void in
      try await write(start.withLock { Self.taken(from: &$0) }, to: &writer, context)
      var (following, askedAt): (Cursor?, ContinuousClock.Instant) = (next, .now)
      while let cursor = following {
        try await flows.hold(Self.pageByteCount, for: context.channel, behind: Self.pageByteCount)
        defer { flows.release(Self.pageByteCount, of: context.channel) }
        // The member may have been revoked meanwhile, perhaps through another hub.
        if askedAt + Self.pauseBeforeAskingAgain < .now {
          _ = try await grant(of: token, in: space, from: context)
          askedAt = .now
        }
        let page = try await read(cursor)
        try await write(page.bytes, to: &writer, context)
        following = page.next
      }
      try await writer.finish(nil)
    }
    return Response(status: .ok, headers: [.contentType: "application/octet-stream"], body: body)
  }

  private static func taken(from bytes: inout [UInt8]) -> [UInt8] {
    defer { bytes = [] }
    return bytes
  }

  /// Joins bytes in an array that is allocated once.
  static func joined(_ parts: [[UInt8]]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(parts.reduce(0) { $0 + $1.count })
    for part in parts { bytes += part }
    return bytes
  }

  private func write(_ bytes: [UInt8], to writer: inout any ResponseBodyWriter, _ context: HubContext) async throws {
    flows.noteProduced(bytes.count, for: context.channel)
    for start in stride(from: 0, to: bytes.count, by: Self.writtenAtOnce) {
      try await writer.write(ByteBuffer(bytes: bytes[start..<min(start + Self.writtenAtOnce, bytes.count)]))
    }
  }
}

extension Request {
  /// The bearer token of the request; empty if it has none.
  var token: String {
    let header = headers[.authorization] ?? ""
    return header.hasPrefix("Bearer ") ? String(header.dropFirst("Bearer ".count)) : ""
  }

  /// A number of the query; `nil` if it is missing.
  func number<N: LosslessStringConvertible>(_ name: String, as type: N.Type) throws -> N? {
    try uri.queryParameters[name[...]].map { try N(String($0)).orBadRequest("'\(name)' is not a number.") }
  }
}

extension Response {
  /// An answer as JSON.
  static func json(_ message: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
    .json(String(decoding: try JSONEncoder().encode(message), as: UTF8.self), status: status)
  }

  /// An answer that is JSON.
  static func json(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
    Response(
      status: status, headers: [.contentType: "application/json"], body: .init(byteBuffer: ByteBuffer(string: text)))
  }

  /// An answer of sealed bytes.
  static func sealed(_ bytes: some Sequence<UInt8>) -> Response {
    Response(
      status: .ok, headers: [.contentType: "application/octet-stream"],
      body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
  }
}

extension HubRefusal {
  fileprivate static var revokedFields: HTTPFields {
    HTTPField.Name(fieldName).map { [$0: revoked] } ?? [:]
  }
}

/// Answers the errors of the store with a status.
struct HubErrorMiddleware: RouterMiddleware {
  func handle(
    _ request: Request, context: HubContext,
    next: (Request, HubContext) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch let error as HubStoreError {
      if error.status.code == 500 || error.status == .serviceUnavailable { context.logger.error("\(error)") }
      throw HTTPError(
        error.status, headers: error.status == .serviceUnavailable ? [.retryAfter: "1"] : [:],
        message: error.publicMessage)
    }
  }
}

extension HubStoreError {
  fileprivate var status: HTTPResponse.Status {
    switch self {
    case .spaceExists, .replacedCode, .sharedCode: .conflict
    case .noSpace: .notFound
    case .malformed: .badRequest
    case .full: .lackOfRoom
    case .denied, .knownToken: .forbidden
    case .unavailable: .serviceUnavailable
    case .database: .internalServerError
    }
  }

  /// The message without that of the database, which is for the operator only.
  fileprivate var publicMessage: String {
    switch self {
    case .unavailable: "The hub's database is not available now."
    case .database: "The hub's database refuses the request."
    default: description
    }
  }
}

extension HTTPResponse.Status {
  /// 507, of RFC 4918.
  static var lackOfRoom: HTTPResponse.Status { HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage") }
}
