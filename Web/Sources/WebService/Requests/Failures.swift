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

/// Answers requests that the gate refuses, and all other failures that have no screen.
///
/// The page shows nothing of the store, because a stranger may get it. It shows the fields that the browser sent, to be
/// sent again.
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
      guard !request.wantsJSON else { return try failure.json }
      // The gate has not read the body.
      let isKept = failure.status == .unauthorized && request.method == .post && request.hasForm
      let form = isKept ? try? await request.form(ofAtMost: Self.longestKeptFormInBytes) : nil
      var content = failure.content
      content["version"] = service.assetVersion
      content["again"] = form.flatMap { $0.contentToSendAgain(to: request.uri.path) }
      return failure.answer(try service.renderer.html("failure", content))
    }
  }

  /// The limit keeps strangers from filling the memory.
  private static let longestKeptFormInBytes = 1 << 20
}

/// Turns each error of a route into a failure with words; an `HTTPError` would become an answer without any.
struct FailureWords: RouterMiddleware {
  func handle(
    _ request: Request, context: BasicRequestContext,
    next: (Request, BasicRequestContext) async throws -> Response
  ) async throws -> Response {
    do { return try await next(request, context) } catch { throw Failure(error) }
  }
}

/// The refusal of the value of a field of a form.
struct FieldRefusal: Error {
  let field: String
  let cause: any Error
}

/// Runs a body that reads or writes a field, and adds the field's name to an error.
@discardableResult
func refusing<Value>(_ field: String, _ body: () throws -> Value) throws -> Value {
  do {
    return try body()
  } catch let refusal as FieldRefusal {
    throw refusal
  } catch {
    throw FieldRefusal(field: field, cause: error)
  }
}

/// An error as a person reads it.
struct Failure: Error {
  let status: HTTPResponse.Status
  let message: String
  let remedy: String
  /// The field of the form beside which the words are shown.
  private(set) var field: String?
  /// Headers of the answer, such as `Retry-After`.
  private(set) var headers: HTTPFields = [:]

  init(_ error: any Error) {
    switch error {
    case let failure as Failure: self = failure
    case let refusal as FieldRefusal:
      self.init(refusal.cause)
      field = refusal.field
    case let error as TallyError where error.code == .cancelled:
      self.init(.serviceUnavailable, "Tally stops, and this was cut off", "Start tally-web again, and try again")
    case let error as TallyError:
      self.init(Self.status(of: error.code), error.message, error.remedy)
    case let error as HTTPError:
      let message = error.body ?? (error.status == .notFound ? "The screen is unknown." : error.status.reasonPhrase)
      self.init(
        error.status, message.hasSuffix(".") ? String(message.dropLast()) : message, Self.remedy(of: error.status))
      headers = error.headers
    default:
      self.init(.internalServerError, "The screen failed", "Try again; if it fails again, see what the program printed")
    }
  }

  private init(_ status: HTTPResponse.Status, _ message: String, _ remedy: String) {
    (self.status, self.message, self.remedy) = (status, message, remedy)
  }

  private static func remedy(of status: HTTPResponse.Status) -> String {
    switch status {
    case .notFound: "Choose another screen, or search"
    case .unauthorized: "The address has changed if Tally was started again"
    case .contentTooLarge: "Send less at once, or import it with the command line"
    case .serviceUnavailable: "Try again in a moment"
    case .forbidden, .misdirectedRequest: "Use the address that Tally printed"
    default: "Change it, and send it again"
    }
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

extension Failure {
  /// The message and the remedy as sentences.
  var words: String { "\(message). \(remedy)." }

  /// The content of `failure.mustache` and `refused.mustache`.
  var content: [String: Any] {
    ["title": status == .notFound ? "Nothing is here" : "This did not work", "message": message, "remedy": remedy]
  }

  /// The answer for a script.
  var json: Response {
    get throws {
      var words = ["failure": message, "remedy": remedy]
      words["field"] = field
      var response = try Response.json(words, status: status)
      for header in headers { response.headers[header.name] = header.value }
      return response
    }
  }

  /// The answer for a person.
  func answer(_ html: String) -> Response {
    var response = Response.html(html, status: status)
    for header in headers { response.headers[header.name] = header.value }
    return response
  }
}
