import HTTPTypes
import Hummingbird
import Synchronization

/// Lets requests in that come from the browser of the person who started the program, and no others.
///
/// | threat | refused by |
/// | --- | --- |
/// | another user or program of the machine | the token of the first address, then the cookie |
/// | a page of another site that posts a form or a script | `Origin`, and the cookie, which is `SameSite=Strict` |
/// | a name of another site that resolves to this machine (DNS rebinding) | `Host` |
/// | a page that frames a screen | `frame-ancestors` |
struct Gate<Context: RequestContext>: RouterMiddleware {
  let keys: Keys

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    guard let host = request.head.authority, keys.isOwn(host: host) else {
      throw HTTPError(.misdirectedRequest, message: "This server has another name.")
    }
    if request.method != .get, request.method != .head {
      guard request.headers[.origin] == "http://\(host)" else {
        throw HTTPError(.forbidden, message: "The request does not come from a page of this server.")
      }
    }
    if request.uri.path == "/open" { return try open(request) }
    // Styles, scripts and the page behind the first address show nothing of the store.
    let path = request.uri.path
    if request.method == .get, path.hasPrefix("/assets/") || path == Self.firstPage {
      return try await next(request, context)
    }
    guard let cookie = request.cookies[keys.cookieName]?.value, keys.session.equals(cookie) else {
      throw HTTPError(.unauthorized, message: "Open the address that tally web has printed.")
    }
    return try await next(request, context)
  }

  /// The page that leads on to a screen.
  ///
  /// A browser that came from a file or from another program's page does not send a strict cookie
  /// along redirects, only from a page of this server.
  static var firstPage: String { "/begin" }

  /// Exchanges the token of the first address for the cookie, and redirects, so that no history has that address.
  private func open(_ request: Request) throws -> Response {
    guard request.method == .get, let token = request.uri.queryParameters.get("token"), keys.token.equals(token) else {
      throw HTTPError(.unauthorized, message: "Open the address that tally web has printed.")
    }
    var response = Response.redirect(to: Self.firstPage)
    response.setCookie(
      Cookie(
        name: keys.cookieName, value: keys.session.text, path: "/", secure: false, httpOnly: true, sameSite: .strict))
    return response
  }
}

/// The secrets that a request must have.
package final class Keys: Sendable {
  /// The token of the first address.
  package let token = Secret()
  /// The value of the cookie.
  let session = Secret()
  private let boundPort = Atomic(0)

  /// Creates new random secrets.
  package init() {}

  /// The port on which the server listens, known once it does.
  package var port: Int {
    get { boundPort.load(ordering: .relaxed) }
    set { boundPort.store(newValue, ordering: .relaxed) }
  }

  /// Cookies do not depend on ports, so each server on this machine needs a name of its own.
  package var cookieName: String { "tally-\(port)" }

  /// The address that lets a browser in.
  package var firstAddress: String { "http://127.0.0.1:\(port)/open?token=\(token.text)" }

  func isOwn(host: String) -> Bool {
    ["127.0.0.1", "localhost", "[::1]"].contains { host == "\($0):\(port)" }
  }
}

/// The headers that every answer has.
struct Headers<Context: RequestContext>: RouterMiddleware {
  /// Scripts and styles from this server only, and none inside a page: markup in a title could not run if it were not
  /// escaped.
  static var policy: String {
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
      + "base-uri 'none'; frame-ancestors 'none'"
  }

  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    var response = try await next(request, context)
    response.headers[.contentSecurityPolicy] = Self.policy
    response.headers[.xContentTypeOptions] = "nosniff"
    response.headers["Referrer-Policy"] = "same-origin"
    response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
    response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
    if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
    return response
  }
}

extension HTTPFields {
  /// The header field with a name, for fields that the library does not define.
  subscript(name: String) -> String? {
    get { HTTPField.Name(name).flatMap { self[$0] } }
    set { if let name = HTTPField.Name(name) { self[name] = newValue } }
  }
}

extension Response {
  /// Sends the browser to another screen with a GET request.
  static func redirect(to path: String) -> Response {
    Response(status: .seeOther, headers: [.location: path])
  }
}
