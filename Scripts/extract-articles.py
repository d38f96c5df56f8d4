#!/usr/bin/env python3
"""Creates three packages from the documentation's Swift code, for the compiler to check, and compares their output.

usage: extract-articles.py FOLDER            creates the packages in a folder
       extract-articles.py FOLDER --verify   compares the articles' output, FOLDER/articles.log, with their promises

`app` is the code of the article "Getting started", word for word. `articles` contains the code of the other articles, one
function each, and that of the documentation comments, one function per example. `readme` is the README's example of
records in a `main.swift`, in a function and in an `@main` type, and its example of tasks. The compiler's errors name the
line in the documentation.

A line `print(…)  // RESULT` of an article promises its output; text after a colon and a blank is explanation.
"""

import argparse
import pathlib
import re
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
# The articles about records have types of their own, and open their stores themselves.
RECORDS_CATALOGUE = "Sources/TallyEngine/TallyEngine.docc"
CATALOGUES = ["Sources/LMDB/LMDB.docc", "Sources/Tally/Tally.docc", RECORDS_CATALOGUE]
# The beginning of code that cannot be inside a function.
DECLARATION = re.compile(r"import |@\w+\n|extension |(public |final )*(class|actor|protocol) ")
IMPORTS = "import Foundation\nimport LMDB\nimport SystemPackage\nimport Tally\n"
RECORDS_IMPORTS = "import Foundation\nimport TallyEngine\n"
# The values that the examples of documentation comments use, by module.
COMMENT_PARAMETERS = {
    "LMDB": "_ environment: LMDBEnvironment, _ names: Database<UInt64, String>, _ words: Database<String, UInt64>, "
    "_ visits: Database<Pair<String, UInt64>, UInt64>, _ oldest: UInt64, _ digest: [UInt8], "
    "_ isObsolete: (String) -> Bool, _ transaction: inout WriteTransaction",
    "Tally": "_ store: TaskStore, _ transaction: inout StoreReadTransaction, _ id: UUID, _ deadline: Timestamp, "
    "_ fixedInstant: Timestamp, _ calendar: Calendar, _ today: CalendarDay, _ difference: ViewDifference, "
    "_ sections: [ViewSection], _ folder: URL, _ byTicket: TaskIndex, _ list: TaskList, _ tasks: [TaskItem]",
}
# The values that the articles about records use, unless they have values of these names.
RECORDS_VALUES = """let workout = Workout(sport: "run", start: .now, minutes: 30)
let (monday, year, berlin) = (Date.now - 604_800, Date.now - 31_536_000..<Date.now, TimeZone.gmt)
"""
README_MANIFEST = """// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
let package = Package(
  name: "Readme",
  platforms: [.macOS("26.0")],
  dependencies: [.package(path: "../tally", traits: [])],
  targets: ["AsMain", "InFunction", "InType"].map {
    .executableTarget(
      name: $0, dependencies: [.product(name: "TallyEngine", package: "tally")],
      // An application's type may be of the main actor, as everything is that it does not mark.
      swiftSettings: settings + ($0 == "InType" ? [.defaultIsolation(MainActor.self)] : []))
  } + [
    .executableTarget(name: "Tasks", dependencies: [.product(name: "Tally", package: "tally")], swiftSettings: settings)
  ]
)
"""
MANIFEST = """// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "Articles",
  platforms: [.macOS("26.0")],
  dependencies: [.package(path: "../tally", traits: [])],
  targets: [
    .executableTarget(
      name: "Articles",
      dependencies: ["LMDB", "Tally", "TallyEngine"].map { .product(name: $0, package: "tally") },
      // Documentation shows results that it does not use.
      swiftSettings: [.unsafeFlags(["-suppress-warnings"])])
  ]
)
"""
MAIN = """// Functions that the examples call.
func show(_ values: Any...) {}
func offer(_ values: Any...) {}
func refresh(_ values: Any...) {}
func apply(_ values: Any...) {}

func run(_ name: String, _ body: (URL) async throws -> Void) async throws {
  print("==", name)
  let folder = FileManager.default.temporaryDirectory.appending(path: "tally-\\(UUID().uuidString)")
  try await body(folder)
  try FileManager.default.removeItem(at: folder)
}

func run(_ name: String, _ body: (TaskStore, FilePath) async throws -> Void) async throws {
  try await run(name) { folder in
    let directory = FilePath(folder.path)
    let store = try TaskStore(at: directory.appending("store"))
    try await body(store, directory)
    try store.close()
  }
}

"""


def fences(text, language):
    """The code blocks of a language, each with the number of its first line."""
    found, lines = [], text.split("\n")
    start = None
    for number, line in enumerate(lines, 1):
        if start is None and line == f"```{language}":
            start = number + 1
        elif start is not None and line == "```":
            found.append((start, "\n".join(lines[start - 1:number - 1]) + "\n"))
            start = None
    return found


def promises(code):
    """The output that the lines of code promise."""
    return [match[1] for match in re.finditer(r"^\s*print\(.*\)  // (.*?)(?:: .*)?$", code, re.MULTILINE)]


def located(path, line, code):
    return f'#sourceLocation(file: "{REPOSITORY / path}", line: {line})\n{code}#sourceLocation()\n'


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    # An unchanged file keeps its time, so that it is not built again.
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def remove_others(folder, names):
    """Removes sources of an earlier version from a folder that is built again."""
    for path in folder.rglob("*.swift"):
        if str(path.relative_to(folder)) not in names:
            path.unlink()


def write_app(folder):
    article = (REPOSITORY / CATALOGUES[1] / "GettingStarted.md").read_text()
    code = [block for _, block in fences(article, "swift")]
    write(folder / "Package.swift", next(block for block in code if block.startswith("// swift-tools-version")))
    write(folder / "Sources/App/App.swift", next(block for block in code if "@main" in block))
    write(folder.parent / "expected-output.txt", fences(article, "text")[0][1])


def parts(code):
    """What stands outside a function of code that is separated by empty lines, and its statements."""
    found = code.split("\n\n")
    is_statement = [not re.match(r"import |struct |enum |extension |func ", part) for part in found] + [True]
    count = is_statement.index(True)
    return "".join(part + "\n\n" for part in found[:count]), "\n\n".join(found[count:])


def write_readme(folder):
    """The README's example of records, wherever an application may have such code, and its example of tasks."""
    examples = [
        (line, code) for line, code in fences((REPOSITORY / "README.md").read_text(), "swift") if code.startswith("import")]
    (line, records), (line_of_tasks, tasks) = examples
    declarations, statements = parts(records)
    outside = located("README.md", line, declarations)
    body = located("README.md", line + declarations.count("\n"), statements)
    write(folder / "Package.swift", README_MANIFEST)
    write(folder / "Sources/AsMain/main.swift", located("README.md", line, records))
    write(
        folder / "Sources/InFunction/main.swift",
        f"{outside}\nfunc countVisits() async throws {{\n{body}}}\n\ntry await countVisits()\n")
    write(
        folder / "Sources/InType/CountVisits.swift",
        f"{outside}\n@main\nstruct CountVisits {{\n  static func main() async throws {{\n{body}  }}\n}}\n")
    write(folder / "Sources/Tasks/main.swift", located("README.md", line_of_tasks, tasks))
    remove_others(
        folder / "Sources",
        ["AsMain/main.swift", "InFunction/main.swift", "InType/CountVisits.swift", "Tasks/main.swift"])


def write_article(folder, path):
    """One file for an article; the name of its function, if there are statements."""
    blocks = [
        (line, code) for line, code in fences(path.read_text(), "swift")
        if not code.startswith("// swift-tools-version") and "@main" not in code
    ]
    if not blocks:
        return None
    name = path.stem[0].lower() + path.stem[1:]
    if path.parent == REPOSITORY / RECORDS_CATALOGUE:
        divided = [(line, *parts(code)) for line, code in blocks]
        outside = [located(path, line, declarations) for line, declarations, _ in divided if declarations]
        inside = [
            located(path, line + declarations.count("\n"), statements)
            for line, declarations, statements in divided if statements]
        imports, signature = RECORDS_IMPORTS, "in folder: URL"
        body = f"{RECORDS_VALUES}do {{\n{''.join(inside)}}}\n"
    else:
        outside = [located(path, line, code) for line, code in blocks if DECLARATION.match(code)]
        inside = [located(path, line, code) for line, code in blocks if not DECLARATION.match(code)]
        imports, signature, body = IMPORTS, "_ store: TaskStore, in directory: FilePath", "".join(inside)
    text = imports + "".join(outside)
    if inside:
        text += f"\nfunc {name}({signature}) async throws {{\n{body}}}\n"
    write(folder / f"Sources/Articles/{path.stem}.swift", text)
    return name if inside else None


def write_comments(folder):
    text, count = IMPORTS, 0
    for module, parameters in COMMENT_PARAMETERS.items():
        for path in sorted((REPOSITORY / "Sources" / module).rglob("*.swift")):
            comments = "\n".join(
                re.sub(r"^ ?", "", line.strip()[3:]) if line.strip().startswith("///") else ""
                for line in path.read_text().split("\n"))
            for line, code in fences(comments, "swift"):
                count += 1
                effects = "async throws" if "await " in code else "throws"
                text += f"\nfunc example{count}({parameters}) {effects} {{\n{located(path, line, code)}}}\n"
    write(folder / "Sources/Articles/Comments.swift", text)
    return count


def articles():
    return [path for catalogue in CATALOGUES for path in sorted((REPOSITORY / catalogue).glob("*.md"))]


def extract(folder):
    write_app(folder / "app")
    package = folder / "articles"
    write(package / "Package.swift", MANIFEST)
    write_readme(folder / "readme")
    names = [name for name in (write_article(package, path) for path in articles()) if name]
    count = write_comments(package)
    calls = "".join(f'try await run("{name}", {name})\n' for name in names)
    write(package / "Sources/Articles/main.swift", IMPORTS + "\n" + MAIN + calls)
    print(f"extract-articles: {len(names)} articles, {count} examples in comments")


def verify(folder):
    printed = iter((folder / "articles.log").read_text().splitlines())
    for path in articles():
        for promise in promises("".join(code for _, code in fences(path.read_text(), "swift"))):
            if promise not in printed:
                sys.exit(f"extract-articles: {path.name} promises `{promise}`, which was not printed, or not in this order")


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("--verify", action="store_true")
arguments = parser.parse_args()
verify(arguments.folder) if arguments.verify else extract(arguments.folder)
