// Causes faults and checks that no acknowledged write is lost: `TallyFaults [--short] [SUITE …]`.
// Without a suite all of them run. The suites start `TallyFaults act NAME …` as processes of their own.

import Foundation

do {
  try FaultProgram(Array(CommandLine.arguments.dropFirst())).run()
} catch {
  say("failed: \(error)")
  exit(1)
}
