import Foundation
import TallyEngine
import Testing

@testable import Tally

@Suite struct TagSetTests {
  @Test(
    arguments: [
      ("home", "HOME"), ("Straße", "STRASSE"), ("ẞ", "ss"), ("Ünal", "u\u{308}nal"), ("ΣΊΣΥΦΟΣ", "σίσυφος"),
      ("\u{212A}elvin", "kelvin"), ("ﬁ", "FI"), (" home\n", "home"),
    ] as [(String, String)])
  func tagsThatFoldToTheSameTextAreOne(first: String, second: String) {
    var tags = TagSet([first])
    let isInserted = tags.insert(second)
    #expect(!isInserted)
    #expect(tags.contains(second) && tags.count == 1)
    #expect(TagID.of(first.trimmingCharacters(in: .whitespacesAndNewlines)) == TagID.of(second))
    #expect(tags.first == first.trimmingCharacters(in: .whitespacesAndNewlines), "the first writing stays")
    let isRemoved = tags.remove(second)
    #expect(isRemoved && tags.isEmpty)
  }

  @Test(arguments: [("home", "hôme"), ("a b", "ab"), ("か", "が"), ("1", "１")])
  func tagsThatDifferOtherwiseAreTwo(first: String, second: String) {
    #expect(TagSet([first, second]).count == 2)
  }

  @Test func equalSetsHaveOneOrder() {
    #expect(Array(TagSet(["b", "a", "Ä", "C"])) == Array(TagSet(["C", "Ä", "b", "a"])))
    #expect(TagSet(["b", "a"]) == ["a", "b"])
  }

  @Test func foldingIsIdempotent() {
    for scalar in (UInt32(0x20)...0x2FFFF).compactMap(Unicode.Scalar.init) {
      let folded = TagSet.folded(String(scalar))
      #expect(
        TagSet.folded(folded) == folded && folded.unicodeScalars.elementsEqual(TagSet.folded(folded).unicodeScalars))
    }
  }

  @Test(arguments: ["", " ", "a,b", "#a", "a\u{7}b", String(repeating: "x", count: 65)])
  func impossibleTagsAreRefused(tag: String) {
    let task = TaskItem(title: "x", createdAt: .earliest, tags: [tag])
    #expect { try task.validate() } throws: { ($0 as? TallyError)?.code == .invalidTag }
  }

  @Test func aTaskHasAtMost64Tags() throws {
    var task = TaskItem(title: "x", createdAt: .earliest, tags: TagSet((1...64).map { "tag \($0)" }))
    try task.validate()
    task.tags.insert("one more")
    #expect { try task.validate() } throws: { ($0 as? TallyError)?.code == .invalidTag }
  }

  @Test func aTagMayHave64CharactersOfManyScalars() throws {
    try TaskItem(title: "x", createdAt: .earliest, tags: [String(repeating: "👨‍👩", count: 64)]).validate()
  }

  /// The first and the last vectors of the authors' reference implementation: the key 00…0f, no input and 00…3e.
  @Test func theHashIsSipHash() {
    let key: (UInt64, UInt64) = (0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908)
    let empty = SipHash128.hash([], key: key)
    #expect(empty.uuid.uuidString == "A3817F04-BA25-A8E6-6DF6-7214C7550293")
    let one = SipHash128.hash([0], key: key)
    #expect(one.uuid.uuidString == "DA87C1D8-6B99-AF44-3476-59119B22FC45")
  }
}
