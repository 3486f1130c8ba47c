@testable import Intake
import Testing

@Suite("Paths in an inbox")
struct InboxPathTests {
  @Test("a path is names, and never leads upwards or to the root")
  func paths() throws {
    for text in ["/etc", "a//b", "a/../b", "../a", "a/", "a/./b"] {
      #expect(InboxPath(text) == nil)
    }
    let path = try #require(InboxPath("a/b/c.wav"))
    #expect(path.name == FileName("c.wav") && path.folder == InboxPath("a/b"))
    #expect(path.names.map(\.description) == ["a", "b", "c.wav"])
    let (outer, sibling) = (try #require(InboxPath("a")), try #require(InboxPath("a/b/c")))
    #expect(path.isWithin(.inbox) && path.isWithin(outer) && !path.isWithin(sibling))
    #expect(InboxPath.inbox.name == nil && InboxPath.inbox.folder == .inbox)
    #expect(InboxPath("") == .inbox && InboxPath("x")?.folder == .inbox)
    #expect(InboxPath.inbox.description == ".")
  }
}
