import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Tally

extension Response {
  /// An answer for a script.
  static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
    Response(
      status: status, headers: [.contentType: "application/json"],
      body: .init(byteBuffer: ByteBuffer(bytes: try JSONEncoder().encode(value))))
  }

  /// A page, or a part of one.
  static func html(_ html: String, status: HTTPResponse.Status = .ok) -> Response {
    Response(
      status: status, headers: [.contentType: "text/html; charset=utf-8"],
      body: .init(byteBuffer: ByteBuffer(string: html)))
  }
}

/// Answers every error with a message and a remedy: as a page for people, as JSON for scripts.
struct Failures: RouterMiddleware {
  let service: WebService

  func handle(
    _ request: Request, context: BasicRequestContext,
    next: (Request, BasicRequestContext) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch {
      let failure = Failure(error)
      if failure.status.code >= 500 { context.logger.error("\(failure.message)") }
      var response =
        request.wantsJSON
        ? try Response.json(["failure": failure.message, "remedy": failure.remedy]) : try page(failure)
      response.status = failure.status
      for header in (error as? HTTPError)?.headers ?? [:] { response.headers[header.name] = header.value }
      return response
    }
  }

  /// Without the places of a store: a stranger may get it.
  private func page(_ failure: Failure) throws -> Response {
    .html(
      try service.renderer.html(
        "failure",
        [
          "title": failure.status.reasonPhrase, "message": failure.message, "remedy": failure.remedy,
          "version": service.assetVersion,
        ]))
  }
}

/// An error as a person reads it.
struct Failure {
  let status: HTTPResponse.Status
  let message: String
  let remedy: String

  init(_ error: any Error) {
    switch error {
    case let error as TallyError where error.code == .cancelled:
      self.init(.serviceUnavailable, "Tally stops, and this was cut off", "Start tally-web again, and try again")
    case let error as TallyError:
      self.init(Self.status(of: error.code), error.message, error.remedy)
    case let error as HTTPError:
      let message = error.body ?? (error.status == .notFound ? "The screen is unknown." : error.status.reasonPhrase)
      self.init(error.status, message.hasSuffix(".") ? String(message.dropLast()) : message, "Go back, and try again")
    default:
      self.init(.internalServerError, "The screen failed", "Try again; if it fails again, see what the program printed")
    }
  }

  private init(_ status: HTTPResponse.Status, _ message: String, _ remedy: String) {
    (self.status, self.message, self.remedy) = (status, message, remedy)
  }

  private static func status(of code: TallyError.Code) -> HTTPResponse.Status {
    switch code {
    case .taskNotFound, .listNotFound, .filterNotFound: .notFound
    case .duplicateID, .undoConflict, .nothingToUndo, .nothingToRedo, .differentPlaces: .conflict
    case .diskFull: HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
    case .storeBusy, .storeSuspended, .storeClosed, .readersFull: .serviceUnavailable
    case .storageFailed, .damagedStore, .internalFault, .outcomeUnknown, .newerFormat: .internalServerError
    default: .badRequest
    }
  }
}
