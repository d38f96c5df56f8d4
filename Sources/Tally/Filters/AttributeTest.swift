import Foundation

/// A comparison of an attribute with a value, which is read as each kind that an attribute may have.
struct AttributeTest: Hashable {
  private let comparison: FilterOperator
  private let text: String
  private let pattern: FoldedPattern
  private let date: ResolvedDate?
  private let timeZone: TimeZone

  init(_ comparison: FilterOperator, _ text: String, against reference: DateReference) {
    self.comparison = comparison
    self.text = text
    var folder = TextFolder()
    pattern = FoldedPattern(text, with: &folder)
    date = (try? DateExpression(text)).flatMap { try? $0.resolved(against: reference) }
    timeZone = reference.timeZone
  }

  func holds(_ value: AttributeValue, _ folder: inout TextFolder) -> Bool {
    switch value {
    case .text(let value):
      return comparison == .contains ? pattern.isFound(in: value, with: &folder) : comparison.holds(value, text)
    case .integer(let value):
      if let number = Int64(text) { return comparison.holds(value, number) }
      return Double(text).map { comparison.holds(Double(value), $0) } ?? false
    case .real(let value): return Double(text).map { comparison.holds(value, $0) } ?? false
    case .flag(let value): return comparison == .equal && text.lowercased() == String(value)
    case .instant(let value):
      return date.map { InstantTest(comparison, $0, in: timeZone).holds(value.microsecondsSince1970) } ?? false
    case .day(let value):
      return date.map { DayTest(due: comparison, $0, in: timeZone).holds(value.dayNumber) } ?? false
    case .bytes: return false
    }
  }
}
