import Tally

extension [String: AttributeValue] {
  /// The attributes as one text, in the order of their names.
  var plainText: String {
    sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.text)" }.joined(separator: ",")
  }
}
