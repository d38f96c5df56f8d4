import HTTPTypes
import Hummingbird
import Tally

/// A value as JSON, with the headers that belong to a change.
struct Answer<Value: Encodable & Sendable>: ResponseGenerator {
  let value: Value
  var status = HTTPResponse.Status.ok
  /// The address of a new object.
  var location: String?
  /// The write that made the change; `nil` if nothing has changed.
  var change: ChangeID?

  func response(from request: Request, context: some RequestContext) throws -> Response {
    var response = try context.responseEncoder.encode(value, from: request, context: context)
    response.status = status
    response.headers[.location] = location
    response.headers["Tally-Change"] = change?.text
    return response
  }
}

extension HTTPFields {
  /// A field that HTTP itself does not know.
  subscript(name: String) -> String? {
    get { HTTPField.Name(name).flatMap { self[$0] } }
    set { if let name = HTTPField.Name(name) { self[name] = newValue } }
  }
}
