@testable import Intake
import Platform
import Testing

@Suite("Commands that wait are done in the order in which they were issued")
struct WaitingCommandsTests {
  private var waiting = WaitingCommands()

  private func command(_ name: String, _ time: Double) throws -> WaitingCommands.Command {
    let stamp = FileStamp(byteCount: 1, modified: 1, changed: 1, inode: 1)
    return WaitingCommands.Command(
      path: try #require(InboxPath(name + ".command.json")), stamp: stamp, issuedAt: time)
  }

  @Test("by their time, and by their names where that is the same")
  mutating func order() throws {
    waiting.add(try command("a", 30), at: 0)
    waiting.add(try command("c", 10), at: 0.1)
    waiting.add(try command("b", 10), at: 0.2)
    let early = waiting.take(at: 0.3)
    let late = waiting.take(at: 0.5)
    #expect(early.isEmpty && late.map(\.path.description) == ["b", "c", "a"].map(Self.file))
    #expect(waiting.due == nil && waiting.take(at: 9).isEmpty)
  }

  private static func file(_ name: String) -> String { name + ".command.json" }

  @Test("those that go on coming keep the first one waiting for no longer than two seconds")
  mutating func limit() throws {
    for number in 0..<12 { waiting.add(try command("\(number)", 1), at: Double(number) * 0.2) }
    #expect(waiting.due == 2)
  }
}
