import ArgumentParser
import Foundation

/// What the argument parser knows of a command, as far as completion needs it.
struct CommandDescription: Decodable {
  struct Argument: Decodable {
    enum Kind: String, Decodable {
      case positional, option, flag
    }

    struct Name: Decodable {
      let kind: String
      let name: String

      var spelling: String { (kind == "long" ? "--" : "-") + name }
    }

    let kind: Kind
    let shouldDisplay: Bool
    let isRepeating: Bool
    let names: [Name]?
    let valueName: String?
    let allValues: [String]?
    let abstract: String?

    /// The names with their dashes, the long ones first.
    var spellings: [String] { (names ?? []).map(\.spelling).sorted { $0.count > $1.count } }
  }

  let arguments: [Argument]?

  private struct Root: Decodable {
    let command: CommandDescription
  }

  /// The description of one command, without those above it.
  ///
  /// The parser gives it as JSON only; that of one command takes a fraction of a millisecond.
  static func arguments(of command: any ParsableArguments.Type) -> [Argument] {
    let json = Data(command._dumpHelp().utf8)
    return (try? JSONDecoder().decode(Root.self, from: json))?.command.arguments?.filter(\.shouldDisplay) ?? []
  }
}
