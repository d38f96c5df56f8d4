package import CoreMetrics
import Foundation
import HTTPTypes
package import HubStorage
import HubWire
package import Hummingbird
import Instrumentation
import Logging
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
  private let limiter: RateLimiter
  private let strangers: RateLimiter
  /// Of tokens that are unknown.
  private let guesses: RateLimiter
  private let draining = Atomic(false)

  /// Takes what the hub needs.
  ///
  /// - Parameters:
  ///   - store: Where it keeps what it has.
  ///   - configuration: How it serves.
  ///   - metrics: Where it counts and measures.
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
  }

  /// The routes.
  ///
  /// - Returns: A router with all of them.
  package func router() -> Router<BasicRequestContext> {
    let router = Router()
    // It answers with several writes instead of one, even if nobody traces.
    if !(InstrumentationSystem.instrument is NoOpInstrument) { router.add(middleware: TracingMiddleware()) }
    router.add(middleware: HubMeasuresMiddleware(measures: measures))
    router.add(middleware: HubErrorMiddleware())
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
    version.post("wait", use: wait)
    return router
  }

  /// Notes a change of a space, for those who wait here and at other hubs.
  func noteChange(of space: SpaceID) {
    waits.noteChange(of: space)
    store.announceChange(of: space)
  }

  /// Says from now on that it is not ready, and answers all the same.
  func beginDraining() { draining.store(true, ordering: .relaxed) }
}

// MARK: - Authorization

extension HubService {
  /// What the token of a request about a space allows; without a space, the token of an account.
  func grant(of request: Request, in space: SpaceID?) async throws -> HubGrant {
    try await grant(of: Self.token(of: request), in: space)
  }

  private static func token(of request: Request) -> String {
    let header = request.headers[.authorization] ?? ""
    return header.hasPrefix("Bearer ") ? String(header.dropFirst("Bearer ".count)) : ""
  }

  private func grant(of token: String, in space: SpaceID?) async throws -> HubGrant {
    guard let hash = HubToken(token).hash, let grant = try await store.grant(for: hash, in: space) else {
      try Self.take(from: guesses, for: nil)
      throw HTTPError(.unauthorized, message: "The token is missing or unknown.")
    }
    if case .revoked = grant {
      try Self.take(from: guesses, for: nil)
      throw HTTPError(.unauthorized, headers: HubRefusal.revokedFields, message: "This device was revoked.")
    }
    return grant
  }

  /// The member of the space of the path that asks; `isOwner` requires that it is an owner.
  func member(_ request: Request, _ context: BasicRequestContext, isOwner: Bool = false) async throws -> HubMember {
    let (space, grant) = (try context.space(), try await grant(of: request, in: try context.space()))
    let member = try member(of: space, with: grant)
    guard !isOwner || member.role == .owner else {
      throw HTTPError(.forbidden, message: "Only an owner of the space may do this.")
    }
    return member
  }

  /// The member that appends to the space of the path, which may have been revoked: the store decides.
  func writer(_ request: Request, _ context: BasicRequestContext) async throws -> HubMember {
    let space = try context.space()
    guard let hash = HubToken(Self.token(of: request)).hash, let known = writers[hash], known.space == space else {
      let member = try await member(request, context)
      if let hash = HubToken(Self.token(of: request)).hash { writers[hash] = member }
      return member
    }
    try Self.take(from: limiter, for: known.id)
    return known
  }

  /// The member of a space whose token is given; its request counts.
  func member(of space: SpaceID, token: String) async throws -> HubMember {
    try member(of: space, with: try await grant(of: token, in: space))
  }

  private func member(of space: SpaceID, with grant: HubGrant) throws -> HubMember {
    guard case .member(let member) = grant, member.space == space else {
      throw HTTPError(.forbidden, message: "The token is not that of a member of this space.")
    }
    try Self.take(from: limiter, for: member.id)
    return member
  }

  /// Limits requests without a token: all of them share one bucket, since an address may have many people behind it.
  func limitStrangers() throws { try Self.take(from: strangers, for: nil) }

  private static func take(from limiter: RateLimiter, for id: UUID?) throws {
    guard let seconds = limiter.take(for: id) else { return }
    throw HTTPError(
      .tooManyRequests, headers: [.retryAfter: "\(Int(seconds.rounded(.up)))"], message: "Too many requests.")
  }
}

// MARK: - Requests and answers

extension BasicRequestContext {
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

extension Request {
  /// The whole body.
  func bytes(upTo limit: Int = HubLimits.bodyByteCount) async throws -> [UInt8] {
    if let length = headers[.contentLength].flatMap(Int.init), length > limit {
      throw HTTPError(.contentTooLarge, message: "A body may have \(limit) bytes.")
    }
    var bytes: [UInt8] = []
    for try await buffer in body {
      bytes += buffer.readableBytesView
      guard bytes.count <= limit else { throw HTTPError(.contentTooLarge, message: "A body may have \(limit) bytes.") }
    }
    // A connection that ends early ends the body, too.
    guard headers[.contentLength].flatMap(Int.init).map({ $0 == bytes.count }) ?? true else {
      throw HTTPError(.badRequest, message: "The body is not whole.")
    }
    return bytes
  }

  /// The body as JSON.
  func message<M: Decodable>(_ type: M.Type) async throws -> M {
    let bytes = try await bytes(upTo: 1 << 20)
    do {
      return try JSONDecoder().decode(type, from: Data(bytes))
    } catch {
      throw HTTPError(.badRequest, message: "The body is not the JSON that this path expects.")
    }
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
    _ request: Request, context: BasicRequestContext,
    next: (Request, BasicRequestContext) async throws -> Response
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
    case .spaceExists: .conflict
    case .noSpace: .notFound
    case .malformed: .badRequest
    case .full: .lackOfRoom
    case .denied: .forbidden
    case .unavailable: .serviceUnavailable
    case .database: .internalServerError
    }
  }

  /// Without what a database says, which is for its operator.
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
