import Foundation
import Hummingbird

extension Request {
  /// The body, from JSON; throws `DecodingError`, which keeps the cause that Hummingbird's own `decode` drops.
  func body<Value: Decodable>(as type: Value.Type, _ context: some RequestContext) async throws -> Value {
    try await context.requestDecoder.decode(type, from: self, context: context)
  }
}

extension RequestContext {
  /// The id in the path.
  func id() throws -> UUID {
    guard let id = UUID(uuidString: try parameters.require("id")) else { throw HTTPError(.badRequest) }
    return id
  }
}
