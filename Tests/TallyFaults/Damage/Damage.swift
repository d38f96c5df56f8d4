import TallyTestSupport

/// A kind of damage to a file.
enum Damage: String, CaseIterable {
  case bits, headBits, zeroedSector, zeroedPage, randomPage, swappedPages, doubledPage, cutOff, foreignFile
  case foreignLock, emptyLock

  private static let pageSizeInBytes = 4_096
  private static let sectorSizeInBytes = 512

  /// Damages the bytes of a data file; damages of a lock file leave them unchanged.
  func apply(to file: inout [UInt8], using generator: inout SeededGenerator) {
    let (page, pages) = (Self.pageSizeInBytes, file.count / Self.pageSizeInBytes)
    let start = page * Int.random(in: 0..<pages, using: &generator)
    let other = page * Int.random(in: 0..<pages, using: &generator)
    switch self {
    case .bits: flip(in: file.indices, of: &file, using: &generator)
    case .headBits: flip(in: 0..<2 * page, of: &file, using: &generator)
    case .zeroedSector:
      let first = Self.sectorSizeInBytes * Int.random(in: 0..<file.count / Self.sectorSizeInBytes, using: &generator)
      replace(first..<first + Self.sectorSizeInBytes, of: &file) { _ in 0 }
    case .zeroedPage: replace(start..<start + page, of: &file) { _ in 0 }
    case .randomPage: replace(start..<start + page, of: &file) { _ in UInt8.random(in: 0...255, using: &generator) }
    case .swappedPages:
      let kept = file
      replace(start..<start + page, of: &file) { kept[other + $0] }
      replace(other..<other + page, of: &file) { kept[start + $0] }
    case .doubledPage:
      let kept = file
      replace(start..<start + page, of: &file) { kept[other + $0] }
    case .cutOff: file.removeLast(Int.random(in: 1...file.count, using: &generator))
    case .foreignFile:
      file = (0..<Int.random(in: 0...20_000, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator)
      }
    case .foreignLock, .emptyLock: break
    }
  }

  /// The lock file beside it; `nil` for none.
  func lock(using generator: inout SeededGenerator) -> [UInt8]? {
    switch self {
    case .foreignLock: (0..<8_192).map { _ in UInt8.random(in: 0...255, using: &generator) }
    case .emptyLock: []
    default: nil
    }
  }

  private func flip(in range: Range<Int>, of file: inout [UInt8], using generator: inout SeededGenerator) {
    for _ in 0..<Int.random(in: 1...8, using: &generator) {
      file[Int.random(in: range, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
    }
  }

  private func replace(_ range: Range<Int>, of file: inout [UInt8], with byte: (Int) -> UInt8) {
    for offset in range { file[offset] = byte(offset - range.lowerBound) }
  }
}
