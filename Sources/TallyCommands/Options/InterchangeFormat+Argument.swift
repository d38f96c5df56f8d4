public import ArgumentParser
import SystemPackage
public import Tally

extension InterchangeFormat: ExpressibleByArgument {
  static let help = ArgumentHelp(
    "ndjson is one task object per line. Default: by the file's extension, else json.", valueName: "format")

  /// The format of a file by its extension, else `json`.
  init(of file: String?) {
    self = ["ndjson", "jsonl"].contains(file.flatMap { FilePath($0).extension }?.lowercased()) ? .ndjson : .json
  }
}
