import Foundation
import Hummingbird
import NIOCore
import NIOHTTPTypes
import Synchronization

/// Limits the bytes of requests and answers that are in memory at a time, for each member and in total.
///
/// A request for which there is no room waits for up to ten seconds until others are done. A client that takes nothing of its
/// answer for a minute is cut off, and earlier if others wait for room.
final class BytesInFlight: Sendable {
  private struct Flow {
    let channel: any Channel
    /// The member that sent the request; `nil` for a stranger.
    var member: UUID?
    /// The bytes held for the current request: its body, and what is read to answer it.
    var held = 0
    /// The bytes of answers that the connection has not taken yet.
    var written = 0
    /// The part of the written bytes that has not reached the connection's thread yet.
    var produced = 0
    /// Whether the rest of the body is awaited.
    var isReceiving = false
    var progressAt: ContinuousClock.Instant

    var count: Int { held + written }
  }

  private struct Waiter {
    let flow: ObjectIdentifier
    let count: Int
    /// For a page of an answer: how many earlier bytes the connection may still have to take.
    let mostWritten: Int
    let deadline: ContinuousClock.Instant
    let continuation: CheckedContinuation<Bool, Never>
  }

  private struct State {
    var flows: [ObjectIdentifier: Flow] = [:]
    var members: [UUID: Int] = [:]
    var inAll = 0
    /// The waiters, in the order of their arrival.
    var waiters: [Waiter] = []

    mutating func add(_ count: Int, to id: ObjectIdentifier) {
      inAll += count
      guard let member = flows[id]?.member else { return }
      members[member, default: 0] += count
      if members[member] == 0 { members[member] = nil }
    }
  }

  private let ofMember: Int
  private let limit: Int
  private let state = Mutex(State())

  private static let patience = Duration.seconds(10)
  private static let longestSilence = Duration.seconds(60)
  private static let silenceWhileOthersWait = Duration.seconds(5)

  /// Takes the limits in bytes; a request may exceed them if it is the only one.
  init(ofMember: Int, inAll: Int) { (self.ofMember, limit) = (ofMember, inAll) }

  /// The number of bytes in memory now.
  var count: Int { state.withLock { $0.inAll } }

  // MARK: Connections

  func attach(_ channel: any Channel) {
    state.withLock { $0.flows[ObjectIdentifier(channel)] = Flow(channel: channel, progressAt: .now) }
  }

  func detach(_ channel: any Channel) {
    let id = ObjectIdentifier(channel)
    let waiters = state.withLock { state in
      state.add(-(state.flows[id]?.count ?? 0), to: id)
      state.flows[id] = nil
      let own = state.waiters.filter { $0.flow == id }
      if !own.isEmpty { state.waiters.removeAll { $0.flow == id } }
      return own
    }
    for waiter in waiters { waiter.continuation.resume(returning: false) }
    wake()
  }

  /// Notes which member sent the request of a connection.
  func assign(_ channel: any Channel, to member: UUID) {
    let id = ObjectIdentifier(channel)
    state.withLock { state in
      guard let flow = state.flows[id], flow.member != member else { return }
      state.add(-flow.count, to: id)
      state.flows[id]?.member = member
      state.add(flow.count, to: id)
    }
  }

  /// Counts a part of an answer that was given to a connection.
  func noteWritten(_ count: Int, to id: ObjectIdentifier) {
    state.withLock { state in
      guard let flow = state.flows[id] else { return }
      let known = min(count, flow.produced)
      state.flows[id]?.produced -= known
      if flow.written == 0 { state.flows[id]?.progressAt = .now }
      state.flows[id]?.written += count - known
      state.add(count - known, to: id)
    }
  }

  /// Counts a part of an answer that is about to be given to a connection, whose thread may be slower than the writer.
  func noteProduced(_ count: Int, for channel: any Channel) {
    let id = ObjectIdentifier(channel)
    state.withLock { state in
      guard let flow = state.flows[id] else { return }
      if flow.written == 0 { state.flows[id]?.progressAt = .now }
      state.flows[id]?.written += count
      state.flows[id]?.produced += count
      state.add(count, to: id)
    }
  }

  /// Counts a part of an answer that a connection has taken.
  func noteTaken(_ count: Int, by id: ObjectIdentifier) {
    state.withLock { state in
      guard let flow = state.flows[id] else { return }
      let taken = min(count, flow.written)
      state.flows[id]?.written -= taken
      state.flows[id]?.progressAt = .now
      state.add(-taken, to: id)
    }
    wake()
  }

  // MARK: Requests

  /// Holds room for bytes of the request of a connection, until ``endRequest(of:)`` or ``release(_:of:)``.
  ///
  /// - Parameters:
  ///   - count: The number of bytes.
  ///   - channel: The connection.
  ///   - most: For a page of an answer: the most earlier bytes that the connection may not have taken yet.
  /// - Throws: `HTTPError` 429 if this member, or the hub as a whole, has no room for ten seconds, or for a page for a minute.
  func hold(_ count: Int, for channel: any Channel, behind most: Int? = nil) async throws {
    let id = ObjectIdentifier(channel)
    let patience = most == nil ? Self.patience : Self.longestSilence
    let isHeld = await withCheckedContinuation { continuation in
      let answer = state.withLock { state -> Bool? in
        guard state.flows[id] != nil else { return true }
        if take(count, for: id, behind: most ?? .max, in: &state) { return true }
        state.waiters.append(
          Waiter(
            flow: id, count: count, mostWritten: most ?? .max, deadline: .now + patience, continuation: continuation))
        return nil
      }
      if let answer { continuation.resume(returning: answer) }
    }
    guard isHeld else {
      throw HTTPError(.tooManyRequests, headers: [.retryAfter: "5"], message: "The hub is too busy. Try again later.")
    }
  }

  private func take(_ count: Int, for id: ObjectIdentifier, behind most: Int, in state: inout State) -> Bool {
    guard let flow = state.flows[id], flow.written <= most else { return false }
    let others = flow.member.map { (state.members[$0] ?? 0) - flow.count } ?? 0
    guard others <= 0 || others + flow.count + count <= ofMember,
      state.inAll == flow.count || state.inAll + count <= limit
    else { return false }
    state.flows[id]?.held += count
    state.add(count, to: id)
    return true
  }

  /// Notes that a body begins to arrive, or has arrived.
  func noteReceiving(_ isReceiving: Bool, by channel: any Channel) {
    state.withLock { state in
      state.flows[ObjectIdentifier(channel)]?.isReceiving = isReceiving
      state.flows[ObjectIdentifier(channel)]?.progressAt = .now
    }
  }

  func release(_ count: Int, of channel: any Channel) {
    let id = ObjectIdentifier(channel)
    state.withLock { state in
      guard let flow = state.flows[id] else { return }
      let freed = min(count, flow.held)
      state.flows[id]?.held -= freed
      state.add(-freed, to: id)
    }
    wake()
  }

  /// Releases everything that the request of a connection holds.
  func endRequest(of channel: any Channel) { release(.max, of: channel) }

  /// Resumes the waiters for whom there is room now.
  private func wake() {
    let granted = state.withLock { state -> [Waiter] in
      guard !state.waiters.isEmpty else { return [] }
      var (granted, rest) = ([Waiter](), [Waiter]())
      for waiter in state.waiters {
        if take(waiter.count, for: waiter.flow, behind: waiter.mostWritten, in: &state) {
          granted.append(waiter)
        } else {
          rest.append(waiter)
        }
      }
      state.waiters = rest
      return granted
    }
    for waiter in granted { waiter.continuation.resume(returning: true) }
  }

  // MARK: Ends

  /// Closes the connections on which a revoked member still receives an answer.
  func end(_ member: UUID) {
    let channels = state.withLock { state in
      state.flows.values.filter { $0.member == member && $0.count > 0 }.map(\.channel)
    }
    for channel in channels { channel.close(promise: nil) }
  }

  /// Ends waits whose time is over, and closes connections whose client takes or sends nothing.
  ///
  /// It is called a few times a second.
  func endOverdue(at now: ContinuousClock.Instant = .now) {
    let (waiters, channels) = state.withLock { state in
      let overdue = state.waiters.filter { $0.deadline <= now }
      if !overdue.isEmpty { state.waiters.removeAll { $0.deadline <= now } }
      // A waiter for which only its own member lacks room keeps nobody else waiting.
      let isFull = state.waiters.contains { state.inAll + $0.count > limit && $0.mostWritten == .max }
      let silence = isFull ? Self.silenceWhileOthersWait : Self.longestSilence
      // A client is not silent if its body is not read because its request waits for room.
      let waiting = Set(state.waiters.map(\.flow))
      let silent = state.flows.filter { id, flow in
        (flow.written > 0 || flow.isReceiving && !waiting.contains(id)) && flow.progressAt + silence <= now
      }.values
      return (overdue, silent.map(\.channel))
    }
    for waiter in waiters { waiter.continuation.resume(returning: false) }
    for channel in channels { channel.close(promise: nil) }
  }
}

/// Counts the bytes of answers that a connection has not taken yet.
final class FlowHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private let bytes: BytesInFlight

  init(_ bytes: BytesInFlight) { self.bytes = bytes }

  func handlerAdded(context: ChannelHandlerContext) { bytes.attach(context.channel) }

  func handlerRemoved(context: ChannelHandlerContext) { bytes.detach(context.channel) }

  func channelInactive(context: ChannelHandlerContext) {
    bytes.detach(context.channel)
    context.fireChannelInactive()
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard case .body(let buffer) = unwrapOutboundIn(data), buffer.readableBytes > 0 else {
      context.write(data, promise: promise)
      return
    }
    let (bytes, count, id) = (bytes, buffer.readableBytes, ObjectIdentifier(context.channel))
    bytes.noteWritten(count, to: id)
    let written = promise ?? context.eventLoop.makePromise()
    written.futureResult.whenComplete { _ in bytes.noteTaken(count, by: id) }
    context.write(data, promise: written)
  }
}

/// Releases what a request holds when it has been answered.
struct FlowMiddleware: RouterMiddleware {
  let bytes: BytesInFlight

  func handle(
    _ request: Request, context: HubContext, next: (Request, HubContext) async throws -> Response
  ) async throws -> Response {
    defer { bytes.endRequest(of: context.channel) }
    return try await next(request, context)
  }
}
