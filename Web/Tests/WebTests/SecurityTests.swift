import Foundation
import SystemPackage
import Tally
import Testing

@testable import WebService

/// What strangers, other sites and hostile texts can do.
struct SecurityTests {
  @Test func firstAddressIsExchangedForACookieThatNoScriptAndNoOtherSiteCanUse() async throws {
    try await withWeb { web in
      let answer = try await Exchange(
        web.port, "GET /open?token=\(web.service.keys.token.text)", ["Host: \(web.host)"])
      #expect(answer.status == 303 && answer.headers["location"] == "/begin")
      let cookie = answer.headers["set-cookie"] ?? ""
      #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && cookie.contains("Path=/"))
      #expect(!cookie.contains(web.service.keys.token.text))
      // A page of this server, so that a browser sends the cookie from there; it says nothing about the store.
      let first = try await Exchange(web.port, "GET /begin", ["Host: \(web.host)"])
      #expect(
        first.status == 200 && first.body.contains("url=/today") && !first.body.contains(web.service.keys.token.text))
      #expect(try await web.get("/today").status == 200)
    }
  }

  @Test func pageThatABrowserIsSentToIsReadableByItsOwnerAlone() throws {
    let page = FirstPage()
    defer { page.remove() }
    #expect(!page.path.string.contains("token"))
    try page.write(leadingTo: "http://127.0.0.1:1/open?token=abc")
    func mode(_ path: String) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
    #expect(try mode(page.path.string) == 0o600)
    #expect(try mode(page.path.removingLastComponent().string) == 0o700)
    let text = try String(contentsOfFile: page.path.string, encoding: .utf8)
    #expect(text.contains("url=http://127.0.0.1:1/open?token=abc"))
    // Nobody's file is written over.
    #expect(throws: (any Error).self) { try page.write(leadingTo: "http://127.0.0.1:1/") }
    page.remove()
    #expect(!FileManager.default.fileExists(atPath: page.path.removingLastComponent().string))
  }

  @Test(arguments: ["", "?token=", "?token=0", "?token=" + String(repeating: "0", count: 64), "?other=1"])
  func forgedTokenIsRefused(query: String) async throws {
    try await withWeb { web in
      let answer = try await Exchange(web.port, "GET /open\(query)", ["Host: \(web.host)"])
      #expect(answer.status == 401 && answer.headers["set-cookie"] == nil)
    }
  }

  @Test func strangersGetNoScreenAndChangeNothing() async throws {
    try await withWeb { web in
      try await web.store.write { try $0.add("Secret", to: .today) }
      let name = web.service.keys.cookieName
      let forged = [
        "", "Cookie: \(name)=", "Cookie: \(name)=\(web.service.keys.token.text)", "Cookie: other=\(web.cookie)",
      ]
      for cookie in forged {
        for path in ["/today", "/", "/events?view=today", "/rows?view=today", "/history", "/capture?text=x", "/none"] {
          let answer = try await Exchange(
            web.port, "GET \(path)", ["Host: \(web.host)"] + (cookie.isEmpty ? [] : [cookie]))
          #expect(answer.status == 401 && !answer.body.contains("Secret"), "\(path) with '\(cookie)'")
        }
        let form = "text=Forged&place=today"
        let answer = try await Exchange(
          web.port, "POST /capture",
          [
            "Host: \(web.host)", "Origin: http://\(web.host)", "Content-Type: application/x-www-form-urlencoded",
            "Content-Length: \(form.utf8.count)",
          ] + (cookie.isEmpty ? [] : [cookie]), body: form)
        #expect(answer.status == 401)
      }
      #expect(try web.store.read { try $0.taskCount } == 1)
    }
  }

  @Test(arguments: ["evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:PORT"])
  func otherHostIsRefused(host: String) async throws {
    try await withWeb { web in
      let host = host.replacingOccurrences(of: "PORT", with: "\(web.port)")
      let answer = try await Exchange(web.port, "GET /today", ["Host: \(host)", "Cookie: \(web.cookie)"])
      #expect(answer.status == 421)
      let open = try await Exchange(
        web.port, "GET /open?token=\(web.service.keys.token.text)", ["Host: \(host)"])
      #expect(open.status == 421 && open.headers["set-cookie"] == nil)
    }
  }

  @Test(arguments: [nil, "null", "http://evil.example", "https://HOST", "http://127.0.0.1", "http://HOST.evil.example"])
  func formOfAnotherSiteChangesNothing(origin: String?) async throws {
    try await withWeb { web in
      let form = "text=Forged&place=today"
      let lines = origin.map { ["Origin: \($0.replacingOccurrences(of: "HOST", with: web.host))"] } ?? []
      for path in ["/capture", "/change", "/undo", "/redo", "/lists"] {
        let answer = try await Exchange(
          web.port, "POST \(path)",
          [
            "Host: \(web.host)", "Cookie: \(web.cookie)", "Content-Type: application/x-www-form-urlencoded",
            "Content-Length: \(form.utf8.count)",
          ] + lines, body: form)
        #expect(answer.status == 403)
      }
      #expect(try web.store.read { try $0.taskCount } == 0)
    }
  }

  @Test func everyAnswerForbidsForeignScriptsFramesAndGuessesOfTypes() async throws {
    try await withWeb { web in
      let missing = try await Exchange(web.port, "GET /today", ["Host: \(web.host)"])
      var answers = [missing]
      for path in ["/today", "/none", "/rows?view=today", "/tasks/x", "/assets/1/app.js"] {
        answers.append(try await web.get(path))
      }
      for answer in answers {
        let policy = answer.headers["content-security-policy"] ?? ""
        #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
        #expect(!policy.contains("unsafe") && answer.headers["x-content-type-options"] == "nosniff")
      }
    }
  }

  @Test func markupInEveryTextIsShownAsText() async throws {
    let hostile = "<script>alert(1)</script>\"'&{{title}}</textarea></title>"
    try await withWeb { web in
      let (list, task) = try await web.store.write { transaction in
        let list = try transaction.addList(name: hostile)
        let parent = try transaction.add(hostile, to: .today)
        let task = try transaction.add(hostile, to: .today) {
          $0.notes = hostile
          $0.tags = [hostile.filter { $0 != "#" && $0 != "," }]
          $0.listID = list.id
          $0.attributes = ["<b>name</b>": .text(hostile)]
        }
        _ = try transaction.add(hostile) { $0.parentID = parent.id }
        try transaction.complete(task.id)
        try transaction.saveFilter(.text(contains: hostile), as: String(hostile.prefix(60)))
        try transaction.setActionName(hostile)
        return (list.id, task.id)
      }
      let paths = [
        "/today", "/all", "/lists", "/lists/\(list.text)", "/tasks/\(task.text)", "/history", "/more", "/agenda",
        "/today?done=1.0", "/search?q=alert", "/tags", "/filters", "/find?q=alert", "/statistics", "/done",
        "/settings",
        "/tag?name=\(RunningWeb.encoded(hostile.filter { $0 != "#" && $0 != "," }))",
        "/search?q=\(RunningWeb.encoded(hostile))", "/statistics?goal=\(RunningWeb.encoded("1/day"))",
        "/capture?text=\(RunningWeb.encoded(hostile + " #<i>x</i>"))",
      ]
      for path in paths {
        let answer = try await web.get(path)
        #expect(answer.status == 200)
        #expect(!answer.body.contains("<script>alert") && !answer.body.contains("</textarea></title>"), "\(path)")
        #expect(!answer.body.contains("<b>") && !answer.body.contains("<i>"), "\(path)")
        #expect(answer.body.contains("&lt;script&gt;") || !answer.body.contains("alert"), "\(path)")
      }
    }
  }

  @Test func bodyThatIsTooLargeIsRefusedWhateverItSays() async throws {
    try await withWeb { web in
      let lines = [
        "Host: \(web.host)", "Cookie: \(web.cookie)", "Origin: http://\(web.host)",
        "Content-Type: application/x-www-form-urlencoded",
      ]
      let announced = try await Exchange(
        web.port, "POST /capture", lines + ["Content-Length: 104857600"], body: "text=x")
      #expect(announced.status == 413)
      let document = try await Exchange(
        web.port, "POST /import", lines + ["Content-Length: \(WebService.longestDocumentInBytes + 1)"], body: "x")
      #expect(document.status == 413)
      // 100 MB that come without saying how many they are.
      let answer = try await Connection.run(to: web.port) { connection in
        let head = ["POST /capture HTTP/1.1"] + lines + ["Transfer-Encoding: chunked"]
        let chunk = "100000\r\n" + String(repeating: "x", count: 1 << 20) + "\r\n"
        do {
          try await connection.write(head.joined(separator: "\r\n") + "\r\n\r\n")
          for _ in 0..<100 { try await connection.write(chunk) }
        } catch {
          // The server need not read on.
        }
        return await connection.read { $0.contains("\r\n\r\n") }
      }
      #expect(answer.isEmpty || Exchange(answer).status == 413)
      #expect(try await web.get("/today").status == 200)
      #expect(try web.store.read { try $0.taskCount } == 0)
    }
  }

  @Test func titleOfAMillionCharactersComesThrough() async throws {
    let title = String(repeating: "語", count: 1_000_000)
    try await withWeb { web in
      let answer = try await web.post("/capture", [("text", title), ("place", "today"), ("literal", "yes")])
      #expect(answer.status == 303)
      #expect(try web.store.read { try $0.view(.today).tasks.map(\.title) } == [title])
      let (today, id) = (try await web.get("/today"), try web.store.read { try $0.view(.today).tasks[0].id })
      #expect(today.status == 200 && today.body.utf8.count < 100_000)
      #expect(try await web.get("/tasks/\(id.text)").body.contains(title))
    }
  }

  @Test func thousandEventStreamsTakeOnlyTheirPlacesAndGiveThemBack() async throws {
    try await withWeb(largestStreamCount: 16) { web in
      let head = "GET /events?view=today HTTP/1.1\r\nHost: \(web.host)\r\nCookie: \(web.cookie)\r\n\r\n"
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        let (gate, opened) = AsyncStream.makeStream(of: Void.self)
        func open() {
          group.addTask {
            try await Connection.run(to: web.port) { connection in
              try await connection.write(head)
              let status = Exchange(await connection.read { $0.contains("\r\n\r\n") }).status
              opened.yield()
              // Stays open until all have been tried.
              if status == 200 { try? await Task.sleep(for: .seconds(3600)) }
              return status
            }
          }
        }
        // A hundred at a time: a process may have a thousand files.
        for _ in 0..<100 { open() }
        var (begun, answered) = (100, 0)
        for await _ in gate {
          answered += 1
          if begun < 1_000 {
            open()
            begun += 1
          }
          if answered == 1_000 { break }
        }
        group.cancelAll()
        return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
      }
      #expect(statuses == [200: 16, 503: 984])
      #expect(try await web.get("/today").status == 200)
      // A stream that ended gives its place back as soon as the server notices.
      var status = 503
      while status == 503 {
        status = try await Connection.run(to: web.port) { connection in
          try await connection.write(head)
          return Exchange(await connection.read { $0.contains("\r\n\r\n") }).status
        }
      }
      #expect(status == 200)
    }
  }

  @Test func wayBackLeadsNowhereElse() throws {
    for path in ["//evil.example", "http://evil.example", "/\\evil.example", "javascript:alert(1)", "/a\r\nX: y", ""] {
      #expect(try Form("back=\(RunningWeb.encoded(path))").back == "/today")
    }
    #expect(try Form("back=%2Flists%2F1%3Ffrom%3D2").back == "/lists/1?from=2")
  }

  @Test func heapOfCombiningMarksIsShortened() async throws {
    let title = "Z" + String(repeating: "\u{0301}", count: 50_000) + "algo"
    #expect(title.count == 5 && title.shortened(to: 400).unicodeScalars.count == 20)
    #expect("👩‍👩‍👧‍👦🏴󠁧󠁢󠁳󠁣󠁴󠁿".shortened() == "👩‍👩‍👧‍👦🏴󠁧󠁢󠁳󠁣󠁴󠁿")
    try await withWeb { web in
      let id = try await web.store.write { transaction in
        let list = try transaction.addList(name: title)
        return try transaction.add(title, to: .today) { $0.listID = list.id }.id
      }
      for path in ["/today", "/all", "/lists", "/history", "/search?q=algo", "/places", "/rows?view=today"] {
        #expect(try await web.get(path).body.utf8.count < 60_000, "\(path)")
      }
      #expect(try await web.get("/tasks/\(id.text)").body.contains(title))
    }
  }

  @Test func formsKeepMarkupAsText() async throws {
    let hostile = "<b onclick=x>&amp;\"'</b>"
    try await withWeb { web in
      #expect(try await web.post("/lists", [("name", hostile), ("color", "007AFF")]).status == 303)
      #expect(try await web.post("/filters", [("name", hostile), ("text", "is:open")]).status == 303)
      let form = [("text", hostile), ("place", "today"), ("literal", "yes")]
      #expect(try await web.post("/capture", form).status == 303)
      let (task, list) = try web.store.read { (try $0.view(.today).tasks[0], try $0.lists()[0]) }
      let fields = [("title", hostile), ("notes", hostile), ("tags", hostile.filter { $0 != "#" && $0 != " " })]
      #expect(try await web.post("/tasks/\(task.id.text)", fields).status == 303)
      #expect(try await web.post("/tasks/\(task.id.text)/subtasks", [("title", hostile)]).status == 303)
      let now = try #require(try web.store.read { try $0.task(task.id) })
      #expect(now.title == hostile && now.notes == hostile && list.name == hostile)
      // A conflict shows both values; the question before a loss shows the fields.
      let stamps = [("was-title", "0"), ("title", hostile + "2")]
      let conflict = try await web.post("/tasks/\(task.id.text)", stamps)
      #expect(conflict.status == 409)
      var bodies = [conflict.body]
      for path in ["/today", "/lists", "/filters", "/tags", "/history", "/tasks/\(task.id.text)"] {
        bodies.append(try await web.get(path).body)
      }
      for wrong in [
        "/tasks/\(hostile.inAddress)", "/events?view=\(hostile.inAddress)", "/done?of=\(hostile.inAddress)",
      ] {
        bodies.append(try await web.get(wrong).body)
      }
      for body in bodies { #expect(!body.contains("<b onclick") && !body.contains("&amp;\"")) }
    }
  }

  @Test func sentencesCannotBeReversedByATitle() {
    let title = "invoice\u{202E}fdp.exe\u{2066}\n" + String(repeating: "x", count: 100)
    #expect(title.quotable(to: 20) == "invoicefdp.exe xxx…")
  }

  @Test func secretsDifferAndAreComparedWhole() {
    let secret = Secret()
    #expect(secret.text.count == 64 && secret.text != Secret().text)
    #expect(secret.equals(secret.text) && !secret.equals(String(secret.text.dropLast())) && !secret.equals(""))
    let last = secret.text.hasSuffix("0") ? "1" : "0"
    #expect(!secret.equals(secret.text.dropLast() + last))
  }
}
