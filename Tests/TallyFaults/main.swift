// Causes faults and looks whether anything acknowledged is lost: `TallyFaults [--short] [SUITE …]`.
// Without a suite all of them run. `TallyFaults act NAME …` is what the suites start as processes of their own.

import Foundation

do {
  try FaultProgram(Array(CommandLine.arguments.dropFirst())).run()
} catch {
  say("failed: \(error)")
  exit(1)
}
