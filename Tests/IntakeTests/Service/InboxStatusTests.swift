@testable import Intake
import Testing

@Suite("How an inbox stands beside its notes")
struct InboxStandingTests {
  private var status = InboxStatus()

  private func path(_ name: String) throws -> InboxPath { try #require(InboxPath(name)) }

  @Test("a report is made when something has changed, and not too soon after another")
  mutating func pauses() throws {
    let first = status.textToPublish(at: 0)
    #expect(first != nil && status.due == nil)
    status.ignore(try path("a.txt"))
    let early = status.textToPublish(at: 1)
    let second = status.textToPublish(at: 2)
    #expect(early == nil && second?.contains("a.txt") == true)
    // What is as it was is not worth a report.
    status.forget(try path("a.txt"))
    status.ignore(try path("a.txt"))
    let third = status.textToPublish(at: 10)
    #expect(third == nil && status.due == nil)
    status.forget(try path("a.txt"))
    let fourth = status.textToPublish(at: 20)
    #expect(fourth?.contains("a.txt") == false)
  }

  @Test("of many files all are counted and some are named, and each stands in one place")
  mutating func many() throws {
    for number in 0..<5000 { status.ignore(try path("\(number).txt")) }
    status.wait(try path("7.txt"), "it waits")
    status.refuse(try path("8.txt"), "it is a link")
    let report = status.textToPublish(at: 0)
    let text = try #require(report)
    #expect(text.contains(#""count":4998"#) && text.contains("it waits"))
    #expect(text.utf8.count < 20_000)
  }
}
