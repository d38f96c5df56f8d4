import ArgumentParser
import SystemPackage
import Tally

/// A format of exports and imports, as an argument.
enum FormatArgument: String, CaseIterable, ExpressibleByArgument {
  case json, ndjson

  static let help = ArgumentHelp(
    "ndjson is one task object per line. Default: by the file's extension, else json.",
    valueName: "format"
  )

  /// The format asked for, else the one of the file's extension, else `json`.
  static func chosen(_ argument: FormatArgument?, for file: String?) -> InterchangeFormat {
    switch argument {
    case .json: .json
    case .ndjson: .ndjson
    case nil: ["ndjson", "jsonl"].contains(file.flatMap { FilePath($0).extension }?.lowercased()) ? .ndjson : .json
    }
  }
}
