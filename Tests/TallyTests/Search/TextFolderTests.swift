import Foundation
import TestSupport
import Testing

@testable import Tally
@testable import TallyEngine

@Suite struct TextFolderTests {
  static let examples: [(text: String, folded: String)] = [
    ("Crème BRÛLÉE", "creme brulee"), ("Straße STRASSE ẞ", "strasse strasse ss"),
    ("Ørsted ŁÓDŹ Æsop", "orsted lodz aesop"),
    ("ISPARTA Isparta ısparta İzmir", "isparta isparta isparta izmir"), ("Tiếng Việt ĐẦU", "tieng viet dau"),
    ("ΣΊΣΥΦΟΣ Σίσυφος", "σισυφοσ σισυφοσ"), ("ἀρχῇ", "αρχη"),
    ("Ёлка ЙОД Київ", "елка иод киів".replacing("і", with: "і")),
    ("שָׁלוֹם", "שלום"), ("مُحَمَّـــد أحمد", "محمد احمد"), ("हिन्दी क़लम", "हिन्दी क़लम"), ("தமிழ்", "தமிழ்"),
    ("กำลัง น้ำ", "กํา\u{0E25}ัง น้ํา"), ("ＴＯＫＹＯ　２０２６", "tokyo 2026"), ("ﾊﾟｿｺﾝ ﾊﾞｽ", "パソコン バス"),
    ("は\u{3099}が", "ばが"), ("한국어", "한국어"), ("\u{1112}\u{1161}\u{11AB}\u{AD6D}", "한국"), ("ﾡￂ", "가"), ("①㎏ﬁ", "1kgfi"),
    ("ՀԱՅԵՐԵՆ", "հայերեն"), ("ᲥᲐᲠᲗᲣᲚᲘ", "ქართული"), ("co\u{AD}op", "coop"), ("👍\u{FE0F}🏽", "👍🏽"), ("", ""),
  ]

  @Test(arguments: examples)
  func caseAccentsAndWidthAreFolded(text: String, folded: String) {
    var folder = TextFolder()
    #expect(Array(folder.fold(text).utf8) == Array(folded.utf8))
  }

  @Test func whatDistinguishesWordsStays() {
    var folder = TextFolder()
    let pairs = [("か", "が"), ("ハ", "パ"), ("कि", "की"), ("ก่า", "ก้า"), ("가", "각"), ("さん", "サン"), ("a", "b")]
    for (left, right) in pairs { #expect(folder.fold(left) != folder.fold(right)) }
  }

  @Test func foldingAFoldedTextChangesNothing() {
    var folder = TextFolder()
    // All but ideographs, Hangul and unassigned scalars.
    for value in Array(UInt32(0)..<0x3400) + Array(0xA000..<0xABFF) + Array(0xF900..<0x10500) + Array(0x1D400..<0x1FB00)
    {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let folded = folder.fold(String(scalar))
      if !folder.fold(folded).utf8.elementsEqual(folded.utf8) { Issue.record("U+\(String(value, radix: 16))") }
    }
  }

  @Test func equivalentTextsAreFoldedAlike() {
    var folder = TextFolder()
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "equivalent texts"))
    for _ in 0..<3_000 {
      let text = RandomText.scalars(using: &generator)
      // Marks of different scripts in another order than Unicode's are left in that order.
      guard Self.hasMarksInOrder(text) else { continue }
      let folded = folder.fold(text)
      for same in [text.decomposedStringWithCanonicalMapping, text.precomposedStringWithCompatibilityMapping] {
        #expect(folder.fold(same).utf8.elementsEqual(folded.utf8), "\(text.debugDescription)")
      }
    }
  }

  /// Whether the combining marks of each character are in the canonical order already.
  private static func hasMarksInOrder(_ text: String) -> Bool {
    let classes = text.unicodeScalars.flatMap { String($0).decomposedStringWithCompatibilityMapping.unicodeScalars }
      .map { $0.properties.canonicalCombiningClass.rawValue }
    return zip(classes, classes.dropFirst()).allSatisfy { $1 == 0 || $0 <= $1 }
  }

  /// The bug: the second mark was composed with the letter, over the first.
  @Test func aSecondMarkOfItsClassStaysApart() {
    var folder = TextFolder()
    #expect(folder.fold("ｶ\u{309A}\u{3099}") == "\u{30AB}\u{309A}\u{3099}")
  }

  /// The reference folds whole texts where the folder takes one scalar after the other.
  @Test func randomTextsAreFoldedAsWholeTextsAre() {
    var folder = TextFolder()
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "folding"))
    for _ in 0..<3_000 {
      let text = RandomText.scalars(using: &generator)
      #expect(folder.fold(text) == Self.reference(text), "\(text.debugDescription)")
    }
  }

  /// Not for the letters that Unicode does not decompose.
  private static func reference(_ text: String) -> String {
    let accent = /[\u{300}-\u{36F}\u{483}-\u{489}\u{591}-\u{5C7}\u{610}-\u{61A}\u{640}\u{64B}-\u{65F}\u{FE0F}]/
    let decomposed = text.decomposedStringWithCompatibilityMapping
    let plain = decomposed.unicodeScalars.filter {
      String($0).wholeMatch(of: accent.matchingSemantics(.unicodeScalar)) == nil
    }
    return String(String.UnicodeScalarView(plain)).lowercased().uppercased().lowercased().replacing("ς", with: "σ")
  }

  @Test func aRangeLeadsBackToWholeLettersWithTheirAccents() {
    var folder = TextFolder()
    for text in ["Ｃａｆé", "Cafe\u{301}", "CAFÉ"] {
      let folded = FoldedText(text, with: &folder)
      #expect(folded.utf8 == Array("cafe".utf8))
      let range = folded.originalRange(of: 3..<4)
      #expect(String(decoding: Array(text.utf8)[range], as: UTF8.self) == String(text.last ?? " "))
      #expect(folded.originalRange(of: 0..<4) == 0..<text.utf8.count)
    }
    let ligature = FoldedText("xﬁy", with: &folder)
    #expect(ligature.originalRange(of: 2..<3) == 1..<4)
    #expect(FoldedText("ｶﾞ", with: &folder).originalRange(of: 0..<3) == 0..<6)
  }

  @Test func aPatternIsFoundExactlyWhereTheFoldedTextHasIt() {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "patterns"))
    var folder = TextFolder()
    let parts =
      [
        "a", "E", "fi", "ﬁ", "ﬃ", "tm", "™", "ss", "ß", "é", "e\u{301}", "İ", "ı", "\u{AD}", "\u{200B}", "Ａ", "漢", "ж",
        "が", "か\u{3099}",
      ]
      + ["ø", "Æ", "þ", "½", "①", "Å", "K", "😀", " ", "…", "א", "\u{5B0}", "한", "1", "x"]
    var foundCount = 0
    for _ in 0..<5_000 {
      func text(_ count: Int) -> String {
        (0..<count).map { _ in parts.randomElement(using: &generator) ?? "a" }.joined()
      }
      let (text, pattern) = (
        text(Int.random(in: 0...8, using: &generator)), text(Int.random(in: 1...2, using: &generator))
      )
      let (folded, foldedPattern) = (Array(folder.fold(text).utf8), Array(folder.fold(pattern).utf8))
      let expected =
        foldedPattern.isEmpty
        || folded.indices.contains { folded[$0...].starts(with: foldedPattern) }
      #expect(
        FoldedPattern(pattern, with: &folder).isFound(in: text, with: &folder) == expected,
        "\(pattern.debugDescription) in \(text.debugDescription)")
      if expected { foundCount += 1 }
    }
    #expect(foundCount > 500)
  }

  @Test func aPatternIsFoundWhateverItsCaseAccentsAndWidth() {
    var folder = TextFolder()
    for text in ["The Tax Form", "THE ＴＡＸ ＦＯＲＭ", "thé tàx form"] {
      #expect(FoldedPattern("tax F", with: &folder).isFound(in: text, with: &folder))
      #expect(FoldedPattern("TÁX f", with: &folder).isFound(in: text, with: &folder))
      #expect(!FoldedPattern("taxf", with: &folder).isFound(in: text, with: &folder))
      #expect(FoldedPattern("", with: &folder).isFound(in: text, with: &folder))
      #expect(!FoldedPattern(text + "!", with: &folder).isFound(in: text, with: &folder))
    }
  }
}
