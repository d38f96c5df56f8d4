public import ArgumentParser
public import TallyFormats

extension DocumentFormat: ExpressibleByArgument {
  static let help = ArgumentHelp(
    "The format. Default: by the file's extension; an import also looks at the contents.", valueName: "format")
}
