public import Foundation

/// Which of the two numbers of a date such as `3/4` is the day.
public enum DateOrder: String, CaseIterable, Hashable, Sendable {
  /// 3 April, as most people write it.
  case dayFirst = "dmy"
  /// 4 March, as in the United States and where years come first.
  case monthFirst = "mdy"

  /// The order that people of a locale use; `nil` for a locale without a region or a language that decides.
  ///
  /// By the short dates of the Common Locale Data Repository, version 45.
  public init?(of locale: Locale) {
    self.init(language: locale.language.languageCode?.identifier, region: locale.region?.identifier)
  }

  /// The order of a language and a region, by their codes in ISO 639 and ISO 3166.
  package init?(language: String?, region: String?) {
    let language = language.flatMap { $0.isEmpty ? nil : $0.lowercased() }
    if let language, Self.monthFirstLanguages.contains(language) {
      self = .monthFirst
    } else if let region, language == nil || language == "en" || region.uppercased() != "CA" {
      self = Self.monthFirstRegions.contains(region.uppercased()) ? .monthFirst : .dayFirst
    } else if let language {
      // English alone is written in both ways.
      guard language != "en" else { return nil }
      self = .dayFirst
    } else {
      return nil
    }
  }

  private static let monthFirstLanguages: Set = ["eu", "hu", "ja", "ko", "lt", "mn", "zh"]
  private static let monthFirstRegions: Set = [
    "AS", "CA", "FM", "GU", "MH", "MP", "PA", "PR", "PW", "UM", "US", "VI",
  ]
}
