import Testing

/// Each rule is shown to fail: a rule that cannot fail guards nothing.
struct StyleRuleTests {
  struct Sample: CustomTestStringConvertible {
    let rule: StyleRule
    var path = "Sources/Tally/Sample.swift"
    let text: String
    var line = 1
    var testDescription: String { "\(rule.name): \(text.split(separator: "\n").first ?? "")" }
  }

  static let breaches: [Sample] = [
    Sample(rule: .readable, text: "let a = [(1]"),
    Sample(rule: .readable, text: "let a = 1\nlet b = \"open", line: 2),
    Sample(rule: .functionLength, text: function(lineCount: 71)),
    Sample(rule: .functionLength, text: "\n" + function(lineCount: 71, head: "subscript(i: Int) -> Int"), line: 2),
    Sample(rule: .functionLength, text: function(lineCount: 71, head: "var body: [String: Int]")),
    Sample(rule: .functionLength, text: function(lineCount: 71, head: "init(a: () -> Void = {}) throws(E) where A: B")),
    Sample(rule: .functionLength, path: "Tests/TallyTests/A.swift", text: function(lineCount: 71)),
    Sample(rule: .fileLength, text: String(repeating: "//\n", count: 601), line: 601),
    Sample(rule: .forceTry, path: "Tests/TallyTests/A.swift", text: "\nlet a = try! f()", line: 2),
    Sample(rule: .forceTry, text: #"log("\(try! f(g: "("))")"#),
    Sample(rule: .forceCast, text: "let a = b as! Int"),
    Sample(rule: .fatalErrorCall, text: "fatalError(\"no\")"),
    Sample(rule: .printCall, text: "if a { print(1) }"),
    Sample(rule: .printCall, path: "Sources/TallyCommands/A.swift", text: "Swift.print(1)"),
    Sample(rule: .callsOfLMDB, text: "mdb_env_close(environment)"),
    Sample(rule: .callsOfLMDB, path: "Tests/TallyTests/A.swift", text: "import Testing\nimport CLMDB", line: 2),
    Sample(rule: .calendarInStorage, path: "Sources/Tally/Storage/A.swift", text: "let zone: TimeZone"),
    Sample(rule: .leftovers, text: "let a = 1  // TO" + "DO: more"),
  ]

  static let harmless: [Sample] = [
    Sample(rule: .functionLength, text: function(lineCount: 70)),
    Sample(rule: .functionLength, path: "Tests/TallyTests/A.swift", text: function(lineCount: 70)),
    Sample(rule: .functionLength, text: "protocol P {\n  func f()\n  var a: Int { get }\n}\n" + lines(80)),
    Sample(rule: .functionLength, text: "self.init(a)\nif var a {\n" + lines(80) + "}"),
    Sample(rule: .functionLength, text: "let a = {\n" + lines(80) + "}()"),
    Sample(rule: .fileLength, text: String(repeating: "//\n", count: 600)),
    Sample(rule: .forceTry, text: "try !isOpen // try! later\n/* try! /* try! */ */ let a = \"try! \\\" try!\""),
    Sample(rule: .forceTry, text: "let a = \"\"\"\n  \"try!\" \\\n  \"\"\"\nlet b = #\"\\(try! \"quoted\")\"#"),
    Sample(rule: .forceCast, text: "let a = b as? Int"),
    Sample(rule: .printCall, text: "func print(_ a: Int)\noutput.print(1)"),
    Sample(rule: .printCall, path: "Tests/TallyTests/A.swift", text: "print(seed)"),
    Sample(rule: .callsOfLMDB, path: "Sources/LMDB/A.swift", text: "mdb_env_close(environment)"),
    Sample(rule: .callsOfLMDB, text: "let operation = \"mdb_put\""),
    Sample(rule: .calendarInStorage, path: "Sources/Tally/Model/A.swift", text: "let zone: TimeZone"),
    Sample(rule: .leftovers, text: "// the escape \\uXXXX"),
    Sample(rule: .leftovers, text: "let text = \"TO" + "DO\""),
  ]

  @Test(arguments: breaches)
  func breachIsFoundOnItsLineWithARemedy(sample: Sample) {
    let findings = sample.rule.findings(in: SourceFile(path: sample.path, text: sample.text))
    #expect(findings.count == 1)
    #expect(findings.first?.hasPrefix("\(sample.path):\(sample.line): ") == true)
    #expect(findings.first?.hasSuffix(": \(sample.rule.remedy)") == true)
  }

  @Test(arguments: harmless)
  func harmlessSourceIsLeftAlone(sample: Sample) {
    let file = SourceFile(path: sample.path, text: sample.text)
    #expect(sample.rule.findings(in: file).isEmpty)
    #expect(file.problem == nil)
  }

  @Test func everyRuleHasABreachThatShowsIt() {
    #expect(Set(Self.breaches.map(\.rule.name)) == Set(StyleRule.all.map(\.name)))
  }

  private static func lines(_ count: Int) -> String { String(repeating: "a()\n", count: count) }

  private static func function(lineCount: Int, head: String = "func f() -> Int") -> String {
    "\(head) {\n\(lines(lineCount - 2))}\n"
  }
}
