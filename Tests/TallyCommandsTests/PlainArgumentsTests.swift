import ArgumentParser
import TallyTestSupport
import TestSupport
import Testing

@testable import TallyCommands

@Suite struct PlainArgumentsTests {
  /// The commands whose names are one word.
  private static let commands = CommandDescription.commands(below: []).compactMap(\.path.first)

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
    ["find", "--explain"], ["remind", "--exec", "x"],
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

  /// The bug: of more than 128 numbers, those after the first were lost.
  @Test func manyNumbersGoToTheParser() throws {
    let arguments = ["conflicts", "dismiss"] + (1...200).map { "\($0)" }
    #expect(try ManyWords(arguments).few == arguments)
  }

  /// What is set aside must be added again: a command that takes a repeated argument either takes it as words or leaves
  /// it to the parser.
  @Test func wordsAreSetAsideOnlyForCommandsThatTakeThem() throws {
    for path in Commands.names where !path.isEmpty {
      let arguments = path + (1...200).map { "w\($0)" }
      let isDivided = try ManyWords(arguments).few.count < arguments.count
      #expect(!isDivided || RootCommand.takesManyWords(path), "\(path)")
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

  private func plain(_ name: String, _ words: [String]) -> ParsedCommand? {
    func read<Own: SessionCommand>(_ command: Own.Type) -> ParsedCommand? {
      PlainArguments.read(command, named: name, from: words)
    }
    return RootCommand.command(named: name).flatMap { read($0) }
  }

  private struct UnknownCommand: Error {}

  /// What the parser says when it knows this command only: describing all of them takes it a fifth of a second.
  private func parsed(_ name: String, _ words: [String]) throws -> ParsedCommand {
    func parse<Own: SessionCommand>(_ command: Own.Type) throws -> ParsedCommand {
      try #require(try WithGlobalOptions<Own>.parseAsRoot(words) as? WithGlobalOptions<Own>).parsed
    }
    guard let command = RootCommand.command(named: name) else { throw UnknownCommand() }
    return try parse(command)
  }

  private func expectWhatTheParserSays(_ name: String, _ words: [String]) throws -> Bool {
    guard let plain = plain(name, words) else { return false }
    // It throws where the arguments are to be refused.
    let parsed = try parsed(name, words)
    #expect(plain.words == parsed.words, "\(name) \(words)")
    #expect("\(plain.own)" == "\(parsed.own)", "\(name) \(words)")
    #expect("\(plain.global)" == "\(parsed.global)", "\(name) \(words)")
    return true
  }

  @Test func plainArgumentsMeanWhatTheParserSays() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "plainArgumentsMeanWhatTheParserSays"))
    var plainCount = 0
    for _ in 1...600 {
      let name = try #require(Self.commands.randomElement(using: &generator))
      let own = try #require(CommandDescription(of: [name])).arguments.flatMap { $0.spellings + $0.values }
      let count = Int.random(in: 0...5, using: &generator)
      let words = (0..<count).compactMap { _ in
        (Bool.random(using: &generator) ? own : Self.words).randomElement(using: &generator)
      }
      if try expectWhatTheParserSays(name, words) { plainCount += 1 }
    }
    // The others are the parser's.
    #expect(plainCount > 40)
  }

  /// Each argument alone and all of them together, with values that every type takes or that its help lists.
  @Test(arguments: commands) func everyCommandReadsEveryArgumentOfItsOwn(name: String) throws {
    let arguments = try #require(CommandDescription(of: [name])).ownArguments
    func words(_ argument: CommandDescription.Argument) -> [String] {
      let value = argument.values.first ?? "7"
      return argument.kind == .flag
        ? [argument.spellings[0]] : argument.kind == .option ? [argument.spellings[0], value] : [value]
    }
    let needed = arguments.filter(\.isRequired)
    for chosen in arguments.map({ [$0] }) + [[], arguments] {
      let all = chosen + needed.filter { !chosen.contains($0) }
      let options = all.filter { $0.kind != .positional }
      let words = options.flatMap(words) + all.filter { $0.kind == .positional }.flatMap(words)
      let hasGlobalOptions = TestSize.isLong || chosen.count != 1
      for words in [words, words + ["--json", "--week-start", "fri"]].prefix(hasGlobalOptions ? 2 : 1)
      where try !expectWhatTheParserSays(name, words) {
        // Some arguments need others, or refuse them.
        #expect(throws: (any Error).self, "\(name) \(words)") { try parsed(name, words) }
      }
    }
  }

  @Test(arguments: [
    ["agenda"], ["agenda", "--json"], ["today", "--open", "--limit", "3"],
    ["add", "Buy", "milk", "--today", "--tag", "a"],
    ["add", "--tag", "a", "--tag", "b", "Buy", "--due", "friday 17:00"], ["done", "7f3a", "--at", "yesterday 18:30"],
    ["done", "--where", "#home", "--only"], ["count", "is:open"], ["count"], ["find", "#home", "--sort", "due"],
    ["start", "7f3a", "--store", "/s", "--quiet"], ["all", "--week-start", "sun", "--time-zone", "UTC"],
    ["list", "Work"], ["stats"], ["today", "--plain", "--columns", "handle,title"],
  ])
  func commonCommandsNeedNoParser(arguments: [String]) throws {
    #expect(try expectWhatTheParserSays(arguments[0], Array(arguments.dropFirst())))
  }

  @Test(arguments: [
    ["add"], ["add", "-"], ["add", "x", "--on=friday"], ["add", "x", "--on"], ["add", "x", "--on", "a", "--on", "b"],
    ["add", "x", "--notes", "--today"], ["today", "x"], ["today", "--limit", "0"], ["today", "--limit", "x"],
    ["today", "--json", "--plain"], ["today", "--store", ""], ["all", "--week-start", "x"], ["find", "--sort", "x"],
    ["today", "--help"], ["count", "--", "x"], ["today", "--open", "--open"], ["lists", "add"], ["show"],
    ["today", "--columns", "title"], ["today", "--plain", "--columns", "nothing"], ["import", "--format", "x", "y"],
  ])
  func otherArgumentsAreLeftToTheParser(arguments: [String]) {
    #expect(plain(arguments[0], Array(arguments.dropFirst())) == nil)
  }

  @Test func versionIsAskedForAloneOrBesideOptionsOfEveryCommand() {
    #expect(PlainArguments.isVersion(["--version"]))
    #expect(PlainArguments.isVersion(["--now", "2026-11-21T12:00:00Z", "--version", "--json"]))
    for words in [
      [], ["today"], ["add", "--version"], ["--version", "--help"], ["--", "--version"], ["--now", "--version"],
      ["--now", "--version", "x"], ["--version", "--version"], ["--version", "--json", "--plain"],
    ] {
      #expect(!PlainArguments.isVersion(words), "\(words)")
    }
  }
}
