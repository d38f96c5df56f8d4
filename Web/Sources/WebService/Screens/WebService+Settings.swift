import Foundation
import Hummingbird
import SystemPackage
import Tally

extension WebService {
  func addSettingsRoutes(to router: Router<BasicRequestContext>) {
    router.get("settings") { [self] request, _ in
      let (configuration, weekStart) = (store.configuration, request.cookies[Self.weekStartCookie]?.value ?? "")
      let minutes = configuration.dayStartInMinutes
      return try page(
        "settings", title: "Settings", for: request,
        [
          "appearances": [("", "As the system"), ("light", "Light"), ("dark", "Dark")].map {
            ["value": $0.0, "name": $0.1, "selected": $0.0 == request.cookies[Self.appearanceCookie]?.value ?? ""]
              as [String: Any]
          },
          "weekdays": [["value": "", "name": "As the system", "selected": weekStart.isEmpty] as [String: Any]]
            + (1...7).map { day in
              ["value": "\(day)", "name": Clock.weekdayName(day) ?? "", "selected": "\(day)" == weekStart]
            },
          "keysOn": request.cookies[Self.keysCookie]?.value != "off",
          "directory": store.directory.string, "zone": configuration.calendar.timeZone.identifier,
          "dayStart": String(format: "%02d:%02d", minutes / 60, minutes % 60),
          "tasks": try store.read { try $0.taskCount },
        ])
    }
    router.post("settings") { request, _ in
      let form = try await request.form()
      let appearance = form["appearance"].flatMap { ["light", "dark"].contains($0) ? $0 : nil }
      let weekStart = form["week-start"].flatMap { Int($0) }.flatMap { (1...7).contains($0) ? "\($0)" : nil }
      let keys = form["keys"] == nil ? "off" : nil
      var response = Response.redirect(to: "/settings")
      for (name, value) in [
        (Self.appearanceCookie, appearance), (Self.weekStartCookie, weekStart), (Self.keysCookie, keys),
      ] {
        response.setCookie(
          Cookie(
            name: name, value: value ?? "", maxAge: value == nil ? 0 : 365 * 86_400, path: "/", secure: false,
            httpOnly: true, sameSite: .strict))
      }
      return response
    }
  }

  static let appearanceCookie = "tally-appearance"
  static let weekStartCookie = "tally-week-start"
  static let keysCookie = "tally-keys"

  /// The store's calendar with the first day of the week that the person has chosen in this browser.
  func calendar(for request: Request) -> Calendar {
    var calendar = store.configuration.calendar
    if let day = request.cookies[Self.weekStartCookie].flatMap({ Int($0.value) }), (1...7).contains(day) {
      // The calendar's days begin with Sunday, the library's with Monday.
      calendar.firstWeekday = day % 7 + 1
    }
    return calendar
  }
}
