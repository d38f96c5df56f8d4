import Foundation
import LMDB
import TallyEngine

/// The key of a record: the 16 bytes of its identifier.
struct IDKey: IndexKey {
  static let width = 16
  let id: UUID

  init(_ id: UUID) {
    self.id = id
  }

  init(fields bytes: RawSpan) {
    id = bytes.load(idAt: 0)
  }

  @_lifetime(output: copy output)
  func encode(into output: inout OutputRawSpan) {
    output.append(id)
  }
}
