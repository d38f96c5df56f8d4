internal import Foundation
internal import Tally

/// Numbers of attributes: Taskwarrior writes those of attributes that it does not know as texts with six decimals.
enum TaskwarriorNumber {
  /// Whether six decimals say a number in full.
  static func isKept(_ number: Double) -> Bool { Double(text(number)) == number && abs(number) < 1e9 }

  /// The number in a text of Taskwarrior's; `nil` for any other text.
  static func attribute(_ text: String) -> AttributeValue? {
    guard let number = Double(text), number.isFinite, abs(number) < 1e9, self.text(number) == text else { return nil }
    return attribute(number)
  }

  /// A number, which is whole if it has no decimals.
  static func attribute(_ number: Double) -> AttributeValue {
    Int64(exactly: number).map { .integer($0) } ?? .real(number)
  }

  private static func text(_ number: Double) -> String { String(format: "%.6f", number) }
}
