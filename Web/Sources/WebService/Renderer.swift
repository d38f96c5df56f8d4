import Mustache
import WebAssets

/// The templates.
///
/// Two braces escape their value; no template has three.
struct Renderer: Sendable {
  private let library: MustacheLibrary

  /// Reads the templates of the program.
  init() throws {
    var library = MustacheLibrary()
    for (name, bytes) in WebAssets.templates {
      try library.register(String(decoding: bytes, as: UTF8.self), named: name)
    }
    self.library = library
  }

  /// The HTML of a template with some content.
  func html(_ name: String, _ context: [String: Any]) throws -> String {
    guard let html = library.render(context, withTemplate: name) else { throw MissingTemplate(name: name) }
    return html
  }

  /// Whether one of some templates has a section with a name.
  func mentions(_ name: String, in templates: [String]) -> Bool {
    templates.contains { template in
      WebAssets.templates[template].map { String(decoding: $0, as: UTF8.self).contains("{{#\(name)}}") } ?? false
    }
  }

  private struct MissingTemplate: Error {
    let name: String
  }
}
