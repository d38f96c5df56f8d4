import ArgumentParser
import Foundation

@testable import TallyCommands

/// The description that the parser gives of a command.
private struct ParserDescription: Decodable {
  struct Command: Decodable {
    let arguments: [Argument]?
  }

  struct Argument: Decodable {
    struct Name: Decodable {
      let kind: String
      let name: String
    }

    let kind: CommandDescription.Argument.Kind
    let shouldDisplay: Bool
    let isRepeating: Bool
    let isOptional: Bool
    let defaultValue: String?
    let names: [Name]?
    let valueName: String?
    let allValues: [String]?
    let abstract: String?
  }

  let command: Command
}

extension CommandDescription {
  /// The descriptions of all commands as the parser gives them, those of the program first.
  static func fromParser() throws -> [CommandDescription] {
    let program = CommandDescription(
      path: [], abstract: RootCommand.configuration.abstract, arguments: try arguments(of: GlobalOptions.self))
    let commands = try RootCommand.allCommands.map { path, command in
      CommandDescription(
        path: path, abstract: command.configuration.abstract, arguments: try arguments(of: command))
    }
    return [program] + commands
  }

  private static func arguments(of command: any ParsableArguments.Type) throws -> [Argument] {
    let description = try JSONDecoder().decode(ParserDescription.self, from: Data(command._dumpHelp().utf8))
    return (description.command.arguments ?? []).filter(\.shouldDisplay).map { argument in
      Argument(
        kind: argument.kind, isRepeating: argument.isRepeating, isRequired: !argument.isOptional,
        defaultValue: argument.kind == .flag ? nil : argument.defaultValue,
        spellings: (argument.names ?? []).map { ($0.kind == "long" ? "--" : "-") + $0.name }
          .sorted { $0.count > $1.count },
        valueName: argument.kind == .flag ? "" : argument.valueName ?? "", values: argument.allValues ?? [],
        abstract: argument.abstract ?? "")
    }
  }
}
