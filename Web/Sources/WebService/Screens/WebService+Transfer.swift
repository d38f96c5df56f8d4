import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle
import SystemPackage
import Tally
import TallyFormats

extension WebService {
  func addTransferRoutes(to router: Router<BasicRequestContext>) {
    router.get("transfer") { [self] request, _ in
      try page("transfer", title: "Export and import", for: request) { _ in Self.formats }
    }
    router.get("export") { [self] request, _ in try await export(request) }
    router.post("import") { [self] request, _ in try await importFile(request) }
    router.post("import-text") { [self] request, _ in
      let form = try await request.form()
      let file = try TemporaryFile()
      try file.append(Array((form["text"] ?? "").utf8))
      var (content, change): ([String: Any], ChangeID?) = ([:], nil)
      do {
        let wanted = try ImportRequest(form)
        let outcome = try await finishingSoonWhenStopped {
          try await self.importDocument(in: file, wanted) { _ in }
        }
        content["outcome"] = outcome.words
        change = outcome.change
      } catch let error as TallyError where error.code == .irreversible {
        content = ["outcome": Self.question(error), "isAsked": true, "text": form["text"] ?? ""]
      } catch {
        throw FieldRefusal(field: "text", cause: error)
      }
      return try page("transfer", title: "Export and import", for: request) { [content, change] transaction in
        var content = Self.formats.merging(content) { $1 }
        if let change { content["notice"] = try notice(of: change, back: "/transfer", in: transaction) }
        return content
      }
    }
  }

  private static var formats: [String: Any] {
    func choices(_ formats: [DocumentFormat], _ form: Form?) -> [[String: Any]] {
      formats.map {
        [
          "value": $0.rawValue, "name": "\($0.rawValue) (.\($0.fileExtension))",
          "selected": $0.rawValue == form?["format"],
        ]
      }
    }
    let typed = RefusedForm.typed("import")
    return [
      "exports": choices(DocumentFormat.allCases.filter(\.isExported), RefusedForm.typed("export")),
      "imports": choices(DocumentFormat.allCases, typed), "text": typed?["text"] ?? "",
      "isDryRun": typed?["dry"] == "yes",
    ]
  }
}

/// The options of an import, as a form sends them.
private struct ImportRequest: Sendable {
  /// `nil` to guess it from the document.
  let format: DocumentFormat?
  let isDryRun: Bool
  /// Whether to import even if that cannot be undone.
  let isConfirmed: Bool

  init(_ form: Form) throws {
    format = try DocumentFormat(form: form.text("format"))
    (isDryRun, isConfirmed) = (form["dry"] == "yes", form["confirmed"] == "yes")
  }
}

extension DocumentFormat {
  /// The format that a form names; `nil` if it names none.
  fileprivate init?(form name: String?) throws {
    guard let name else { return nil }
    guard let format = DocumentFormat(rawValue: name) else {
      throw HTTPError(.badRequest, message: "The format is unknown.")
    }
    self = format
  }
}

extension WebService {
  /// A document to download, written to a file first, so that the browser knows its size and shows its progress.
  func export(_ request: Request) async throws -> Response {
    let query = try request.query()
    let format = try DocumentFormat(form: query.text("format")) ?? .json
    let filter = try query.text("filter").map { text in try refusing("filter") { try TaskFilter(text: text) } }
    let file = try TemporaryFile()
    let size: Int
    do {
      size = try await finishingSoonWhenStopped { [store] in
        try await TaskStore.perform {
          try store.export(to: file.descriptor, as: format, matching: filter)
          return try file.size()
        }
      }
    } catch let error as TallyError where filter != nil && [.listNotFound, .unknownList].contains(error.code) {
      throw FieldRefusal(field: "filter", cause: error)
    }
    let day = try store.read(by: DayRules(request)) { $0.today }
    return Response(
      status: .ok,
      headers: [
        .contentType: "application/octet-stream",
        .contentDisposition: "attachment; filename=\"\(format.defaultFileName(on: day))\"",
      ],
      body: ResponseBody(contentLength: size) { writer in
        var position = 0
        while position < size {
          let bytes = try file.bytes(at: position, count: 1 << 16)
          if bytes.isEmpty { break }
          position += bytes.count
          try await writer.write(ByteBuffer(bytes: bytes))
        }
        try await writer.finish(nil)
      })
  }

  /// The largest document; a larger one is for the command line.
  static let longestDocumentInBytes = 256 << 20

  /// Receives a document as the body, and answers line by line with the progress, then with the words of the outcome.
  private func importFile(_ request: Request) async throws -> Response {
    let wanted = try ImportRequest(try request.query())
    let file = try await received(request)
    // If the answer was lost, the file is sent again with the same key, and not imported twice.
    let key = try request.query().text("key")
    let (steps, continuation) = AsyncStream.makeStream(of: ImportStep.self, bufferingPolicy: .bufferingNewest(1))
    // The import continues if the browser leaves: all of the document is imported, or nothing.
    let work = Task { [self] in
      let end = await imports.answer(to: key) { [self] in
        await outcome(of: file, wanted) { continuation.yield(.progress($0)) }
      }
      continuation.yield(.end(end))
      continuation.finish()
    }
    let body = ResponseBody { writer in
      try await finishingSoonWhenStopped(of: work) {
        continuation.yield(.end(["failure": "Tally stops, and the import was cut off: see whether it is there."]))
        continuation.finish()
      } waiting: {
        for await step in steps {
          switch step {
          case .progress(let share): try await writer.write(Self.line(["progress": "\(share)"]))
          case .end(let values): try await writer.write(Self.line(values))
          }
        }
      }
      try await writer.finish(nil)
    }
    return Response(status: .ok, headers: [.contentType: "application/x-ndjson"], body: body)
  }

  /// The last line of an import.
  private func outcome(
    of file: TemporaryFile, _ wanted: ImportRequest, progress: @escaping @Sendable (Double) -> Void
  ) async -> [String: String] {
    do {
      let (words, change) = try await importDocument(in: file, wanted, progress: progress)
      return ["words": words].merging(change.map { ["change": $0.text] } ?? [:]) { own, _ in own }
    } catch let error as TallyError where error.code == .irreversible {
      return ["question": Self.question(error)]
    } catch let error as TallyError where error.code == .cancelled {
      return ["failure": "Tally stops: the import was cut off, and nothing was imported."]
    } catch {
      let failure = Failure(error)
      return ["failure": "\(failure.message). \(failure.remedy)."]
    }
  }

  private enum ImportStep {
    case progress(Double)
    case end([String: String])
  }

  /// The body of a request, in a file.
  private func received(_ request: Request) async throws -> TemporaryFile {
    if let length = request.headers[.contentLength].flatMap(Int.init), length > Self.longestDocumentInBytes {
      throw HTTPError(.contentTooLarge, headers: [.connection: "close"], message: "The document is too large.")
    }
    let file = try TemporaryFile()
    var count = 0
    for try await buffer in request.body {
      count += buffer.readableBytes
      guard count <= Self.longestDocumentInBytes else {
        throw HTTPError(.contentTooLarge, headers: [.connection: "close"], message: "The document is too large.")
      }
      try file.append(Array(buffer.readableBytesView))
    }
    return file
  }

  /// The question before an import that could not be undone.
  private static func question(_ error: TallyError) -> String {
    "\(error.message). Nothing is imported yet: tick “Import although it cannot be undone”, and import again."
  }

  private static func line(_ values: [String: String]) throws -> ByteBuffer {
    ByteBuffer(bytes: try JSONEncoder().encode(values) + [UInt8(ascii: "\n")])
  }

  /// Imports a document in one transaction; returns the words of the outcome, and the change that can be undone.
  private func importDocument(
    in file: TemporaryFile, _ wanted: ImportRequest, progress: @escaping @Sendable (Double) -> Void
  ) async throws -> (words: String, change: ChangeID?) {
    let action = "tally-web import"
    let options = ImportOptions(
      isDryRun: wanted.isDryRun, actionName: action, mustBeUndoable: !wanted.isConfirmed)
    let (summary, change) = try await findingChange(named: action) {
      try await TaskStore.perform { [store] in
        try file.rewind()
        return try store.importDocument(
          from: file.descriptor, as: wanted.format, options: options,
          progress: { step in
            if let total = step.totalByteCount, total > 0 { progress(Double(step.byteCount) / Double(total)) }
          })
      }
    }
    let counts = summary.tasks
    let words = [
      "\(counts.added.counted("task")) added", "\(counts.changed) changed", "\(counts.unchanged) unchanged",
      counts.keptNewer > 0 ? "\(counts.keptNewer) newer here" : nil,
      summary.lists.added > 0 ? "\(summary.lists.added.counted("list")) added" : nil,
    ].compactMap(\.self)
    let prefix = wanted.isDryRun ? "Nothing is changed yet; this would be: " : ""
    let account = summary.account.map { remark in
      let line = remark.line.map { " in line \($0)" } ?? ""
      return " Not understood: \(remark.count) × \(remark.kind), first “\(remark.example)”\(line)."
    }
    return (prefix + words.joined(separator: ", ") + "." + account.joined(), change)
  }
}
