import TestSupport

/// Texts for tests of search.
enum RandomText {
  /// Letters and marks of many scripts, in any order.
  private static let alphabet =
    "aAeEzZ äÖÉñçşİ ΑάώΩςσ жЖйЁ אבּשׁ ابتَأ कखिी् தமி กาำ่้ ｶﾞガはバ 漢字々 한글ㄱ Ａ１ ½① '.,-_ 😀👍🏽".unicodeScalars.map { String($0) }
    + [
      "क\u{93C}", "\u{301}", "\u{308}", "\u{3099}", "\u{309A}", "ख\u{93C}", "\u{94D}", "\u{1112}", "\u{1161}",
      "\u{11AB}", "\u{FE0F}",
    ]

  /// Up to a dozen scalars.
  static func scalars(using generator: inout SeededGenerator) -> String {
    (0..<Int.random(in: 0...12, using: &generator)).map { _ in alphabet.randomElement(using: &generator) ?? "a" }
      .joined()
  }

  /// Short words, alike enough to match each other often.
  private static let words = [
    "tax", "Tax", "taxi", "form", "forms", "FORM", "for", "Möhre", "mohr", "ñandú", "Straße", "strasse", "don't",
    "3.14",
    "налог", "НАЛОГИ", "ёлка", "φόρος", "ΦΌΡΟΣ", "טופס", "طُلَّاب", "कर", "करना", "கடை", "牛乳", "牛乳を買う", "乳牛", "ガス", "ｶﾞｽ",
    "ニュース", "회의", "팀회의", "กำลัง", "กาแฟ", "v2", "2026", "e-mail", "👍🏽", "a_b", "iPhone購入",
  ]

  /// Up to seven words with various separators.
  static func title(using generator: inout SeededGenerator) -> String {
    var text = ""
    for index in 0..<Int.random(in: 1...7, using: &generator) {
      if index > 0 { text += [" ", " ", " ", ", ", "-", "", "\n"].randomElement(using: &generator) ?? " " }
      text += words.randomElement(using: &generator) ?? "tax"
    }
    return text
  }

  /// A query of up to three words, prefixes and phrases.
  static func query(using generator: inout SeededGenerator) -> String {
    var text = ""
    for _ in 0..<Int.random(in: 1...3, using: &generator) {
      let title = title(using: &generator)
      switch Int.random(in: 0..<6, using: &generator) {
      case 0: text += "\"\(title)\" "
      case 1: text += title + " "
      case 2: text += String(title.prefix(Int.random(in: 1...4, using: &generator))) + " "
      default: text += (words.randomElement(using: &generator) ?? "tax") + " "
      }
    }
    return Bool.random(using: &generator) ? text : String(text.dropLast(Int.random(in: 1...3, using: &generator)))
  }
}
