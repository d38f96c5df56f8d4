import Testing

struct DocumentationTests {
  @Test func everyLinkPathAndCommandInTheDocumentationExists() throws {
    let paths = Repository.paths()
    let pages = try paths.compactMap { path in
      path.hasSuffix(".md")
        ? MarkdownPage(path: path, text: try Repository.text(of: path))
        : path.hasSuffix(".swift")
          ? MarkdownPage(path: path, commentsOf: try Repository.text(of: path)) : nil
    }
    let targets = DocumentationCheck.targets(ofMakefile: try Repository.text(of: "Makefile"))
    #expect(pages.contains { $0.path == "README.md" })
    #expect(targets.isSuperset(of: ["demo", "test", "check"]))
    let check = DocumentationCheck(pages: pages, paths: Set(paths), makeTargets: targets)
    for finding in check.findings() { Issue.record("\(finding)") }
  }

  private func findings(_ text: String, at path: String = "docs/a.md") -> [String] {
    let pages = [MarkdownPage(path: path, text: text), MarkdownPage(path: "README.md", text: "# Start here: `x`\n")]
    let paths: Set = [
      "docs", "docs/a.md", "README.md", "Sources", "Sources/Tally", "Sources/Tally/A.swift", ".ci", ".ci/run",
    ]
    return DocumentationCheck(pages: pages, paths: paths, makeTargets: ["test"]).findings()
  }

  @Test(arguments: [
    "[a](b.md)", "[a](../b.md \"title\")", "x\n[a](../README.md#gone)", "[a](#gone)", "[![a](b.png)](https://b.c)",
    "`Sources/Tally/B.swift`", "`docs/b.md`", "`B.swift`", "`.ci/gone`", "`Sources/Gone/`",
    "`make gone`", "```sh\nmake gone\n```", "```\n$ make gone  # why\n```",
  ])
  func missingTargetIsFound(text: String) {
    #expect(findings(text).count == 1)
  }

  @Test(arguments: [
    "[a](https://b.c/d)", "[a](../README.md#start-here-x)", "# B c\n[a](#b-c)", "[a](a.md)", "`[a](b.md)`",
    "```\n[a](b.md)\n```", "`Sources/Tally/`", "`Sources/Tally/A.swift`", "`A.swift`", "`.build/demo`", "`task/s`",
    "`Sources/*/B.swift`", "`make test`", "`make`", "we make gone things", "`Europe/Istanbul`",
  ])
  func existingTargetsAndOtherCodeAreLeftAlone(text: String) {
    #expect(findings(text).isEmpty)
  }

  @Test func findingNamesFileLineAndRemedy() {
    #expect(
      findings("x\n\n[a](b.md)") == ["docs/a.md:3: the link `b.md` leads nowhere: correct or remove it"]
    )
  }

  @Test func pathInACommentIsFoundOnItsLine() {
    let page = MarkdownPage(
      path: "docs/a.swift", commentsOf: "let a = 1\n/// See `docs/gone.md`.\nlet b = 2"
    )
    #expect(
      DocumentationCheck(pages: [page], paths: ["docs"], makeTargets: []).findings()
        == ["docs/a.swift:2: there is no `docs/gone.md`: correct the path"]
    )
  }

  @Test func makefileVariablesAreNotTargets() {
    #expect(DocumentationCheck.targets(ofMakefile: "a-b: c ## d\n\tx\nFILES := y\nz:=1\n.PHONY: q") == ["a-b"])
  }
}
