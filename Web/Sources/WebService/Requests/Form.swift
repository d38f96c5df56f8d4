import Foundation
import Hummingbird
import NIOCore
import Tally

/// The fields of a form, in the order in which they were sent; a name may occur several times.
struct Form: Sendable {
  let fields: [(name: String, value: String)]

  /// A form without fields.
  init() { fields = [] }

  /// Reads `application/x-www-form-urlencoded`, of the URL standard.
  ///
  /// - Throws: `HTTPError` for anything that is not UTF-8 or not percent-encoded correctly.
  init(_ text: some StringProtocol) throws {
    fields = try text.split(separator: "&").map { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (try Self.decoded(parts[0]), parts.count == 2 ? try Self.decoded(parts[1]) : "")
    }
  }

  private static func decoded(_ text: some StringProtocol) throws -> String {
    let spaced = String(text.map { $0 == "+" ? " " : $0 })
    guard let decoded = spaced.removingPercentEncoding else {
      throw HTTPError(.badRequest, message: "The form is not encoded correctly.")
    }
    return decoded
  }

  /// The last value of a name.
  subscript(name: String) -> String? { fields.last { $0.name == name }?.value }

  /// All values of a name.
  func all(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

  /// The value of a name; `nil` if it is missing or blank.
  func text(_ name: String) -> String? {
    self[name].flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0.withUnixLineBreaks }
  }

  /// All values of a name that are ids.
  func ids(_ name: String = "id") throws -> [UUID] {
    try all(name).map { try UUID(form: $0) }
  }

  /// The value of a name as an id; `nil` if it is missing or empty.
  func id(_ name: String) throws -> UUID? {
    try text(name).map { try UUID(form: $0) }
  }

  /// The screen to go back to: an address of this server, whatever the form says.
  var back: String {
    guard let path = self["back"], path.hasPrefix("/"), !path.hasPrefix("//"), !path.contains("\\"),
      path.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value < 0x7F })
    else { return "/today" }
    return path
  }
}

extension UUID {
  /// The id in a form or an address.
  init(form text: String) throws {
    guard let id = UUID(uuidString: text) else { throw HTTPError(.badRequest, message: "An id is not a UUID.") }
    self = id
  }
}

extension Request {
  /// The greatest form: a title of a million characters, each sent as three bytes, fits.
  static let longestFormInBytes = 12 << 20

  /// The fields of the body.
  func form(ofAtMost limit: Int = longestFormInBytes) async throws -> Form {
    guard hasForm else { throw HTTPError(.unsupportedMediaType, message: "Send a form.") }
    guard let text = String(validating: try await formBytes(ofAtMost: limit).readableBytesView, as: UTF8.self) else {
      throw HTTPError(.badRequest, message: "The form is not UTF-8.")
    }
    return try Form(text)
  }

  /// The body of a form.
  func formBytes(ofAtMost limit: Int) async throws -> ByteBuffer {
    let isTooLarge = HTTPError(.contentTooLarge, headers: [.connection: "close"], message: "The form is too large.")
    if let length = headers[.contentLength].flatMap(Int.init), length > limit { throw isTooLarge }
    var bytes = ByteBuffer()
    for try await buffer in body {
      bytes.writeImmutableBuffer(buffer)
      guard bytes.readableBytes <= limit else { throw isTooLarge }
    }
    return bytes
  }

  /// The fields of the query.
  func query() throws -> Form { try Form(uri.query ?? "") }

  /// Whether the request comes from a script, which shows the answer itself.
  var wantsJSON: Bool { headers[.accept]?.hasPrefix("application/json") == true }
}
