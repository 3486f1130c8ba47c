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

  /// Takes the recordings of these numbers in, whose originals are left in the store alone.
  private func takeIn(_ numbers: ClosedRange<Int> = 1...1) throws {
    let watch = try inbox.watch(["--keep", "delete", "--single-copy"])
    let count = watch.news.count
    for number in numbers { try inbox.shell("cp made/\(number).wav inbox/note-\(number).wav") }
    #expect(
      inbox.wait {
        watch.news.dropFirst(count).count { $0.event == "released" } == numbers.count
      }, "\(watch.output)")
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
  }

  /// Where the store keeps the original of a recording.
  private func original(of made: String) throws -> String {
    let digest = try #require(
      Program(named: "sha256sum")?.run([made]).text.split(separator: " ").first)
    return "\(place.store)/artifacts/\(digest.prefix(2))/\(digest)"
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
    let path = try original(of: made)
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
    try damage(try original(of: made))
    let checked = try place.spool(["store", "check"])
    #expect(checked.exitCode == 4)
    // Nothing is promised that nothing can keep.
    #expect(
      checked.text.hasSuffix("the store is damaged: 1 problem; a repair cannot put it right\n"),
      "\(checked.text)")
    let plan = try place.spool(["store", "repair", "--dry-run"])
    #expect(plan.exitCode == 4, "\(plan.text)")
    #expect(
      plan.text.hasSuffix("spool store repair does this, and leaves 1 problem\n"), "\(plan.text)")
    #expect(try place.spool(["store", "repair"]).exitCode == 4)
    for options in [["--dry-run"], []] {
      let again = try place.spool(["store", "repair"] + options)
      #expect(
        again.exitCode == 4 && again.text.contains("nothing can make it again"), "\(again.text)")
      #expect(again.text.hasSuffix("no repair helps: 1 problem left\n"), "\(again.text)")
    }
    let told = try status()
    #expect(told.troubles.map { $0["state"] as? String } == ["lost"], "\(told)")
    #expect(told.next.contains("spool inbox show \(note.key)"), "\(told)")
  }

  @Test("of a lost original, the lossless export of the same samples is named, and no other one")
  func copies() throws {
    _ = try place.pipeline(
      """
      pipeline: quick
      inputs: { note: sound }
      stages:
        - decode: { from: $note }
          id: original
        - export: { from: original, formats: [flac, mp3], name: "{stem}.archive" }
          id: preserve
        - normalize: { from: original, peak: -3 dB }
          id: louder
        - export: { from: louder, formats: [wav] }
          id: deliver
      """)
    let made = try inbox.make(1)
    try takeIn()
    let note = try #require(try inbox.notes().first)
    #expect(try !place.spool(["inbox", "show", note.key]).text.contains("\nleft: "))
    try FileManager.default.removeItem(atPath: try original(of: made))
    let shown = try place.spool(["inbox", "show", note.key]).text
    let left = shown.split(separator: "\n").filter { $0.hasPrefix("left: ") }
    #expect(
      left == [
        "left:      \(place.out)/note-1.archive.flac, which the step preserve wrote of the same samples"
      ], "\(shown)")
  }

  @Test("all lost originals are in the JSON, and the text says how many it does not name")
  func many() throws {
    let made = try (1...8).map { try inbox.make($0) }
    try takeIn(1...8)
    for path in made { try FileManager.default.removeItem(atPath: try original(of: path)) }
    let told = try status()
    #expect(told.troubles.map { $0["state"] as? String } == Array(repeating: "lost", count: 8))
    #expect(told.next.count { $0.hasPrefix("spool inbox show ") } == 8, "\(told)")
    let text = try place.spool(["status"]).text
    #expect(
      text.split(separator: "\n").count { $0.contains(" its original is not in the store") } == 5)
    #expect(text.contains("\n  lost  and 3 more: spool status --json names them\n"), "\(text)")
  }
}
