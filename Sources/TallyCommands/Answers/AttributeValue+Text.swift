import Foundation
import Tally

extension AttributeValue {
  /// The value as one text, which reading the attribute again with `--set` understands, except for bytes.
  var text: String {
    switch self {
    case .text(let text): text
    case .integer(let number): String(number)
    case .real(let number): String(number)
    case .flag(let isTrue): String(isTrue)
    case .instant(let instant): instant.iso8601
    case .day(let day): day.iso8601
    case .bytes(let bytes): Data(bytes).base64EncodedString()
    }
  }
}

extension [String: AttributeValue] {
  /// The attributes as one text, in the order of their names.
  var plainText: String {
    sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.text)" }.joined(separator: ",")
  }
}
