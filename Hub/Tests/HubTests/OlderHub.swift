import AsyncHTTPClient
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1

/// Runs a body with a hub that knows nothing of the hashes of tokens, of roles and of recovery codes: it passes requests to
/// another one and answers back without them.
func withOlderHub(before hub: RunningHub, _ body: (_ url: String) async throws -> Void) async throws {
  let router = Router(context: BasicRequestContext.self)
  for method in [HTTPRequest.Method.get, .post, .put, .delete] {
    router.on("**", method: method) { request, _ in try await answer(of: hub, to: request) }
  }
  try await withRouter(router, body)
}

private func answer(of hub: RunningHub, to request: Request) async throws -> Response {
  var body = Data(try await request.body.collect(upTo: 32 << 20).readableBytesView)
  if var message = try? JSONSerialization.jsonObject(with: body) as? [String: Any],
    message.removeValue(forKey: "tokenHash") != nil
  {
    body = try JSONSerialization.data(withJSONObject: message)
  }
  var passed = HTTPClientRequest(url: hub.url + request.uri.description)
  passed.method = .init(rawValue: request.method.rawValue)
  if let token = request.headers[.authorization] { passed.headers.add(name: "Authorization", value: token) }
  passed.body = .bytes(ByteBuffer(bytes: body))
  let answer = try await HTTPClient.shared.execute(passed, timeout: .seconds(60))
  var bytes = try await answer.body.collect(upTo: 32 << 20)
  if var message = try? JSONSerialization.jsonObject(with: Data(bytes.readableBytesView)) as? [String: Any],
    message.removeValue(forKey: "role") != nil, message["heads"] != nil
  {
    message.removeValue(forKey: "recoveries")
    bytes = ByteBuffer(bytes: try JSONSerialization.data(withJSONObject: message))
  }
  var headers = HTTPFields()
  for (name, value) in answer.headers where name.lowercased() != "content-length" {
    if let name = HTTPField.Name(name) { headers[name] = value }
  }
  return Response(status: .init(code: Int(answer.status.code)), headers: headers, body: .init(byteBuffer: bytes))
}
