import Testing

/// Views with sub-tasks below their parents.
struct TreeTests {
  /// A completed parent that was folded away left its sub-tasks to the task before it.
  @Test func aTreeHasTheCompletedParentsOfAllSubtasks() throws {
    try withProgram { program in
      _ = try program.run(["lists", "add", "Work"])
      func add(_ title: String, _ options: [String] = []) throws -> String {
        String(try program.run(["add", title, "--list", "Work", "--plain"] + options).output.prefix { $0 != "\t" })
      }
      let parent = try add("the parent")
      let part = try program.run(["add", "the part", "--parent", parent])
      #expect(part.status == 0, "\(part.errors)")
      _ = try program.run(["done", parent, "--only", "--at", "2026-11-20T09:00:00Z"])
      for number in 1...12 { _ = try program.run(["log", "task \(number)", "--list", "Work"]) }
      let lines = try program.run(["list", "Work", "--tree"]).output.split(separator: "\n")
      let index = try #require(lines.firstIndex { $0.contains("the parent") })
      #expect(lines[index + 1].contains("  ◦ the part"))
      #expect(lines.count { $0.contains("✓") } == 13)
      #expect(try program.run(["list", "Work"]).output.contains("and 3 more done"))
    }
  }
}
