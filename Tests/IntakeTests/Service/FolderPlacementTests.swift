@testable import Intake
import Testing

@Suite("Folders of a watch lie beside each other")
struct FolderPlacementTests {
  private func conflicts(_ inboxes: [String], _ others: String...) -> [String] {
    WatchSettings.conflicts(
      inboxes: inboxes, others: others.map { ($0, role: "the folder") }
    ).map(\.message)
  }

  @Test("folders that share only the beginning of a name are apart")
  func neighbours() {
    #expect(conflicts(["/srv/in", "/srv/in2"], "/srv/in-out", "/srv/out").isEmpty)
  }

  @Test("a folder in an inbox, and an inbox in a folder, would feed themselves")
  func loops() {
    #expect(
      conflicts(["/srv/in"], "/srv/in/out") == ["the folder /srv/in/out lies in the inbox /srv/in"])
    #expect(conflicts(["/srv/in"], "/srv/in") == ["the folder /srv/in lies in the inbox /srv/in"])
    #expect(conflicts(["/srv/in"], "/srv") == ["the inbox /srv/in lies in the folder /srv"])
    #expect(conflicts(["/srv/in"], "/").count == 1)
  }

  @Test("inboxes in one another are told once, with the later one's place")
  func overlaps() {
    let found = WatchSettings.conflicts(inboxes: ["/a", "/b", "/a/c", "/b"], others: [])
    #expect(found.map(\.inbox) == [2, 3])
  }
}
