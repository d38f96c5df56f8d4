import ArgumentParser
import Crypto
import Foundation
import HubSamples
import TallySync

/// Devices append to their streams, one in each space.
///
/// Standard input has a line for each space: its id, a blank, and the token of a member.
struct AppendLoad: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "append")

  @OptionGroup var options: LoadOptions
  @Option(help: "Segments in a request.") var batch = 1
  @Option(help: "Bytes of the body of a segment.") var body = 256

  func run() throws {
    var devices: [AppendingDevice] = []
    while let line = readLine() {
      let words = line.split(separator: " ").map(String.init)
      guard words.count == 2, let space = SpaceID(words[0]) else {
        throw LoadFailure("'\(line)' is not a space and a token")
      }
      devices.append(AppendingDevice(in: space, token: words[1], batch: batch, bodyByteCount: body))
    }
    try options.run(devices)
  }
}

/// A device that appends to its stream, the only one of its space.
private final class AppendingDevice: LoadRequests {
  private(set) var request: [UInt8]
  private(set) var expectedBody: [UInt8] = []
  /// The offsets of the segments in the request.
  private let starts: [Int]
  private let segmentByteCount: Int
  private var number: UInt64 = 0
  private var previous = [UInt8](repeating: 0, count: 32)

  /// The offsets of the number and of the previous segment's hash in a segment.
  private static let (numberOffset, hashOffset) = (44, 52)

  init(in space: SpaceID, token: String, batch: Int, bodyByteCount: Int) {
    var stream = SealedStream(in: space)
    let segments = stream.next(batch, bodyByteCount: bodyByteCount)
    segmentByteCount = segments[0].count
    let head = """
      POST /v1/spaces/\(space)/replicas/\(stream.replica)/segments HTTP/1.1\r
      Host: 127.0.0.1\r
      Authorization: Bearer \(token)\r
      Content-Length: \(batch * segmentByteCount)\r
      \r\n
      """
    request = Array(head.utf8)
    starts = segments.indices.map { [count = request.count, segmentByteCount] in count + $0 * segmentByteCount }
    request += segments.joined()
    advance()
  }

  /// Changes the segments to the next ones of the stream; the sealed bytes stay, since nobody can open them anyway.
  func advance() {
    var answers: [String] = []
    for start in starts {
      number += 1
      for index in 0..<8 {
        request[start + Self.numberOffset + index] = UInt8(truncatingIfNeeded: number >> (56 - 8 * index))
      }
      request.replaceSubrange((start + Self.hashOffset)..<(start + Self.hashOffset + 32), with: previous)
      previous = request.withUnsafeBytes { bytes in
        Array(SHA256.hash(data: UnsafeRawBufferPointer(rebasing: bytes[start..<(start + segmentByteCount)])))
      }
      // Its device is alone in the space, so the position is the number.
      answers.append(#"{"answer":"stored","position":\#(number)}"#)
    }
    expectedBody = Array(#"{"answers":[\#(answers.joined(separator: ","))]}"#.utf8)
  }
}
