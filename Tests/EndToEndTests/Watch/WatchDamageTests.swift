import Foundation
import TestSupport
import Testing

/// Media lose bits under files that nobody touches: what a check has found is remembered.
@Suite("A damaged original is named until it is put right")
struct WatchDamageTests {
  private let inbox: WatchedPlace
  private let place: Workspace

  init() throws {
    inbox = try WatchedPlace()
    place = inbox.place
  }

  private func status() throws -> (troubles: [[String: Any]], next: [String], needsAction: Bool) {
    let result = try place.spool(["status", "--json"])
    let object = try #require(
      try JSONSerialization.jsonObject(with: result.output) as? [String: Any])
    return (
      object["troubles"] as? [[String: Any]] ?? [], object["next"] as? [String] ?? [],
      object["needsAction"] as? Bool ?? false
    )
  }

  /// Takes the recording in, and gives the path of its original in the store, which alone is left.
  private func takeIn() throws {
    let watch = try inbox.watch(["--keep", "delete"])
    let count = watch.news.count
    try inbox.shell("cp made/1.wav inbox/one.wav")
    #expect(
      inbox.wait { watch.news.dropFirst(count).contains { $0.event == "released" } },
      "\(watch.output)")
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
  }

  /// Flips a bit and leaves all times of the file but that of change.
  private func damage(_ path: String) throws {
    let line = """
      chmod u+w '\(path)'; t=$(stat -c %y '\(path)')
      printf '\\xff' | dd of='\(path)' bs=1 seek=1000 conv=notrunc status=none
      touch -d "$t" '\(path)'; chmod a-w '\(path)'
      """
    try #require(try inbox.shell(line))
  }

  @Test("status names it once a check has found it, and no more when it was sent again")
  func damaged() throws {
    let made = try inbox.make(1)
    try takeIn()
    let bytes = try Data(contentsOf: URL(fileURLWithPath: made))
    let note = try #require(try inbox.notes().first)
    let digest = try #require(
      Program(named: "sha256sum")?.run([made]).text.split(separator: " ").first)
    let path = "\(place.store)/artifacts/\(digest.prefix(2))/\(digest)"
    try damage(path)
    #expect(try status().troubles.isEmpty)
    #expect(try place.spool(["store", "check"]).exitCode == 4)
    let told = try status()
    let trouble = try #require(told.troubles.first)
    #expect(trouble["state"] as? String == "damaged" && trouble["note"] as? String == note.key)
    #expect(told.needsAction && told.next.contains("spool store repair"), "\(told)")
    let text = try place.spool(["status", "--check"])
    #expect(text.exitCode == 1 && text.text.contains("next:  spool store repair"), "\(text.text)")
    let shown = try place.spool(["inbox", "show", note.key]).text
    #expect(shown.contains("sent again, it is put right"), "\(shown)")

    try takeIn()
    #expect(try status().troubles.isEmpty)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
    #expect(try place.spool(["store", "check"]).exitCode == 0)
  }

  @Test("a repair sets it aside, and status then says that it is lost, and where to look")
  func repaired() throws {
    let made = try inbox.make(1)
    try takeIn()
    let note = try #require(try inbox.notes().first)
    let digest = try #require(
      Program(named: "sha256sum")?.run([made]).text.split(separator: " ").first)
    try damage("\(place.store)/artifacts/\(digest.prefix(2))/\(digest)")
    #expect(try place.spool(["store", "check"]).exitCode == 4)
    _ = try place.spool(["store", "repair"])
    let told = try status()
    #expect(told.troubles.map { $0["state"] as? String } == ["lost"], "\(told)")
    #expect(told.next.contains("spool inbox show \(note.key)"), "\(told)")
  }
}
