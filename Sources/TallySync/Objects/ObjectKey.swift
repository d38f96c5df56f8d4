import Foundation

/// The identity of a task or a list.
struct ObjectKey: Hashable, Sendable {
  let isList: Bool
  let id: UUID

  /// The stored form: the kind, then the id.
  var bytes: [UInt8] { [isList ? 2 : 1] + ReplicaID(id).bytes }

  init(isList: Bool, id: UUID) {
    (self.isList, self.id) = (isList, id)
  }

  /// Reads the stored form.
  init(bytes: some Collection<UInt8>) throws(CodingFault) {
    guard bytes.count == 17, let kind = bytes.first, let id = UUID(bytes: Array(bytes.dropFirst())) else {
      throw .impossibleValue
    }
    guard kind == 1 || kind == 2 else { throw .impossibleValue }
    self.init(isList: kind == 2, id: id)
  }
}

extension UUID {
  /// The id of sixteen bytes; `nil` for another number of them.
  init?(bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    let low = bytes[8...]
    self.init(
      uuid: (
        bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
        low[8], low[9], low[10], low[11], low[12], low[13], low[14], low[15]
      ))
  }
}
