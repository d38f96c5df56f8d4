// Runs one act of another process for the tests of Tally: `TallyTestHelper ACT DIRECTORY [NUMBER …]`.
// It prints what it saw, a line each; an error that was not expected is printed too and ends it with 1.

import Foundation

do {
  try Act(CommandLine.arguments.dropFirst()).run()
} catch {
  say("failed: \(error)")
  exit(1)
}
