import Foundation
import TestSupport
import Testing

@testable import Tally

@Suite struct SearchMatcherTests {
  /// A text, a query, and the text with the matches in brackets; `nil` if it is not found.
  static let examples: [(text: String, query: String, marked: String?)] = [
    // Latin
    ("Pay the tax form, tax 2026", "form TAX", "Pay the [tax] [form], [tax] 2026"),
    ("Pay the taxes", "pay tax", "[Pay] the [tax]es"),
    ("Pay the taxes", "tax pay", nil), ("Crème brûlée", "creme brul", "[Crème] [brûl]ée"),
    ("cre\u{300}me", "crem", "[cre\u{300}m]e"), ("Łódź", "lodz", "[Łódź]"),
    ("Straße fegen", "STRASSE", "[Straße] fegen"),
    ("Straße", "stras", "[Straß]e"), ("the ﬁne print", "fi", "the [ﬁ]ne print"), ("ＴＡＸ form", "tax", "[ＴＡＸ] form"),
    ("l'eau, l’air", "eau air", "l'[eau], l’[air]"), ("don’t forget", "don't", "[don’t] forget"),
    ("3.14 or 14.3", "3.14", "[3.14] or 14.3"),
    ("mail example.com", "example", "mail [example].com"), ("mail example.com", "example.com", "mail [example.com]"),
    ("tax form and form tax", "\"form tax\"", "tax form and [form tax]"),
    ("tax forms", "\"tax form\"", nil), ("tax forms", "\"tax form", "[tax form]s"),
    ("tax, form", "\"tax form\"", "[tax, form]"),
    ("item v2", "2", nil), ("item v2", "v", "item [v]2"), ("a_b", "b", "a_[b]"), ("one", "two", nil),
    ("one two", "two three", nil),
    ("Tiếng Việt", "tieng viet", "[Tiếng] [Việt]"), ("İstanbul'a uçak", "istanbul ucak", "[İstanbul]'a [uçak]"),
    // Greek, Cyrillic, Armenian, Georgian
    ("Ο Σίσυφος ξανά", "ΣΙΣΥΦΟΣ", "Ο [Σίσυφος] ξανά"), ("Купить ёлку", "елк", "Купить [ёлк]у"),
    ("Заплатить НАЛОГ", "налог заплатить", "[Заплатить] [НАЛОГ]"),
    ("Գնել հաց", "ՀԱՑ", "Գնել [հաց]"), ("იყიდე პური", "პურ", "იყიდე [პურ]ი"),
    // Hebrew, Arabic
    ("לשלם שָׁלוֹם", "שלום", "לשלם [שָׁלוֹם]"), ("دفع الضَّرِيبَة", "الضريب", "دفع [الضَّرِيبَ]ة"),
    // Indic scripts
    ("दूध ख़रीदना", "ख़री", "दूध [ख़री]दना"), ("दूध", "दूध", "[दूध]"), ("की", "कि", nil), ("பால் வாங்க", "பால்", "[பால்] வாங்க"),
    // Without spaces: Thai, Chinese, Japanese, Korean
    ("ซื้อนมและขนมปัง", "ขนมปัง", "ซื้อนมและ[ขนมปัง]"), ("去超市买牛奶", "牛奶", "去超市买[牛奶]"), ("去超市买牛奶", "奶", "去超市买牛[奶]"),
    ("去超市买牛奶", "奶牛", nil),
    ("牛乳を買う", "買う 牛乳", "[牛乳]を[買う]"), ("ﾆｭｰｽを読む", "ニュース", "[ﾆｭｰｽ]を読む"), ("がっこう", "か", nil),
    ("新しいiPhone購入", "iphone購入", "新しい[iPhone購入]"),
    ("新しいiPhone購入", "\"しいiphone購\"", "新[しいiPhone購]入"), ("팀회의 준비", "회의", "팀[회의] 준비"), ("회의를 준비", "회의 준비", "[회의]를 [준비]"),
    ("3月5日", "3月", "[3月]5日"),
    // Pictures
    ("Party 🎉🎂", "🎂", "Party 🎉[🎂]"), ("ok 👍🏽", "👍", "ok [👍]🏽"),
  ]

  @Test(arguments: examples)
  func wordsAreFoundInTwelveScripts(text: String, query: String, marked: String?) {
    #expect(Self.marked(text, SearchQuery(query)) == marked)
  }

  static let substringExamples: [(text: String, query: String, marked: String?)] = [
    ("Reform of forms", "ORM", "Ref[orm] of f[orm]s"), ("tax form", "x f", "ta[x] [f]orm"),
    ("tax form", "\"x f\"", "ta[x f]orm"),
    ("a.b", ".", "a[.]b"), ("tax", "z", nil), ("ёлка", "лк", "ё[лк]а"), ("tax", "tax ax", "[tax]"), ("tax", "  ", nil),
  ]

  @Test(arguments: substringExamples)
  func substringsAreFoundInsideWords(text: String, query: String, marked: String?) {
    #expect(Self.marked(text, SearchQuery(query, .substrings)) == marked)
  }

  static func marked(_ text: String, _ query: SearchQuery) -> String? {
    var matcher = SearchMatcher(query)
    matcher.begin()
    matcher.read(text, as: .title)
    guard matcher.quality != nil else { return nil }
    var marked = text
    for range in matcher.ranges(in: text).reversed() {
      marked.replaceSubrange(range, with: "[\(text[range])]")
    }
    return marked
  }

  @Test func nothingIsFoundWithoutWords() {
    for text in ["", " ", "!?", "\"\"", "\" \"", "-"] {
      #expect(SearchQuery(text).isEmpty)
      var matcher = SearchMatcher(SearchQuery(text))
      matcher.read("anything ! - \"\"", as: .title)
      #expect(matcher.quality == nil)
    }
  }

  @Test func wordsMayBeInAnyOfTheTextsButAPhraseIsInOne() {
    #expect(Self.quality("tax form", title: "form", notes: "the tax") == .init(field: .notes, extent: .whole))
    #expect(Self.quality("tax form", title: "forms", notes: "the tax") == .init(field: .notes, extent: .prefix))
    #expect(Self.quality("tax home", title: "tax", tags: ["garden", "homes"]) == .init(field: .tags, extent: .prefix))
    #expect(Self.quality("\"tax form\"", title: "tax", notes: "form") == nil)
    #expect(Self.quality("\"big house\"", title: "", tags: ["big", "house"]) == nil)
  }

  @Test func theBestOfSeveralMatchesCounts() {
    #expect(Self.quality("form", title: "forms form") == .init(field: .title, extent: .whole))
    #expect(Self.quality("form", title: "forms", notes: "form") == .init(field: .title, extent: .prefix))
    #expect(Self.quality("form", title: "none", notes: "form") == .init(field: .notes, extent: .whole))
  }

  private static func quality(_ query: String, title: String, notes: String = "", tags: [String] = []) -> MatchQuality?
  {
    var matcher = SearchMatcher(SearchQuery(query))
    matcher.read("from another task: tax form home big house", as: .title)
    matcher.begin()
    matcher.read(title, as: .title)
    matcher.read(notes, as: .notes)
    for tag in tags { matcher.read(tag, as: .tags) }
    return matcher.quality
  }

  /// The reference knows texts as lists of words and compares strings, not bytes.
  @Test func randomTextsAreFoundAsTheReferenceFindsThem() {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "matching"))
    var foundCount = 0
    for _ in 0..<4_000 {
      let (title, query) = (RandomText.title(using: &generator), RandomText.query(using: &generator))
      let found = Self.marked(title, SearchQuery(query)) != nil
      foundCount += found ? 1 : 0
      #expect(found == ReferenceSearch(query).finds(title), "\(query.debugDescription) in \(title.debugDescription)")
    }
    #expect(foundCount > 100)
  }

  @Test func rangesAreInOrderAndHoldWholeScalars() {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "ranges"))
    for _ in 0..<5_000 {
      let text = RandomText.title(using: &generator)
      var matcher = SearchMatcher(SearchQuery(RandomText.query(using: &generator)))
      var end = text.startIndex
      for range in matcher.ranges(in: text) {
        #expect(range.lowerBound >= end && !range.isEmpty)
        #expect(range.lowerBound.samePosition(in: text.unicodeScalars) != nil)
        #expect(range.upperBound.samePosition(in: text.unicodeScalars) != nil)
        end = range.upperBound
      }
    }
  }
}

extension SearchMatcher {
  /// Reads a text that is a value.
  mutating func read(_ text: String, as field: SearchedField) {
    var text = text
    text.makeContiguousUTF8()
    unsafe read(text.utf8.span.bytes, as: field)
  }
}
