import Testing

@testable import Tally

/// What each text means, as its canonical text.
struct FilterTextTests {
  private static let id = "0193aaaa-bbbb-7ccc-8ddd-eeeeffff0000"

  @Test(
    arguments: [
      // Every task, or none.
      ("", "is:any"), ("  \n\t ", "is:any"), ("is:any", "is:any"), ("-is:any", "-is:any"), ("not is:any", "-is:any"),
      ("is!=any", "-is:any"), ("is:any home", "home"), ("is:any or home", "is:any"), ("-is:any or home", "home"),
      ("home -is:any", "-is:any"), ("(is:any)", "is:any"),
      // Words and quoted texts.
      ("report", "report"), ("tax form", "tax form"), ("\"tax form\"", "\"tax form\""), ("\"report\"", "report"),
      ("text~report", "report"), ("text~\"tax form\"", "\"tax form\""), ("text ~ report", "report"),
      ("title~a", "title~a"), ("notes~\"b c\"", "notes~\"b c\""), ("TITLE~A", "title~A"), ("e-mail", "e-mail"),
      ("due", "due"), ("priority", "priority"), ("\"or\"", "\"or\""), ("\"AND\"", "\"AND\""), ("text~not", "\"not\""),
      ("\"due<=today\"", "\"due<=today\""), ("\"#home\"", "\"#home\""), ("\"-x\"", "\"-x\""), ("\"(x)\"", "\"(x)\""),
      ("\"a\\\"b\"", "\"a\\\"b\""), ("\"a\\\\b\"", "a\\b"), ("a\\b", "a\\b"), ("Wow!", "\"Wow!\""),
      ("\"@x\"", "\"@x\""),
      ("title~=x", "title~\"=x\""), ("title~-x", "title~-x"), ("title~a:b", "title~a:b"),
      ("title~\"  \"", "title~\"  \""),
      ("naïve ＷＩＤＥ", "naïve ＷＩＤＥ"), ("買い物", "買い物"), ("👨‍👩‍👧", "👨‍👩‍👧"), ("a\u{A0}b", "a b"), ("\"\u{301}\"", "\u{301}"),
      ("order", "order"), ("android", "android"), ("nothing", "nothing"), ("+3", "+3"), ("50%", "50%"), ("a,b", "a,b"),
      // Precedence: not, then and, then or.
      ("a and b", "a b"), ("a AND b Or c", "a b or c"), ("a or b and c", "a or b c"), ("(a or b) c", "(a or b) c"),
      ("a (b c)", "a b c"), ("a or (b or c)", "a or b or c"), ("((a))", "a"), ("( a )", "a"), ("(a)(b)", "a b"),
      ("not a b", "-a b"), ("-a", "-a"), ("--a", "a"), ("-not a", "a"), ("not -a", "a"), ("not not a", "a"),
      ("-(a b)", "-(a b)"), ("not (a or b)", "-(a or b)"), ("-(a)", "-a"), ("a -b", "a -b"), ("a or -b", "a or -b"),
      ("a(b or c)d", "a (b or c) d"), ("-(-(a b) c)", "-(-(a b) c)"), ("a\nor\nb", "a or b"),
      // Lists, tags, states and other equalities.
      ("list:Work", "list:Work"), ("list:\"My list\"", "list:\"My list\""), ("list=Work", "list:Work"),
      ("list!=Work", "-list:Work"), ("-list:Work", "-list:Work"), ("list:Inbox", "list:inbox"),
      ("list:NONE", "list:none"),
      ("list:\(id.uppercased())", "list:\(id)"), ("list = Work", "list:Work"), ("list:a:b", "list:a:b"),
      ("#home", "#home"), ("tag:home", "#home"), ("-#home", "-#home"), ("tag!=home", "-#home"),
      ("#\"two words\"", "#\"two words\""),
      ("#Straße", "#Straße"), ("#a/b", "#a/b"), ("tag:\"-x\"", "#-x"), ("#a #b or #c", "#a #b or #c"),
      // Spellings that no shell changes.
      ("+home", "#home"), ("@home", "#home"), ("-+home", "-#home"), ("-@home", "-#home"),
      ("+home @bank", "#home #bank"),
      ("+\"two words\"", "#\"two words\""), ("@\"two words\"", "#\"two words\""), ("+Straße", "#Straße"),
      ("@a/b", "#a/b"),
      ("@home is:open", "#home is:open"), ("@home or x", "#home or x"), ("(@home)", "#home"), ("+49", "+49"),
      ("+", "+"),
      ("\"+home\"", "\"+home\""),
      ("p:high", "priority=high"), ("pri:H", "priority=high"), ("priority:m", "priority=medium"),
      ("p:1", "priority=high"),
      ("p:4", "priority=none"), ("p.above:low", "priority>low"), ("p.below:high", "priority<high"),
      ("priority.min:medium", "priority>=medium"), ("p.max:low", "priority<=low"), ("p.not:none", "priority!=none"),
      ("due.before:friday", "due<fri"), ("due.after:friday", "due>fri"), ("due.by:friday", "due<=fri"),
      ("due.since:friday", "due>=fri"), ("due.is:today", "due=today"), ("due.not:today", "due!=today"),
      ("DUE.Before:today", "due<today"), ("due.until=eom", "due<=eom"), ("due.from:monday", "due>=mon"),
      ("scheduled.before:today", "day<today"), ("scheduled:today", "day=today"), ("day.after:eow", "day>eow"),
      ("created.after:monday", "created>mon"), ("completed.since:monday", "completed>=mon"),
      ("reminder.before:\"today 5pm\"", "reminder<today@17:00"), ("updated.before:2026-11-21", "updated<2026-11-21"),
      ("-due.before:today", "-due<today"), ("title.has:tax", "title~tax"), ("notes.contains:\"a b\"", "notes~\"a b\""),
      ("list.not:Work", "-list:Work"), ("state.is:active", "state:active"),
      ("state:active", "state:active"), ("state:notstarted", "state:notStarted"),
      ("state!=completed", "-state:completed"),
      ("parent:\(id)", "parent:\(id)"), ("has:notes", "has:notes"), ("-has:due", "-has:due"),
      ("has:@client", "has:@client"),
      ("has:@\"due cost\"", "has:@\"due cost\""), ("is:open", "is:open"), ("IS:Overdue", "is:overdue"),
      ("is:done is:active", "is:done is:active"),
      ("is:recurring or is:subtask or is:parent", "is:recurring or is:subtask or is:parent"),
      // Priorities.
      ("priority:high", "priority=high"), ("priority>=medium", "priority>=medium"),
      ("priority < high", "priority<high"),
      ("priority!=none", "priority!=none"), ("-priority=none", "priority!=none"), ("-priority!=none", "priority=none"),
      ("-priority>low", "-priority>low"), ("Priority<=LOW", "priority<=low"),
      // Dates, which stay relative.
      ("due<=today+3d", "due<=today+3d"), ("due:today", "due=today"), ("due!=today", "due!=today"),
      ("due<\"next friday\"", "due<next-fri"), ("day=2026-11-21", "day=2026-11-21"), ("due>=eom", "due>=eom"),
      ("created>2026-11-21T12:00:00Z", "created>2026-11-21T12:00:00Z"),
      ("reminder<=\"today 5pm\"", "reminder<=today@17:00"),
      ("updated>=yesterday", "updated>=yesterday"), ("completed = today", "completed=today"),
      ("due<now+2h", "due<now+2h"),
      ("due<=today \"5pm\"", "due<=today \"5pm\""), ("due.by:today and x", "due<=today \"x\""),
      ("due<=today and x", "due<=today \"x\""),
      ("x due<=today", "x due<=today"), ("due<=today -x", "due<=today -\"x\""), ("not due<=tomorrow", "-due<=tomorrow"),
      ("due>=2026-11-21T15:00:00+03:00", "due>=2026-11-21T12:00:00Z"), ("(due<today)", "due<today"),
      // Attributes.
      ("@client=Acme", "@client=Acme"), ("@cost>=12.5", "@cost>=12.5"), ("@client~acme", "@client~acme"),
      ("@\"due cost\"<5", "@\"due cost\"<5"), ("@a:b", "@a=b"), ("@a!=b", "@a!=b"), ("-@a=b", "@a!=b"),
      ("@flag = true", "@flag=true"), ("@a<\"=5\"", "@a<\"=5\""), ("@a=\"two words\"", "@a=\"two words\""),
      ("@a.b-c=1", "@a.b-c=1"),
      // The sentence of the manual.
      (
        "#home due<=today+3d (priority>=medium or is:overdue) -list:Work text~\"tax form\"",
        "#home due<=today+3d (priority>=medium or is:overdue) -list:Work \"tax form\""
      ),
    ] as [(String, String)])
  func everyFormHasOneCanonicalText(text: String, canonical: String) throws {
    let filter = try TaskFilter(text: text)
    #expect(filter.text == canonical)
    #expect(try TaskFilter(text: canonical) == filter)
  }

  @Test(
    arguments: [
      ("priorty>=high", 1, "Write as in p:high"), ("#home  deu<today", 8, "Write as in due.by:today"),
      ("project:Work", 1, "Write as in list:Work"), ("foo:bar", 1, "Use cancelled, completed, "),
      ("http://example.org", 1, "Use cancelled, completed, "),
      ("status=done", 1, "Write as in state:active"), ("or=3", 1, "Use cancelled, completed, "),
      ("a b:c d", 3, "Use cancelled, completed, "),
      ("due~today", 4, "Use =, !=, <, <=, > or >="), ("title=x", 6, "Use ~, as in title~"), ("text>a", 5, "Use ~"),
      ("list>Work", 5, "Use = or !=, as in list:Work"), ("priority~high", 9, "Use =, !="),
      ("is<open", 3, "Use = or !="),
      ("due<=", 6, "Write one, as in due.by:today"), ("due<= )", 7, "Write one, as in due.by:today"),
      ("list:", 6, "Write one, as in list:Work"),
      ("list: Work", 6, "Write one, as in list:Work"), ("#", 2, "Write one, as in +home"), ("# home", 2, "Write one"),
      ("title~\"\"", 7, "Write one, as in title~"), ("\"\"", 1, "Write one"), ("has:", 5, "Write one, as in has:notes"),
      ("is:opne", 4, "Did you mean open?"), ("is:late", 4, "Use open, done, active, overdue"),
      ("has:note", 5, "Did you mean notes?"),
      ("state:done", 7, "Use notStarted, active, completed or cancelled"), ("state:activ", 7, "Did you mean active?"),
      ("priority>=urgent", 11, "Use none, low, medium or high"), ("priority=hihg", 10, "Did you mean high?"),
      ("parent:1234", 8, "Write all 32 digits"), ("due<=tomorow", 6, ""), ("due=2026-02-30", 5, ""),
      ("a due<=x", 8, ""),
      ("due<=next friday", 6, "Write as in due.by:\"next friday\""),
      ("due<=today 5pm", 6, "Write as in due.by:\"next friday\""),
      ("due<=in 3 days #x", 6, "Write as in due.by:"), ("due>\"never ever\"", 5, ""),
      ("(a", 1, "Write ) at the end"), ("((a)", 1, "Write ) at the end"), ("a)", 2, "Remove it"),
      ("a (b)) c", 6, "Remove it"),
      ("due.soon:today", 1, "Use "), ("due.before<today", 1, "Use "), ("title.before:x", 1, "Use ~"),
      ("@", 2, "Write one"),
      ("due.before:", 12, "Write one, as in due.by:today"), ("due.before:soon", 12, "Did you mean"),
      ("a.b.c:x", 1, "Use "),
      ("p.above:x", 9, "Use none, low"),
      ("()", 2, "Write one, as in +home"), ("a or", 5, "Write one"), ("or a", 1, "Write one"),
      ("a and", 6, "Write one"),
      ("and", 1, "Write one"), ("a or or b", 6, "Write one"), ("a and or b", 7, "Write one"), ("not", 4, "Write one"),
      ("-", 2, "Write one"), ("- a", 2, "Write one"), ("a (or b)", 4, "Write one"), ("-)", 2, "Write one"),
      ("\"a", 1, "Write another one"), ("x \"a\\\"", 3, "Write another one"), ("\"a\\n\"", 3, "Write it twice"),
      ("title~\"a\"b", 10, "Write a blank"),
      ("\"a\"b", 4, "Write a blank"), ("a\"b\"", 2, "Put the whole value"), ("title~a\"b\"", 8, "Put the whole value"),
      ("\"a\"\"b\"", 4, "Put the whole value"), ("\"due\"<=today", 6, "Write a blank"), ("!a", 1, "Write - or not"),
      ("!=a", 1, "Write - or not"),
      ("=a", 1, "Write one before it"), ("a <= b", 1, "Use cancelled, completed, "), ("<3", 1, "Write one before it"),
      (":", 1, "Write one before it"),
      ("due :today", 5, "Write one before it"), ("@=5", 2, "A name has 1 to 64"),
      ("@a=", 4, "Write one, as in @client=Acme"),
      ("has:@", 6, "Write one"),
      ("#a,b", 2, "Leave "), ("#a#b", 2, "Leave "), ("#\" a\"", 2, "Leave "),
      ("👨‍👩‍👧 é priorty:x", 5, "Write as in p:high"), ("e\u{301}\u{301} \u{301}:", 2, ""),
    ] as [(String, Int, String)])
  func everyFaultHasItsColumnAndARemedy(text: String, column: Int, remedy: String) throws {
    let error = try #require(throws: TallyError.self) { try TaskFilter(text: text) }
    #expect(error.code == .invalidFilter)
    #expect(error.position == TextPosition(line: 1, column: column), "\(error)")
    #expect(error.remedy.hasPrefix(remedy), "\(error.remedy)")
    #expect(!error.message.isEmpty && !error.message.hasSuffix(".") && !error.remedy.hasSuffix("."))
  }
}
