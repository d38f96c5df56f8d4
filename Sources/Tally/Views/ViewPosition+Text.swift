import Foundation

extension ViewPosition: TextCodable {
  /// The position as a token for an address, in the letters of base 64 for addresses (RFC 4648, section 5).
  ///
  /// It names the view and the place of one task in it, and no text of the user's. It is valid in every process, for as
  /// long as the store's format keeps its order of tasks.
  public var text: String {
    var bytes = Array(view.text.utf8) + [0, UInt8(key.prefix.encodedByteCount)]
    bytes += key.bytes.bytes.bytes(from: 0)
    return Data(bytes).base64EncodedString()
      .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  /// Reads a token; throws `invalidToken` for any other text.
  public init(text: String) throws(TallyError) {
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    let base64 = text.replacing("-", with: "+").replacing("_", with: "/") + padding
    guard let bytes = Data(base64Encoded: base64).map(Array.init), let end = bytes.firstIndex(of: 0),
      end + 2 < bytes.count, let view = String(validating: bytes[..<end], as: UTF8.self),
      let key = ViewKey(bytes: bytes[(end + 2)...], prefixByteCount: Int(bytes[end + 1]))
    else { throw .invalidToken("position of a view") }
    self.init(view: try TaskView(text: view), key: key)
  }
}
