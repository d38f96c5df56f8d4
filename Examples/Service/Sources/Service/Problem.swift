import Hummingbird
import Tally

/// An error as a client sees it: a code for its program, a message and a remedy for a person.
struct Problem: ResponseEncodable {
  let status: HTTPResponse.Status
  let code: String
  let message: String
  let remedy: String

  private enum CodingKeys: CodingKey { case code, message, remedy }

  init(_ error: any Error) {
    switch error {
    case let error as TallyError: self.init(error)
    // A day or an instant in a body: its error says more than that of the decoder.
    case DecodingError.dataCorrupted(let context):
      if let error = context.underlyingError as? TallyError { self.init(error) } else { self = .malformedBody }
    case is DecodingError: self = .malformedBody
    case let error as any HTTPResponseError:
      self.init(
        error.status, code: "http\(error.status.code)", message: error.status.reasonPhrase,
        remedy: "Compare the request with those in the README")
    default:
      self.init(
        .internalServerError, code: "internalFault", message: "The service failed",
        remedy: "See the log of the service")
    }
  }

  private init(_ error: TallyError) {
    self.init(
      Self.status(of: error.code), code: "\(error.code)", message: error.message, remedy: error.remedy)
  }

  private init(_ status: HTTPResponse.Status, code: String, message: String, remedy: String) {
    (self.status, self.code, self.message, self.remedy) = (status, code, message, remedy)
  }

  private static let malformedBody = Problem(
    .badRequest, code: "malformedBody", message: "The body is not JSON with the fields of this request",
    remedy: "Compare the request with those in the README")

  private static func status(of code: TallyError.Code) -> HTTPResponse.Status {
    switch code {
    case .taskNotFound, .listNotFound: .notFound
    case .blankTitle, .blankListName, .invalidColor, .invalidDay, .invalidInstant, .invalidState, .valueOutOfRange,
      .inconsistentTask, .invalidToken:
      .badRequest
    case .duplicateID, .undoConflict, .nothingToUndo: .conflict
    case .diskFull: HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
    case .storeBusy, .storeSuspended, .storeClosed, .readersFull: .serviceUnavailable
    default: .internalServerError
    }
  }
}

/// Answers every error with its problem.
struct Problems<Context: RequestContext>: RouterMiddleware {
  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch {
      let problem = Problem(error)
      if problem.status.code >= 500 { context.logger.error("\(problem.code): \(problem.message)") }
      var response = try problem.response(from: request, context: context)
      response.status = problem.status
      return response
    }
  }
}
