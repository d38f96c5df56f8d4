import AsyncHTTPClient
import Foundation
import HubWire
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import SystemPackage
public import TallySync

/// The reason why a request to a hub has failed.
public enum HubFault: Error, Hashable, CustomStringConvertible {
  /// It answered with a status and perhaps a reason.
  case status(Int, String)
  /// The hub accepts no requests for some seconds, for a reason.
  case tooMany(String, retryInSeconds: Double)
  /// This device was revoked.
  case revoked
  /// The store belongs to a space already.
  case alreadySynchronises
  /// The store has no token of a member at a hub.
  case noToken
  /// The text is not an invitation to a hub.
  case noInvitation
  /// The invitation is to a space other than the store's.
  case otherSpace
  /// It does not answer, for a reason.
  case unreachable(String)
  /// The answer is not one of a hub of this version.
  case unexpected

  /// Whether the same request would be refused again.
  public var isRefusal: Bool {
    switch self {
    case .status(let status, _): (400..<500).contains(status) && ![408, 425, 429].contains(status) || status == 507
    case .unreachable, .tooMany: false
    case .revoked, .alreadySynchronises, .noToken, .noInvitation, .otherSpace, .unexpected: true
    }
  }

  /// A sentence for people.
  public var description: String {
    switch self {
    case .status(let status, let reason): reason.isEmpty ? "The hub answered with status \(status)." : reason
    case .tooMany(let reason, _): reason.isEmpty ? "The hub is too busy. Try again later." : reason
    case .revoked: "This device was revoked."
    case .unreachable(let reason): "The hub does not answer: \(reason)"
    case .alreadySynchronises: "The store belongs to a space already."
    case .noToken: "The store belongs to no space at a hub."
    case .noInvitation: "The text is not an invitation to a space at a hub."
    case .otherSpace: "The invitation is to another space than the store's."
    case .unexpected: "The answer is not that of a hub of this version."
    }
  }
}

extension HubFault: SyncTransportError {
  /// The refusal by the hub; `nil` if it has not answered, or another program has.
  public var refusal: SyncRefusal? {
    switch self {
    case .status(let status, _) where isRefusal: SyncRefusal(description, isDenial: status == 403)
    case .revoked: SyncRefusal(description, isRevocation: true)
    case .tooMany(_, let seconds): SyncRefusal(description, retryInSeconds: seconds)
    default: nil
    }
  }
}

/// Sends requests to a hub.
struct HubConnection: Sendable {
  private let url: String
  private let token: String?

  /// Lives as long as the process.
  ///
  /// A request fails at once: the agent decides when to try again.
  private static let client: HTTPClient = {
    var configuration = HTTPClient.Configuration.singletonConfiguration
    configuration.timeout.connect = .seconds(10)
    // A token or an invitation is for this hub alone.
    configuration.redirectConfiguration = .disallow
    configuration.connectionPool.retryConnectionEstablishment = false
    // Each agent of a process has a waiting request, which must not keep others from the hub.
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1 << 16
    // This adds certificates that the machine does not trust by itself, such as that of a hub at home.
    if let file = ProcessInfo.processInfo.environment["SSL_CERT_FILE"], !file.isEmpty {
      var tls = TLSConfiguration.makeClientConfiguration()
      tls.additionalTrustRoots = [.file(file)]
      configuration.tlsConfiguration = tls
    }
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }()

  private static let longestAnswer = 64 << 20
  private static let timeoutInSeconds = 60.0
  /// The longest time for which a hub can keep a device away.
  private static let longestRetryInSeconds = 3_600.0

  /// An answer that is not an error.
  struct Answer {
    let status: Int
    let bytes: [UInt8]

    /// Requires the hub's own answer to a change; a proxy would answer with a page.
    func requireDone() throws {
      guard status == 204 else { throw HubFault.unexpected }
    }

    /// The decoded body; if the status is an error, throws the hub's reason.
    func message<M: Decodable>(_ type: M.Type) throws -> M {
      guard let message = try? JSONDecoder().decode(type, from: Data(bytes)) else {
        throw status < 400 ? HubFault.unexpected : HubFault.status(status, HubConnection.reason(in: bytes))
      }
      return message
    }
  }

  init(at url: String, token: String?) {
    self.url = url.hasSuffix("/") ? url : url + "/"
    self.token = token
  }

  func get(_ path: String, timeoutInSeconds: Double = timeoutInSeconds) async throws -> Answer {
    try await send(.GET, path, [], timeoutInSeconds: timeoutInSeconds)
  }

  /// Sends a request.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - path: The path after the address of the hub.
  ///   - body: The body.
  ///   - statuses: The statuses of errors whose body is an answer, too.
  ///   - timeoutInSeconds: The time after which it fails without an answer.
  /// - Returns: The answer.
  /// - Throws: ``HubFault``; what the client throws.
  func send(
    _ method: HTTPMethod, _ path: String, _ body: [UInt8], allowing statuses: Set<Int> = [],
    timeoutInSeconds: Double = timeoutInSeconds
  ) async throws -> Answer {
    var request = HTTPClientRequest(url: url + path)
    request.method = method
    if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
    if method != .GET { request.body = .bytes(ByteBuffer(bytes: body)) }
    let (response, bytes) = try await Self.execute(request, timeoutInSeconds: timeoutInSeconds)
    let status = Int(response.status.code)
    guard (200..<300).contains(status) || statuses.contains(status) else {
      throw Self.fault(response, bytes)
    }
    return Answer(status: status, bytes: bytes)
  }

  /// Waits for a change of a space, with the token of a member of it.
  ///
  /// - Returns: The change; `nil` if there was none in time.
  func change(of space: String, after known: UInt64, seconds: Double) async throws -> UInt64? {
    let wait = HubMessage.Wait(spaces: [space: .init(change: known, token: token ?? "")], seconds: seconds)
    let body = Array(try JSONEncoder().encode(wait))
    let answer = try await send(.POST, "v1/wait", body, timeoutInSeconds: seconds + 10)
    return try answer.message(HubMessage.Changes.self).changes[space]
  }

  private static func execute(
    _ request: HTTPClientRequest, timeoutInSeconds: Double
  ) async throws -> (HTTPClientResponse, [UInt8]) {
    do {
      let response = try await client.execute(
        request, timeout: .milliseconds(Int64(timeoutInSeconds * 1_000)))
      return (response, Array((try await response.body.collect(upTo: longestAnswer)).readableBytesView))
    } catch let error as CancellationError {
      throw error
    } catch {
      try Task.checkCancellation()
      throw HubFault.unreachable(reason(error))
    }
  }

  /// The fault on the way to the hub, as a part of a sentence.
  private static func reason(_ error: any Error) -> String {
    switch error {
    case let error as IOError: return "\(Errno(rawValue: error.errnoCode))"
    case let error as NIOConnectionError:
      if let failure = error.connectionErrors.first { return reason(failure.error) }
      return "no address is known for the name \(error.host)"
    case let error as HTTPClientError where [.connectTimeout, .deadlineExceeded, .readTimeout].contains(error):
      return "the connection timed out"
    case let error as HTTPClientError where error == .remoteConnectionClosed: return "the connection was closed"
    case is NIOSSLError, is BoringSSLError: return "the connection is not secure: \(error)"
    default: return "\(error)"
    }
  }

  private static func fault(_ response: HTTPClientResponse, _ bytes: [UInt8]) -> HubFault {
    let seconds = response.headers.first(name: "Retry-After").flatMap(Double.init).flatMap { $0.isFinite ? $0 : nil }
    if response.status == .tooManyRequests, let seconds {
      return .tooMany(reason(in: bytes), retryInSeconds: min(max(seconds, 1), longestRetryInSeconds))
    }
    if response.headers.first(name: HubRefusal.fieldName) == HubRefusal.revoked { return .revoked }
    return .status(Int(response.status.code), reason(in: bytes))
  }

  private struct Failure: Decodable {
    struct Reason: Decodable { let message: String }
    let error: Reason
  }

  fileprivate static func reason(in bytes: [UInt8]) -> String {
    (try? JSONDecoder().decode(Failure.self, from: Data(bytes)))?.error.message ?? ""
  }
}
