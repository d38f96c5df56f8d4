import ArgumentParser
import SystemPackage
import Tally

/// The command line as a library: what the program `tally` does with its arguments.
public enum TallyCommandLine {
  /// The version `tally --version` prints.
  public static let version = TaskStore.libraryVersion

  /// Runs the program and returns its exit status.
  public static func run(_ invocation: Invocation) -> Int32 {
    let output = BufferedOutput(invocation.output)
    do {
      try execute(invocation, output)
      try output.flush()
      return ExitStatus.success.rawValue
    } catch {
      // Output from before the failure still counts; a second failure would add nothing.
      try? output.flush()
      return report(CommandFailure(error), of: invocation)
    }
  }

  /// Prepares the process, which only a program may do: signal handlers, and standard streams that are closed.
  ///
  /// Call it once, before anything opens a file.
  public static func prepareProcess() {
    StandardDescriptors.occupyClosed()
    Signals.install()
  }
}

extension TallyCommandLine {
  private static func execute(_ invocation: Invocation, _ output: BufferedOutput) throws {
    guard invocation.areArgumentsIntact else {
      throw CommandFailure.usage(
        "An argument is not UTF-8", remedy: "Convert it, for example with 'iconv -t UTF-8'; nothing was done")
    }
    guard let command = try parse(invocation, output) else { return }
    try command.own.run(in: Session(options: command.global, invocation: invocation, output: output))
  }

  /// The command that the arguments name; `nil` if they ask for help, the version or a completion script, which is
  /// printed here.
  private static func parse(_ invocation: Invocation, _ output: BufferedOutput) throws -> (any CompleteCommand)? {
    do {
      var command = try RootCommand.parseAsRoot(invocation.arguments)
      if let command = command as? any CompleteCommand { return command }
      if let failure = CommandFailure.unknownCommand(in: invocation.arguments) { throw failure }
      try command.run()
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      // The parser reports what it wants printed as an error, too.
      guard RootCommand.exitCode(for: error) == .success else {
        throw CommandFailure(parsing: error, arguments: invocation.arguments)
      }
      try output.write(RootCommand.fullMessage(for: error, columns: invocation.outputWidth ?? 80) + "\n")
    }
    return nil
  }

  private static func report(_ failure: CommandFailure, of invocation: Invocation) -> Int32 {
    if failure.status != .success {
      // If even the error cannot be written, only the status is left.
      _ = try? invocation.errorOutput.writeAll(invocation.wantsJSONErrors ? failure.json : Array(failure.text.utf8))
    }
    return failure.status.rawValue
  }
}
