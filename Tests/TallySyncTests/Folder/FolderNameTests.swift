import Testing

@testable import TallySync

@Suite struct FolderNameTests {
  private static let digest: [UInt8] = [0, 1, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD]

  private static let names: [(FolderName, String)] = [
    (.segments(.init(first: 1, last: 1, digest: digest)), "0000000001-0000000001-000123456789abcd.seg"),
    (.segments(.init(first: 7, last: 42, digest: digest)), "0000000007-0000000042-000123456789abcd.seg"),
    (
      .segments(.init(first: 12_345_678_901, last: FolderName.greatestNumber, digest: digest)),
      "12345678901-9223372036854775807-000123456789abcd.seg"
    ),
    (.card(3), "card-0000000003.card"),
    (
      .part(2, of: .init(number: 9, digest: digest, partCount: 3)),
      "0000000009-000123456789abcd-00002of00003.snap"
    ),
    (.temporary(5), ".tmp-0000000005"),
    (.temporary(.max), ".tmp-18446744073709551615"),
    (
      .placeholder(.segments(.init(first: 1, last: 1, digest: digest))),
      ".0000000001-0000000001-000123456789abcd.seg.icloud"
    ),
  ]

  @Test(arguments: names)
  func aNameIsReadAsItIsWritten(name: FolderName, text: String) {
    #expect(name.text == text)
    #expect(FolderName(text) == name)
  }

  @Test(arguments: [
    "", ".", "..", "-", ".seg", "card-.card", ".icloud", ".tmp-", "readme.txt", ".DS_Store", "desktop.ini",
    "1-1-000123456789abcd.seg", "0000000001-0000000001-000123456789ABCD.seg",
    "0000000001-0000000001-000123456789abc.seg", "0000000001-0000000001-000123456789abcdef.seg",
    "0000000002-0000000001-000123456789abcd.seg", "0000000000-0000000000-000123456789abcd.seg",
    "+000000001-0000000001-000123456789abcd.seg", "00000000001-00000000001-000123456789abcd.seg",
    "0000000001-9223372036854775808-000123456789abcd.seg", "0000000001--0000000001-000123456789abcd.seg",
    "0000000001-0000000001-000123456789abcd.sync-conflict-20260101-120000-ABCDEFG.seg",
    "0000000001-0000000001-000123456789abcd (conflicted copy).seg",
    "0000000001-0000000001-000123456789abcd (device's conflicted copy 2026-01-01).seg",
    "0000000001-0000000001-000123456789abcd 2.seg", "0000000001-0000000001-000123456789abcd(1).seg",
    "Copy of 0000000001-0000000001-000123456789abcd.seg", "0000000001-0000000001-000123456789abcd.seg~",
    "0000000001-0000000001-000123456789abcd.seg.bak", "0000000001-0000000001-000123456789abcd.seg.part",
    "#0000000001-0000000001-000123456789abcd.seg#", ".0000000001-0000000001-000123456789abcd.seg.swp",
    ".syncthing.0000000001-0000000001-000123456789abcd.seg.tmp",
    "~syncthing~0000000001-0000000001-000123456789abcd.seg.tmp",
    "0000000001-0000000001-000123456789abcd.SEG", " 0000000001-0000000001-000123456789abcd.seg",
    "0000000001-0000000001-000123456789abcd.seg ", "0000000001-0000000001-000123456789abcd.seg\n",
    "０000000001-0000000001-000123456789abcd.seg", "0000000001-0000000001-000123456789abc\u{301}d.seg",
    ".tmp-0000000005.icloud", "..0000000001-0000000001-000123456789abcd.seg.icloud.icloud", "..tmp-0000000005.icloud",
    "card-3.card", "card-0000000003.card.sync-conflict-20260101", "card--000000003.card", "card-0000000000.card",
    "0000000009-000123456789abcd-00003of00003.snap", "0000000009-000123456789abcd-00000of00000.snap",
    "0000000009-000123456789abcd-2of3.snap", "0000000009-000123456789abcd--0001of00003.snap",
    "0000000009-000123456789abcd-00002of000030.snap", "0000000009-000123456789abcd-00002.snap",
    ".tmp-5", ".tmp-18446744073709551616", ".tmp-000000000x",
  ])
  func otherNamesAreIgnored(text: String) {
    #expect(FolderName(text) == nil)
  }

  /// Copies of a file differ from its name by a few characters, anywhere.
  @Test(arguments: names.map(\.1))
  func noCharacterMayBeMissingOrAdded(text: String) {
    for offset in 0...text.count {
      let (start, rest) = (text.prefix(offset), text.dropFirst(offset))
      if !rest.isEmpty { #expect(FolderName("\(start)\(rest.dropFirst())").map(\.text) != text) }
      for addition in [" ", "-", ".", "~", "g", "é"] {
        #expect(FolderName("\(start)\(addition)\(rest)") == nil)
      }
    }
  }

  @Test func aPackCoversOnlyWhatIsWithin() {
    let pack = FolderName.SegmentRange(first: 3, last: 7, digest: Self.digest)
    let covered = [(3, 3), (7, 7), (4, 6), (3, 6)] as [(UInt64, UInt64)]
    #expect(covered.allSatisfy { pack.covers(.init(first: $0.0, last: $0.1, digest: [])) })
    let others = [(3, 7), (2, 3), (7, 8), (8, 9), (1, 2)] as [(UInt64, UInt64)]
    #expect(!others.contains { pack.covers(.init(first: $0.0, last: $0.1, digest: [])) })
  }
}
