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
  /// The lines of the table, without the argument that every command has.
  var lines: [String] {
    ["\(path.joined(separator: " ")): \(abstract)"] + ownArguments.map { "  " + $0.line }
  }

  /// The lines of the groups of options that several commands have.
  static func groupsFromParser() throws -> [(name: String, lines: [String])] {
    let groups: [any ParsableArguments.Type] = [
      ViewOptions.self, FieldOptions.self, TaskSelection.self, CompletionOptions.self, QueryOptions.self,
    ]
    return try groups.map { group in
      let own = CommandDescription(path: [], abstract: "", arguments: try arguments(of: group)).ownArguments
      return ("\(group)", own.map { "  " + $0.line })
    }
  }

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

extension CommandDescription.Argument {
  /// The argument in a line of the table.
  fileprivate var line: String {
    let fields = [
      kind.rawValue + (isRequired ? "!" : "") + (isRepeating ? "*" : "") + (defaultValue.map { "=" + $0 } ?? ""),
      spellings.joined(separator: " "), valueName,
      values.joined(separator: " "), abstract,
    ]
    return fields.joined(separator: " | ")
  }
}
