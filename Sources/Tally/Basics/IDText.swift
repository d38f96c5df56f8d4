import Foundation

/// A UUID that is coded in lower case, as in documents and in the output of commands; Foundation's own is in upper case.
struct IDText: TextCodable {
  let id: UUID

  init(_ id: UUID) {
    self.id = id
  }

  var text: String { id.uuidString.lowercased() }

  init(text: String) throws(TallyError) {
    guard let id = UUID(text: Array(text.utf8)) else { throw .invalidToken("UUID") }
    self.id = id
  }
}
