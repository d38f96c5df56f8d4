import Foundation
import Hummingbird
import SystemPackage
import Tally

extension WebService {
  func addSettingsRoutes(to router: Router<BasicRequestContext>) {
    router.get("settings") { [self] request, _ in
      let (configuration, rules) = (store.configuration, DayRules(request))
      let typed = RefusedForm.typed("settings")
      let appearance = typed?["appearance"] ?? request.cookies[Self.appearanceCookie]?.value ?? ""
      let weekStart = typed.map { $0["week-start"].flatMap { Int($0) } } ?? rules.weekStart
      let keysOn = typed.map { $0["keys"] != nil } ?? (request.cookies[Self.keysCookie]?.value != "off")
      return try page("settings", title: "Settings", for: request) { transaction in
        [
          "appearances": [("", "As the system"), ("light", "Light"), ("dark", "Dark")].map {
            ["value": $0.0, "name": $0.1, "selected": $0.0 == appearance] as [String: Any]
          },
          "weekdays": [["value": "", "name": "As the system", "selected": weekStart == nil] as [String: Any]]
            + (1...7).map { day in
              ["value": "\(day)", "name": CalendarNames.weekdays[day - 1], "selected": day == weekStart]
            },
          "ownDayStart": typed?["day-start"] ?? rules.dayStartInMinutes.map { WallTime.clock(ofMinute: $0) } ?? "",
          "dayStart": WallTime.clock(ofMinute: configuration.dayStartInMinutes),
          "keysOn": keysOn,
          "directory": store.directory.string, "zone": configuration.calendar.timeZone.identifier,
          "tasks": try transaction.taskCount,
        ]
      }
    }
    router.post("settings") { request, _ in
      let form = try await request.form()
      let appearance = form["appearance"].flatMap { ["light", "dark"].contains($0) ? $0 : nil }
      let weekStart = form["week-start"].flatMap { Int($0) }.flatMap { (1...7).contains($0) ? "\($0)" : nil }
      let dayStart = try form.text("day-start").map { text in
        try refusing("day-start") { "\(try Self.minutes(text))" }
      }
      let keys = form["keys"] == nil ? "off" : nil
      let cookies = [
        (Self.appearanceCookie, appearance), (DayRules.weekStartCookie, weekStart), (Self.keysCookie, keys),
        (DayRules.dayStartCookie, dayStart),
      ]
      var response = Response.redirect(to: "/settings")
      for (name, value) in cookies {
        response.setCookie(
          Cookie(
            name: name, value: value ?? "", maxAge: value == nil ? 0 : 365 * 86_400, path: "/", secure: false,
            httpOnly: true, sameSite: .strict))
      }
      return response
    }
  }

  static let appearanceCookie = "tally-appearance"
  static let keysCookie = "tally-keys"

  /// The minutes after midnight of a time before noon, as a field sends it: `04:30`.
  private static func minutes(_ text: String) throws -> Int {
    let parts = text.split(separator: ":").prefix(2).compactMap { Int($0) }
    guard parts.count == 2, (0..<12).contains(parts[0]), (0..<60).contains(parts[1]) else {
      throw HTTPError(.badRequest, message: "A day begins before noon, as 04:30.")
    }
    return 60 * parts[0] + parts[1]
  }
}
