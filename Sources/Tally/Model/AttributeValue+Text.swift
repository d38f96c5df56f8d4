import Foundation

extension AttributeValue {
  /// The value as one text, which reading the attribute again with `--set` understands, except for bytes.
  package var text: String {
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
