internal import Foundation
internal import Tally

/// Gives ids to records of formats that have none: they follow from the contents, and from an ordinal for equal ones.
///
/// So importing a file twice changes nothing. A record that is edited in the file is another one, and so is an equal one in
/// a file of another name.
struct ContentIdentity {
  private let format: String
  private var counts: [UUID: Int] = [:]

  init(_ format: String, _ context: FormatContext) {
    self.format = [format, context.options.source].compactMap(\.self).joined(separator: "\u{1F}")
  }

  /// Gives a task an id, unless it has one.
  mutating func identify(_ document: inout TaskDocument, by contents: String...) {
    guard !document.has(.id) else { return }
    let key = UUID(namedBy: format, contents.joined(separator: "\u{1F}"))
    let ordinal = counts[key, default: 0]
    counts[key] = ordinal + 1
    document[.id] = .id(ordinal == 0 ? key : UUID(namedBy: key.uuidString, "\(ordinal)"))
    document.isIdentifiedByContent = true
    if document.latestCompletion == nil, document.task.isCompleted { document.latestCompletion = .latest }
  }
}
