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
      var content: [String: Any] = [:]
      do {
        content["outcome"] = try await cancelWhenGracefulShutdown {
          try await self.importDocument(in: file, try ImportRequest(form)) { _ in }
        }
      } catch let error as TallyError where error.code == .irreversible {
        content = ["outcome": Self.question(error), "isAsked": true, "text": form["text"] ?? ""]
      }
      return try page("transfer", title: "Export and import", for: request) { [content] _ in
        Self.formats.merging(content) { $1 }
      }
    }
  }

  private static var formats: [String: Any] {
    func choices(_ formats: [DocumentFormat]) -> [[String: String]] {
      formats.map { ["value": $0.rawValue, "name": "\($0.rawValue) (.\($0.fileExtension))"] }
    }
    return [
      "exports": choices(DocumentFormat.allCases.filter(\.isExported)), "imports": choices(DocumentFormat.allCases),
    ]
  }
}

/// What a form says about an import.
private struct ImportRequest: Sendable {
  /// `nil` to guess it from the document.
  let format: DocumentFormat?
  let isDryRun: Bool
  /// Whether to go ahead although the import could not be undone.
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
  /// A document to download: written to a file first, so that the browser knows its size and shows its progress.
  func export(_ request: Request) async throws -> Response {
    let query = try request.query()
    let format = try DocumentFormat(form: query.text("format")) ?? .json
    let filter = try query.text("filter").map { try TaskFilter(text: $0) }
    let file = try TemporaryFile()
    let size = try await TaskStore.perform { [store] in
      try store.export(to: file.descriptor, as: format, matching: filter)
      return try file.size()
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

  /// Receives a document as the body, and answers line by line: how much is done, then the words of the outcome.
  private func importFile(_ request: Request) async throws -> Response {
    let wanted = try ImportRequest(try request.query())
    let file = try await received(request)
    let (steps, continuation) = AsyncStream.makeStream(of: ImportStep.self, bufferingPolicy: .bufferingNewest(1))
    // Goes on if the browser leaves: all of the document or nothing.
    let work = Task {
      do {
        let words = try await importDocument(in: file, wanted) { continuation.yield(.progress($0)) }
        continuation.yield(.end(["words": words]))
      } catch let error as TallyError where error.code == .irreversible {
        continuation.yield(.end(["question": Self.question(error)]))
      } catch let error as TallyError where error.code == .cancelled {
        continuation.yield(.end(["failure": "Tally stops: the import was cut off, and nothing was imported."]))
      } catch {
        let failure = Failure(error)
        continuation.yield(.end(["failure": "\(failure.message). \(failure.remedy)."]))
      }
      continuation.finish()
    }
    let body = ResponseBody { writer in
      // A program that stops does not wait for a long import, which is rolled back.
      try await withGracefulShutdownHandler {
        for await step in steps {
          switch step {
          case .progress(let share): try await writer.write(Self.line(["progress": "\(share)"]))
          case .end(let values): try await writer.write(Self.line(values))
          }
        }
      } onGracefulShutdown: {
        work.cancel()
      }
      try await writer.finish(nil)
    }
    return Response(status: .ok, headers: [.contentType: "application/x-ndjson"], body: body)
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

  /// What to ask before an import that could not be undone.
  private static func question(_ error: TallyError) -> String {
    "\(error.message). Nothing is imported yet: tick “Import although it cannot be undone”, and import again."
  }

  private static func line(_ values: [String: String]) throws -> ByteBuffer {
    ByteBuffer(bytes: try JSONEncoder().encode(values) + [UInt8(ascii: "\n")])
  }

  /// Imports a document in one transaction, and says in words what that did.
  private func importDocument(
    in file: TemporaryFile, _ wanted: ImportRequest, progress: @escaping @Sendable (Double) -> Void
  ) async throws -> String {
    let options = ImportOptions(
      isDryRun: wanted.isDryRun, actionName: "tally-web import", mustBeUndoable: !wanted.isConfirmed)
    let summary = try await TaskStore.perform { [store] in
      try store.importDocument(
        from: file.path, as: wanted.format, options: options,
        progress: { step in
          if let total = step.totalByteCount, total > 0 { progress(Double(step.byteCount) / Double(total)) }
        })
    }
    let counts = summary.tasks
    let words = [
      "\(counts.added.counted("task")) added", "\(counts.changed) changed", "\(counts.unchanged) unchanged",
      counts.keptNewer > 0 ? "\(counts.keptNewer) newer here" : nil,
      summary.lists.added > 0 ? "\(summary.lists.added.counted("list")) added" : nil,
    ].compactMap(\.self)
    return (wanted.isDryRun ? "Nothing is changed yet; this would be: " : "") + words.joined(separator: ", ") + "."
  }
}
