import Foundation

/// The requests of one sender, each sent when the one before was answered.
protocol LoadRequests: AnyObject {
  /// The whole request to send next.
  var request: [UInt8] { get }
  /// The body that its answer must have; its status must be 200.
  var expectedBody: [UInt8] { get }

  /// Prepares the next request.
  func advance()
}

/// A connection to a hub on which one request is under way at a time.
struct LoadConnection {
  let socket: Int32
  private let senders: [any LoadRequests]
  private var turn = 0
  private var input = [UInt8](repeating: 0, count: 64 << 10)
  private var inputCount = 0
  private var sentAt = ContinuousClock.now

  private static let headEnd = Array("\r\n\r\n".utf8)
  private static let statusOK = Array("HTTP/1.1 200 ".utf8)
  private static let lengthField = Array("Content-Length: ".utf8)

  /// Connects to a port of this machine, for some senders that take turns.
  init(port: UInt16, senders: [any LoadRequests]) throws {
    self.senders = senders
    #if os(Linux)
      let stream = Int32(SOCK_STREAM.rawValue)
    #else
      let stream = SOCK_STREAM
    #endif
    socket = Foundation.socket(AF_INET, stream, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeBytes(of: address) { bytes in
      bytes.baseAddress.map { connect(socket, $0.assumingMemoryBound(to: sockaddr.self), size) }
    }
    guard socket >= 0, result == 0 else { throw LoadFailure("cannot connect: \(String(cString: strerror(errno)))") }
    var isOn: Int32 = 1
    setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
  }

  func close() { _ = Foundation.close(socket) }

  /// Sends the next request.
  mutating func send() throws {
    sentAt = .now
    let request = senders[turn].request
    var sent = 0
    while sent < request.count {
      let count = request.withUnsafeBytes {
        Foundation.send(socket, $0.baseAddress.map { $0 + sent }, $0.count - sent, 0)
      }
      guard count > 0 else { throw LoadFailure("the hub takes no more: \(String(cString: strerror(errno)))") }
      sent += count
    }
  }

  /// Reads the bytes that have arrived.
  ///
  /// - Returns: How long the answer took; `nil` if it is not whole.
  /// - Throws: `LoadFailure` if it is not the expected one.
  mutating func receive() throws -> Duration? {
    let count = input.withUnsafeMutableBytes { [socket, inputCount] bytes in
      recv(socket, bytes.baseAddress.map { $0 + inputCount }, bytes.count - inputCount, 0)
    }
    guard count > 0 else { throw LoadFailure("the hub ends a connection") }
    inputCount += count
    guard let body = try wholeBody() else { return nil }
    guard body.upperBound == inputCount, input[body].elementsEqual(senders[turn].expectedBody) else {
      throw LoadFailure("unexpected answer: \(String(decoding: input[..<inputCount], as: UTF8.self))")
    }
    // The time is taken before the next request is prepared, which is the client's own work.
    let duration = ContinuousClock.now - sentAt
    inputCount = 0
    senders[turn].advance()
    turn = (turn + 1) % senders.count
    return duration
  }

  /// The range of the body; `nil` if the answer is not whole.
  private func wholeBody() throws -> Range<Int>? {
    guard let headEnd = offset(of: Self.headEnd, before: inputCount) else { return nil }
    guard input.starts(with: Self.statusOK), let field = offset(of: Self.lengthField, before: headEnd) else {
      throw LoadFailure("unexpected answer: \(String(decoding: input[..<inputCount], as: UTF8.self))")
    }
    let digits = input[(field + Self.lengthField.count)...].prefix { (48...57).contains($0) }
    let start = headEnd + Self.headEnd.count
    let end = start + digits.reduce(0) { $0 * 10 + Int($1 - 48) }
    return end <= inputCount ? start..<end : nil
  }

  private func offset(of pattern: [UInt8], before end: Int) -> Int? {
    var start = 0
    while start + pattern.count <= end {
      var length = 0
      while length < pattern.count, input[start + length] == pattern[length] { length += 1 }
      if length == pattern.count { return start }
      start += 1
    }
    return nil
  }
}

struct LoadFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
