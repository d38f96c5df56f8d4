import Foundation
import Tally
import Testing

@testable import WebService

/// A server that is asked to stop.
struct StopTests {
  /// Follows a stream until the server ends it; the result has all of it.
  private func follow(
    _ web: RunningWeb, during body: @escaping @Sendable () async throws -> Void
  ) async throws -> String {
    try await Connection.run(to: web.port) { connection in
      try await connection.write(
        "GET /events?view=today HTTP/1.1\r\nHost: \(web.host)\r\nCookie: \(web.cookie)\r\n\r\n")
      let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
      let meanwhile = Task {
        for await _ in begun { break }
        try await body()
      }
      let text = await connection.read { text in
        if text.contains("reset") { continuation.finish() }
        return false
      }
      try await meanwhile.value
      return text
    }
  }

  @Test(.timeLimit(.minutes(1))) func requestsThatHaveBegunAreAnsweredAndStreamsEnd() async throws {
    try await withWeb { web in
      let form = "text=Begun&place=today"
      let stream = try await follow(web) {
        let answer = try await Connection.run(to: web.port) { connection in
          try await connection.write(
            "POST /capture HTTP/1.1\r\nHost: \(web.host)\r\nCookie: \(web.cookie)\r\nOrigin: http://\(web.host)\r\n"
              + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(form.utf8.count)\r\n\r\ntext=")
          // The server has begun to read: it answers another request on another connection only after this one came in.
          _ = try await web.get("/today")
          await web.stop()
          try await connection.write(String(form.dropFirst("text=".count)))
          return Exchange(await connection.readToEnd())
        }
        #expect(answer.status == 303)
      }
      // The last chunk: the stream has ended, it was not broken off.
      #expect(stream.contains("event: reset") && stream.hasSuffix("\r\n0\r\n\r\n"), "\(stream.suffix(100))")
      #expect(try web.store.read { try $0.view(.today).tasks.map(\.title) } == ["Begun"])
    }
  }

  @Test(.timeLimit(.minutes(2))) func importIsCutOffAndLeavesNothing() async throws {
    let lines = (0..<200_000).map { "{\"text\":\"task number \($0)\"}\n" }.joined()
    try await withWeb { web in
      let answer = try await Connection.run(to: web.port) { connection in
        let head = [
          "POST /import?format=ndjson HTTP/1.1", "Host: \(web.host)", "Cookie: \(web.cookie)",
          "Origin: http://\(web.host)", "Content-Length: \(lines.utf8.count)",
        ]
        try await connection.write(head.joined(separator: "\r\n") + "\r\n\r\n" + lines)
        let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
        let stop = Task {
          for await _ in begun { break }
          await web.stop()
        }
        let text = await connection.read { text in
          if text.contains("progress") { continuation.finish() }
          return false
        }
        await stop.value
        return text
      }
      #expect(answer.contains("cut off") && answer.hasSuffix("\r\n0\r\n\r\n"), "\(answer.suffix(300))")
      #expect(try web.store.read { try $0.taskCount } == 0)
    }
  }
}
