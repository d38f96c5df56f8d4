import Foundation
import TallyCommands

TallyCommandLine.installSignalHandlers()
exit(
  TallyCommandLine.run(
    Invocation(
      arguments: Array(CommandLine.arguments.dropFirst()),
      environment: ProcessInfo.processInfo.environment
    )
  )
)
