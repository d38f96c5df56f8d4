import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization
import SystemPackage
import Tally
import TallyFormats

extension WebService {
  func addTransferRoutes(to router: Router<BasicRequestContext>) {
    router.get("transfer") { [self] request, _ in
      try page("transfer", title: "Export and import", for: request, Self.formats)
    }
    router.get("export") { [self] request, _ in try await export(try request.query()) }
    router.post("import") { [self] request, _ in try await importFile(request) }
    router.post("import-text") { [self] request, _ in
      let form = try await request.form()
      let file = try TemporaryFile()
      defer { file.remove() }
      try file.append(Array((form["text"] ?? "").utf8))
      let words = try await importDocument(in: file, as: form.text("format"), isDryRun: form["dry"] == "yes") { _ in }
      var content = Self.formats
      content["outcome"] = words
      return try page("transfer", title: "Export and import", for: request, content)
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

  private static func format(_ name: String?) throws -> DocumentFormat? {
    try name.map { name in
      guard let format = DocumentFormat(rawValue: name) else {
        throw HTTPError(.badRequest, message: "The format is unknown.")
      }
      return format
    }
  }
}

extension WebService {
  /// A document to download: written to a file first, so that the browser knows its size and shows its progress.
  private func export(_ query: Form) async throws -> Response {
    let format = try Self.format(query.text("format")) ?? .json
    let filter = try query.text("filter").map { try TaskFilter(text: $0) }
    let file = try TemporaryFile()
    do {
      let size = try await TaskStore.perform { [store] in
        try store.export(to: file.descriptor, as: format, matching: filter)
        return try file.size()
      }
      let day = try store.read { $0.today }
      return Response(
        status: .ok,
        headers: [
          .contentType: "application/octet-stream",
          .contentDisposition: "attachment; filename=\"\(format.defaultFileName(on: day))\"",
        ],
        body: ResponseBody(contentLength: size) { writer in
          defer { file.remove() }
          var position = 0
          while position < size {
            let bytes = try file.bytes(at: position, count: 1 << 16)
            if bytes.isEmpty { break }
            position += bytes.count
            try await writer.write(ByteBuffer(bytes: bytes))
          }
          try await writer.finish(nil)
        })
    } catch {
      file.remove()
      throw error
    }
  }

  /// The largest document; a larger one is for the command line.
  static let longestDocumentInBytes = 256 << 20

  /// Receives a document as the body, and answers line by line: how much is done, then the words of the outcome.
  private func importFile(_ request: Request) async throws -> Response {
    let query = try request.query()
    let (format, isDryRun) = (query.text("format"), query["dry"] == "yes")
    if let length = request.headers[.contentLength].flatMap(Int.init), length > Self.longestDocumentInBytes {
      throw HTTPError(.contentTooLarge, headers: [.connection: "close"], message: "The document is too large.")
    }
    let file = try TemporaryFile()
    do {
      var count = 0
      for try await buffer in request.body {
        count += buffer.readableBytes
        guard count <= Self.longestDocumentInBytes else {
          throw HTTPError(.contentTooLarge, headers: [.connection: "close"], message: "The document is too large.")
        }
        try file.append(Array(buffer.readableBytesView))
      }
    } catch {
      file.remove()
      throw error
    }
    let (progress, continuation) = AsyncStream.makeStream(of: Double.self, bufferingPolicy: .bufferingNewest(1))
    // Goes on if the browser leaves: all of the document or nothing.
    let outcome = Task {
      defer {
        continuation.finish()
        file.remove()
      }
      return try await importDocument(in: file, as: format, isDryRun: isDryRun) { continuation.yield($0) }
    }
    let body = ResponseBody { writer in
      for await share in progress { try await writer.write(Self.line(["progress": "\(share)"])) }
      do {
        try await writer.write(Self.line(["words": try await outcome.value]))
      } catch {
        let failure = Failure(error)
        try await writer.write(Self.line(["failure": "\(failure.message). \(failure.remedy)."]))
      }
      try await writer.finish(nil)
    }
    return Response(status: .ok, headers: [.contentType: "application/x-ndjson"], body: body)
  }

  private static func line(_ values: [String: String]) throws -> ByteBuffer {
    ByteBuffer(bytes: try JSONEncoder().encode(values) + [UInt8(ascii: "\n")])
  }

  /// Imports a document in one transaction, and says in words what that did.
  private func importDocument(
    in file: TemporaryFile, as format: String?, isDryRun: Bool, progress: @escaping @Sendable (Double) -> Void
  ) async throws -> String {
    let known = try Self.format(format)
    let summary = try await TaskStore.perform { [store] in
      try store.importDocument(
        from: file.path, as: known, options: ImportOptions(isDryRun: isDryRun, actionName: "tally-web import"),
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
    return (isDryRun ? "Nothing is changed yet; this would be: " : "") + words.joined(separator: ", ") + "."
  }
}
