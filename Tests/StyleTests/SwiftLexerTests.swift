import Testing

struct SwiftLexerTests {
  private func words(_ text: String) -> [String] {
    SwiftLexer(reading: text).tokens.filter { $0.kind == .word }.map(\.text)
  }

  @Test func textOfStringsIsSkippedAndInterpolatedCodeIsRead() {
    #expect(words(#"a("b \(c("d \(e)")) f")"#) == ["a", "c", "e"])
    #expect(words(##"a(#"b \(c) \#(d) " e"#)"##) == ["a", "d"])
    #expect(words("a(\"\"\"\n  b \"c\" \\(d)\n  \"\"\") e") == ["a", "d", "e"])
    #expect(words(#"a("\\", b, "\"c", "")"#) == ["a", "b"])
  }

  @Test func commentsNestAndKeepTheirFirstLine() {
    let lexer = SwiftLexer(reading: "a\n/* b\n/* c */\n*/ d // e \"f\n/// g")
    #expect(lexer.tokens.map(\.line) == [1, 2, 4, 4, 5])
    #expect(lexer.tokens.map(\.kind) == [.word, .comment, .word, .comment, .comment])
  }

  @Test func regularExpressionsAreSkippedAndDivisionsAreRead() {
    #expect(words(#"a(/b"(\/c/, d) / e"#) == ["a", "d", "e"])
    #expect(words("a = (b) / c / d") == ["a", "b", "c", "d"])
  }

  @Test func poundSignsWithoutAQuoteAreNotStrings() {
    #expect(words("#if DEBUG\n#expect(a)\n#endif") == ["if", "DEBUG", "expect", "a", "endif"])
  }

  @Test(arguments: ["\"a", "\"\"\"\na", "/* a", "f(", "f(]", "}", "\"\\(a\""])
  func unreadableSourceIsReported(text: String) {
    #expect(SwiftLexer(reading: text).problem != nil)
  }

  @Test func functionSpansReachFromTheKeywordToTheClosingBrace() {
    let text = """
      struct A {
        var b: Int {
          1
        }
        func c(
          d: () -> Void = {}
        ) throws -> Int {
          func e() {}
          return b
        }
      }
      """
    #expect(
      FunctionSpan.all(in: SourceFile(path: "A.swift", text: text).tokens) == [
        FunctionSpan(name: "b", firstLine: 2, lineCount: 3), FunctionSpan(name: "c", firstLine: 5, lineCount: 6),
        FunctionSpan(name: "e", firstLine: 8, lineCount: 1),
      ]
    )
  }
}
