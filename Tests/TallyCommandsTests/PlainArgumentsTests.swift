import ArgumentParser
import TallyTestSupport
import TestSupport
import Testing

@testable import TallyCommands

@Suite struct PlainArgumentsTests {
  /// The commands that read plain arguments.
  private static let commands = [
    "agenda", "today", "inbox", "upcoming", "past", "overdue", "active", "next", "all", "find", "count", "add", "start",
    "done", "reopen",
  ]

  /// Words of all kinds, in any order, right ones and wrong ones.
  private static let words = [
    "milk", "Ω", "", "#home", "is:open", "7f3a", "help", "2", "0", "due", "a b", "-", "--", "-x", "-1", "--json",
    "--plain",
    "--no-color", "--quiet", "--store", "--store", "--store=x", "--now", "--time-zone", "--week-start", "mon", "--open",
    "--tree", "--limit", "--sort", "created:reversed", "--explain", "--today", "--tomorrow", "--on", "--list", "--due",
    "--remind", "--notes", "--tag", "--tag", "--priority", "--parent", "--repeat", "--set", "--at", "--only", "--where",
    "--help", "--version", "--tod",
  ]

  /// The bug: the parser takes time with the square of the number of words.
  @Test(arguments: [
    ["search"], ["quick", "--dry-run"], ["log"], ["due"], ["edit", "--notes", "x"], ["delete"],
    ["move", "--to", "today"],
    ["snooze", "--until", "2h"], ["filters", "add"], ["export", "--format", "csv"], ["stats", "--by", "week"],
    ["completed", "--limit", "3"], ["trash", "restore"], ["add", "--list=Work"], ["done", "--only"],
    ["find", "--explain"],
    ["--store", "x", "search", "--limit", "2"],
  ])
  func manyWordsMeanWhatTheParserSays(start: [String]) throws {
    for divider in [[], ["--"]] {
      let words = (1...200).map { divider.isEmpty || $0 % 7 > 0 ? "w\($0)" : "-w\($0)" }
      let arguments = start + words.prefix(3) + ["--quiet"] + divider + words.dropFirst(3)
      let many = try ManyWords(arguments)
      #expect(many.few.count < 16 && !many.others.isEmpty, "\(start)")
      let few = try #require(try RootCommand.parseAsRoot(many.few) as? any CompleteCommand).parsed
      let all = try #require(try RootCommand.parseAsRoot(arguments) as? any CompleteCommand).parsed
      #expect("\(many.completing(few).own)" == "\(all.own)", "\(start)")
      #expect("\(few.global)" == "\(all.global)" && few.words == all.words)
    }
  }

  @Test(arguments: [["lists", "add"], ["show"], ["config"], ["undo"], ["nothing"], ["--json"], []])
  func wordsOfCommandsThatTakeFewGoToTheParser(start: [String]) throws {
    let arguments = start + (1...200).map { "w\($0)" }
    #expect(try ManyWords(arguments).few == arguments)
  }

  @Test func thousandsOfArgumentsAreReadOrRefused() throws {
    try withProgram { program in
      let id = try #require(
        try program.run(["add", "x", "--json"]).output.firstMatch(of: /"id":"([^"]+)"/).map { String($0.1) })
      let ids = Array(repeating: id, count: 3_000)
      #expect(try program.run(["edit", "--notes", "y"] + ids).status == 0)
      #expect(try program.run(["done"] + ids + ["--json"]).status == 0)
      let words = (0..<6_000).map { "w\($0)" }
      for command in [["search"], ["find"], ["filters", "add", "x"], ["stats"], ["due"], ["find", "--"]] {
        #expect(try program.run(command + words).status == 64, "\(command)")
      }
      #expect(try program.run(["find"] + words.map { "-#" + $0 }).status == 64)
      #expect(try program.run(["edit", id] + words.flatMap { ["--tag", $0] }).status == 64)
      #expect(try program.run(["quick"] + (0..<12_000).map { "w\($0)" }).status == 64)
      #expect(try program.run(["quick", "--dry-run"] + Array(repeating: "at", count: 2_000)).status == 0)
    }
  }

  @Test func plainArgumentsMeanWhatTheParserSays() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "plainArgumentsMeanWhatTheParserSays"))
    var plainCount = 0
    for _ in 1...600 {
      let name = try #require(Self.commands.randomElement(using: &generator))
      let count = Int.random(in: 0...5, using: &generator)
      let words = (0..<count).compactMap { _ in Self.words.randomElement(using: &generator) }
      guard let plain = PlainCommands.read(words, for: name) else { continue }
      plainCount += 1
      // It throws where the arguments are to be refused.
      let parsed = try #require(try RootCommand.parseAsRoot([name] + words) as? any CompleteCommand).parsed
      #expect(plain.words == parsed.words, "\(name) \(words)")
      #expect("\(plain.own)" == "\(parsed.own)", "\(name) \(words)")
      #expect("\(plain.global)" == "\(parsed.global)", "\(name) \(words)")
    }
    // The others are the parser's.
    #expect(plainCount > 40)
  }

  @Test(arguments: [
    ["agenda"], ["agenda", "--json"], ["today", "--open", "--limit", "3"],
    ["add", "Buy", "milk", "--today", "--tag", "a"],
    ["add", "--tag", "a", "--tag", "b", "Buy", "--due", "friday 17:00"], ["done", "7f3a", "--at", "yesterday 18:30"],
    ["done", "--where", "#home", "--only"], ["count", "is:open"], ["count"], ["find", "#home", "--sort", "due"],
    ["start", "7f3a", "--store", "/s", "--quiet"], ["all", "--week-start", "sun", "--time-zone", "UTC"],
  ])
  func commonCommandsNeedNoParser(arguments: [String]) throws {
    #expect(PlainCommands.read(Array(arguments.dropFirst()), for: arguments[0]) != nil)
  }

  @Test(arguments: [
    ["add"], ["add", "-"], ["add", "x", "--on=friday"], ["add", "x", "--on"], ["add", "x", "--on", "a", "--on", "b"],
    ["add", "x", "--notes", "--today"], ["today", "x"], ["today", "--limit", "0"], ["today", "--limit", "x"],
    ["today", "--json", "--plain"], ["today", "--store", ""], ["all", "--week-start", "x"], ["find", "--sort", "x"],
    ["today", "--help"], ["count", "--", "x"], ["list", "Work"], ["stats"],
  ])
  func otherArgumentsAreLeftToTheParser(arguments: [String]) {
    #expect(PlainCommands.read(Array(arguments.dropFirst()), for: arguments[0]) == nil)
  }

  @Test func versionIsAskedForAloneOrBesideOptionsOfEveryCommand() {
    #expect(PlainCommands.isVersion(["--version"]))
    #expect(PlainCommands.isVersion(["--now", "2026-11-21T12:00:00Z", "--version", "--json"]))
    for words in [
      [], ["today"], ["add", "--version"], ["--version", "--help"], ["--", "--version"], ["--now", "--version"],
    ] {
      #expect(!PlainCommands.isVersion(words), "\(words)")
    }
  }
}
