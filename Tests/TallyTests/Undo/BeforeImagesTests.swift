import Foundation
import TallyEngine
import TestSupport
import Testing

@testable import Tally

/// How images are divided into parts, each of which is one entry of the history.
@Suite struct BeforeImagesTests {
  /// Images of tasks that did not exist; each takes 18 bytes.
  private func images(_ count: Int) -> BeforeImages {
    var images = BeforeImages()
    for _ in 0..<count { images.add(nil as TaskRecord?, ofKey: IDKey(UUID())) }
    return images
  }

  @Test func partsAreFullButNoLongerThanALimit() {
    let sizes = images(10_000).parts.map(\.count)
    #expect(sizes.reduce(0, +) == 180_000)
    #expect(sizes.allSatisfy { $0 <= BeforeImages.partSizeInBytes })
    // What an image takes at most is not known before it is written.
    #expect(sizes.dropLast().allSatisfy { $0 > BeforeImages.partSizeInBytes - ImageKey.maximumByteCount - 18 })
  }

  @Test func laterImagesJoinTheLastPartIfBothFit() {
    for (first, later, parts) in [
      (0, 10, 1), (10, 0, 1), (10, 10, 1), (1_000, 1_000, 2), (2_000, 10, 2), (10, 4_000, 4),
    ] {
      var all = images(first)
      all.append(images(later))
      let sizes = all.parts.map(\.count)
      #expect(sizes.reduce(0, +) == (first + later) * 18)
      #expect(sizes.allSatisfy { $0 <= BeforeImages.partSizeInBytes }, "\(first) and \(later): \(sizes)")
      #expect(sizes.count == parts, "\(first) and \(later): \(sizes)")
    }
  }

  @Test func anImageThatIsLongerHasAPartOfItsOwn() throws {
    var images = images(10)
    let value = [UInt8](repeating: 7, count: 100_000)
    images.add(value, ofValue: try ValueKey([UInt8]([1]), in: "test"))
    images.append(self.images(10))
    let sizes = images.parts.map(\.count)
    #expect(sizes.count == 3 && sizes[1] > 100_000 && [sizes[0], sizes[2]] == [180, 180])
  }
}
