import Foundation
import TallyCommands

TallyCommandLine.prepareProcess()
exit(
  TallyCommandLine.run(
    Invocation(
      arguments: Array(CommandLine.arguments.dropFirst()),
      environment: ProcessInfo.processInfo.environment
    )
  )
)
