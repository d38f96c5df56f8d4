import ArgumentParser
import SystemPackage
import Tally
import TallySystem

/// The command line as a library: the program `tally` passes its arguments to it.
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
    } catch let needed as NeedsCompanion {
      try? output.flush()
      let arguments = needed.arguments ?? invocation.arguments
      return report(needed.program.replaceThisProcess(arguments, invocation.environment), of: invocation)
    } catch {
      // Output from before the failure is printed; a second failure would add nothing.
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
    if PlainArguments.isVersion(invocation.arguments) { return try output.write(version + "\n") }
    if invocation.arguments.first == ShellCompletion.command {
      return try output.write(ShellCompletion(invocation).lines())
    }
    if let script = try CompletionScript(askedForBy: invocation.arguments, environment: invocation.environment) {
      return try output.write(script.text)
    }
    let settings = Result { try Settings(of: invocation.environment) }
    if let help = StartHelp(askedForBy: invocation.arguments) {
      output.isASCII = invocation.isASCII
      return try output.write(help.text(width: invocation.outputWidth ?? 80))
    }
    // Help does not depend on settings, so that a broken file does not keep anyone from reading how to repair it.
    let isQuestion = GlobalOptions.areQuestion(invocation.arguments)
    let arguments = try (isQuestion ? (try? settings.get()) ?? Settings() : settings.get()).expanding(
      invocation.arguments)
    guard let command = try parse(arguments, invocation, output) else { return }
    let session = try Session(
      options: command.global, settings: settings.get(), commandName: command.words.joined(separator: " "),
      countsWeeks: command.own.countsWeeks,
      invocation: invocation, output: output)
    do {
      try command.own.run(in: session)
    } catch let needed as NeedsCompanion {
      throw needed
    } catch {
      throw CommandFailure(error).offeringCommand(in: invocation.arguments) {
        session.line(running: $0)
      } where: { name in
        (try? session.read { try $0.taskIDs(withHandle: name, limit: 2).count == 1 }) ?? false
      }
    }
  }

  /// The command that the arguments name; `nil` if they ask for help, the version or a completion script, which is
  /// printed here.
  private static func parse(
    _ arguments: [String], _ invocation: Invocation, _ output: BufferedOutput
  ) throws -> ParsedCommand? {
    let words = try ManyWords(FilterOptions.spelledOut(StartHelp.withoutAll(arguments)))
    if let command = RootCommand.commandAlone(from: words.few) { return try validated(words.completing(command)) }
    do {
      var command = try RootCommand.parseAsRoot(words.few)
      if let command = command as? any CompleteCommand { return try validated(words.completing(command.parsed)) }
      if let failure = CommandFailure.unknownCommand(in: arguments) { throw failure }
      try command.run()
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      let width = invocation.outputWidth ?? 80
      let isNarrow = width < narrowest
      let message = RootCommand.fullMessage(for: error, columns: isNarrow ? Int(Int16.max) : width)
      // The parser also throws texts that it wants printed. Asking it for the exit code would make it lay out the help
      // for the terminal, which may be too narrow for its two columns.
      guard !message.hasPrefix("Error: ") else { throw CommandFailure(parsing: error, arguments: words.few) }
      output.isASCII = invocation.isASCII
      let text = isNarrow ? message.helpWrapped(toWidth: width) : message
      let isOfCommand = message.contains("\nUSAGE: ") && !message.contains("\n  --store <dir>")
      let line =
        isOfCommand
        ? GlobalOptions.helpLine.wrapped(toWidth: width, cuttingWords: false).joined(separator: "\n") + "\n" : ""
      try output.write(text + "\n" + line)
    }
    return nil
  }

  /// The least number of columns in which the two columns of the parser's help have room.
  private static let narrowest = 52

  private static func validated(_ command: ParsedCommand) throws -> ParsedCommand {
    try CommandFailure.replacing({ CommandFailure(refusing: command, $0) }) {
      try command.own.validate(with: command.global)
    }
    return command
  }

  private static func report(_ failure: CommandFailure, of invocation: Invocation) -> Int32 {
    if failure.status != .success {
      // If even the error cannot be written, only the status is left.
      let text = invocation.wantsJSONErrors ? failure.json : Array(invocation.message(failure.text).utf8)
      _ = try? invocation.errorOutput.writeAll(text)
    }
    return failure.status.rawValue
  }
}
