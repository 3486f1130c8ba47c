import Inbox
import Testing

@testable import Watching

@Suite("How an inbox stands beside its notes")
struct InboxStandingTests {
  private var standing = InboxStanding()

  private func path(_ name: String) throws -> InboxPath { try #require(InboxPath(name)) }

  @Test("a report is made when something has changed, and not too soon after another")
  mutating func pauses() throws {
    let first = standing.textToPublish(at: 0)
    #expect(first != nil && standing.due == nil)
    standing.ignore(try path("a.txt"))
    let early = standing.textToPublish(at: 1)
    let second = standing.textToPublish(at: 2)
    #expect(early == nil && second?.contains("a.txt") == true)
    // What is as it was is not worth a report.
    standing.forget(try path("a.txt"))
    standing.ignore(try path("a.txt"))
    let third = standing.textToPublish(at: 10)
    #expect(third == nil && standing.due == nil)
    standing.forget(try path("a.txt"))
    let fourth = standing.textToPublish(at: 20)
    #expect(fourth?.contains("a.txt") == false)
  }

  @Test("of many files all are counted and some are named, and each stands in one place")
  mutating func many() throws {
    for number in 0..<5000 { standing.ignore(try path("\(number).txt")) }
    standing.wait(try path("7.txt"), "it waits")
    standing.refuse(try path("8.txt"), "it is a link")
    let report = standing.textToPublish(at: 0)
    let text = try #require(report)
    #expect(text.contains(#""count":4998"#) && text.contains("it waits"))
    #expect(text.utf8.count < 20_000)
  }
}
