import Foundation
import LMDB
import TallyEngine

/// The stored form of a set of ids: 16 bytes for each, ascending.
extension TaskIDSet {

  @_lifetime(output: copy output)
  func store(into output: inout OutputRawSpan) {
    for id in self { output.append(id) }
  }

  init(stored bytes: RawSpan) throws(LMDBError) {
    guard bytes.byteCount % 16 == 0, bytes.byteCount > 0 else {
      throw .undecodable("the ids of a task record have \(bytes.byteCount) bytes")
    }
    var ids: [UUID] = []
    for offset in stride(from: 0, to: bytes.byteCount, by: 16) { ids.append(bytes.load(idAt: offset)) }
    guard zip(ids, ids.dropFirst()).allSatisfy({ $0.words < $1.words }) else {
      throw .undecodable("the ids of a task record do not ascend")
    }
    self.init(ids)
  }
}
