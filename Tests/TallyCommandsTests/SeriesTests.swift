import Testing

/// What the program says of series, and of filters and orders that cannot be.
struct SeriesTests {
  @Test func theLastTaskOfASeriesSaysSo() throws {
    try withProgram { program in
      try Fixture.fill(program)
      let words = "The series has ended."
      for (recurrence, isLast) in [("FREQ=DAILY;COUNT=1", true), ("FREQ=DAILY;COUNT=2", false)] {
        #expect(try program.run(["edit", "91bc", "--repeat", recurrence]).status == 0)
        let outcome = try program.run(["done", "91bc"])
        #expect(outcome.errors.contains(words) == isLast, "\(outcome.errors)")
        #expect(try !program.run(["done", "91bc"]).errors.contains(words), "it was done already")
        #expect(try program.run(["reopen", "91bc"]).status == 0)
      }
    }
  }

  @Test func aFilterThatNamesNoListIsAnErrorWithTheNameAndItsColumn() throws {
    try withProgram { program in
      try Fixture.fill(program)
      for arguments in [["find"], ["count"], ["filters", "add", "name"]] {
        let outcome = try program.run(arguments + ["#home", "list:Nope"])
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("a list “Nope” that does not exist (column 12)"), "\(outcome.errors)")
      }
      #expect(try program.run(["filters"]).output.isEmpty)
    }
  }

  @Test func anOrderThatDoesNotExistIsAnErrorWithTheChoices() throws {
    try withProgram { program in
      let outcome = try program.run(["find", "--sort", "sideways"])
      #expect(outcome.status == 64 && outcome.errors.contains(", priority:reversed, "), "\(outcome.errors)")
    }
  }

  @Test func aSearchWithoutAWordIsAnError() throws {
    try withProgram { program in
      try Fixture.fill(program)
      #expect(try program.run(["search", "!"]).status == 64)
    }
  }
}
