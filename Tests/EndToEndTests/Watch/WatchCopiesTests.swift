import Foundation
import TestSupport
import Testing

/// The same sound comes again, with other bytes, by another name, or after it was cut off.
@Suite("What a watch says of recordings that come again")
struct WatchCopiesTests {
  private let inbox: WatchedPlace
  private let place: Workspace

  init() throws {
    inbox = try WatchedPlace()
    place = inbox.place
  }

  /// Writes the recording of a number with a title in its tags.
  private func entitle(_ number: Int, _ title: String) throws {
    var bytes = try Data(contentsOf: URL(filePath: place.file("made/\(number).wav")))
    func little(_ count: Int) -> Data {
      Data([0, 8, 16, 24].map { UInt8(truncatingIfNeeded: count >> $0) })
    }
    var name = Data(title.utf8) + [0]
    if name.count % 2 == 1 { name.append(0) }
    bytes += Data("LIST".utf8) + little(12 + name.count) + Data("INFOINAM".utf8)
    bytes += little(name.count) + name
    bytes.replaceSubrange(4..<8, with: little(bytes.count - 8))
    try bytes.write(to: URL(filePath: place.file("made/titled.wav")))
  }

  @Test("no command writes over a recording that an inbox took in, nor through a link to it")
  func protected() throws {
    try inbox.make(1)
    let watch = try inbox.watch()
    try inbox.shell("cp made/1.wav inbox/note.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "released" } }, "\(watch.output)")
    let kept = inbox.inbox + "/accepted/note.wav"
    let bytes = try Data(contentsOf: URL(filePath: kept))
    try inbox.shell("ln inbox/accepted/note.wav hard.wav")
    for path in [kept, place.file("hard.wav")] {
      let refused = try place.spool(
        ["normalize", place.file("made/1.wav"), "-o", path, "--replace"])
      #expect(refused.exitCode == 1)
      #expect(refused.errorOutput.contains("Spool never writes over one"), "\(refused.errorOutput)")
    }
    #expect(try Data(contentsOf: URL(filePath: kept)) == bytes)
  }

  @Test("a sidecar that comes with a copy or late changes nothing under way, and the way is told")
  func lateSidecar() throws {
    try inbox.make(1)
    // Runs until the test lets it end.
    _ = try place.slowPipeline(seconds: 60)
    let watch = try inbox.watch()
    try inbox.shell("cp made/1.wav inbox/note.wav")
    #expect(
      try inbox.wait { try inbox.notes().first?.state == "processing" }, "\(watch.output)")
    try inbox.shell(
      """
      echo '{"title":"Garage","spool":{"set":{"level":"-9 dB"}}}' > inbox/copy.json
      cp made/1.wav inbox/copy.wav
      """)
    #expect(
      inbox.wait { watch.output.contains("and its exports are made without it") },
      "\(watch.output)")
    #expect(watch.output.contains("spool inbox forget"), "\(watch.output)")
  }

  @Test("other tags of the same sound are named with the way to use them, and copies are found")
  func otherTags() throws {
    try inbox.make(1)
    try entitle(1, "Tape 417 A")
    let watch = try inbox.watch()
    try inbox.shell("mkdir inbox/deep; cp made/1.wav inbox/deep/tape.wav")
    #expect(
      inbox.wait { watch.news.contains { $0.event == "released" } }, "\(watch.output)")
    let first = try #require(try inbox.notes().first).key
    try inbox.shell("cp made/titled.wav inbox/deep/tape.wav")
    #expect(
      inbox.wait { watch.news.count { $0.event == "released" } == 2 }, "\(watch.output)")
    let second = try #require(try inbox.notes().first { $0.original == first }).key
    #expect(
      watch.output.contains("what this file says (title) is ignored")
        && watch.output.contains("spool inbox forget \(first) \(second)"), "\(watch.output)")
    let words = "title: none, and Tape 417 A by this file"
    #expect(
      inbox.wait {
        (try? String(contentsOfFile: "\(inbox.outbox)/\(second).ack.json", encoding: .utf8))?
          .contains(words) == true
      })
    let shown = try place.spool(["inbox", "show", second]).text
    #expect(shown.contains("differs:   \(words)"), "\(shown)")
    #expect(
      shown.contains("accepted/deep/tape (2).wav (accepted; it came as deep/tape.wav)"), "\(shown)")

    try inbox.shell("cp made/1.wav inbox/audit.wav")
    #expect(
      inbox.wait { watch.news.count { $0.event == "released" } == 3 }, "\(watch.output)")
    for name in ["audit.wav", "accepted/audit.wav", first] {
      let page = try place.spool(["inbox", "show", name]).text
      #expect(page.contains("recording: \(first)"), "\(name)")
    }
    #expect(try inbox.note("accepted/deep/tape (2).wav").key == second)
    let list = try place.spool(["inbox", "list"]).text
    #expect(list.contains("  deep/tape.wav"), "\(list)")
    let lines = try place.spool(["inbox", "list", "--json"]).text
    #expect(lines.contains(#""paths":["deep/tape.wav","audit.wav"]"#), "\(lines)")

    // Who removes one of them learns of the other.
    let page = try place.spool(["inbox", "show", first])
    #expect(page.text.contains("same sound: tape.wav (\(second))"), "\(page.text)")
    #expect(
      try place.spool(["inbox", "show", first, "--json"]).text
        .contains(#""duplicates":["\#(second)"]"#))

    // As the log says.
    try inbox.shell("rm '\(place.out)/deep/tape.wav'")
    let forgotten = try place.spool(["inbox", "forget", first, second])
    #expect(forgotten.exitCode == 0 && !forgotten.errorOutput.contains("has the same sound"))
    try inbox.shell("mv 'inbox/accepted/deep/tape (2).wav' inbox/deep/tape.wav")
    #expect(inbox.wait { watch.news.count { $0.event == "uploaded" } == 2 }, "\(watch.output)")
    #expect(
      try Data(contentsOf: URL(filePath: "\(place.out)/deep/tape.wav"))
        .range(of: Data("Tape 417 A".utf8)) != nil, "\(watch.output)")
  }

  @Test("where an inbox deletes its files, the way to use other tags begins with getting them back")
  func otherTagsDeleted() throws {
    try inbox.make(1)
    try entitle(1, "Tape 417 A")
    let watch = try inbox.watch(["--keep", "delete", "--single-copy"])
    try inbox.shell("cp made/1.wav inbox/tape.wav")
    #expect(
      inbox.wait { watch.news.contains { $0.event == "released" } }, "\(watch.output)")
    let first = try #require(try inbox.notes().first).key
    try inbox.shell("cp made/titled.wav inbox/tape.wav")
    #expect(
      inbox.wait { watch.news.count { $0.event == "released" } == 2 }, "\(watch.output)")
    let second = try #require(try inbox.notes().first { $0.original == first }).key
    let export =
      "to do the recording again with it, type spool inbox export \(first) \(second) --to DIR"
    let forget = "type spool inbox forget \(first) \(second)"
    let told = try #require(watch.output.firstRange(of: export), "\(watch.output)")
    #expect(watch.output[told.upperBound...].contains(forget), "\(watch.output)")
    // As the log says.
    let back = try place.spool(["inbox", "export", first, second, "--to", "back"])
    #expect(back.exitCode == 0, "\(back.errorOutput)")
    let titled = try Data(contentsOf: URL(filePath: place.file("made/titled.wav")))
    let files = try Workspace.names(in: place.file("back")).map {
      try Data(contentsOf: URL(filePath: place.file("back/" + $0)))
    }
    #expect(files.count == 2 && files.contains(titled))
    let forgotten = try place.spool(["inbox", "forget", first])
    #expect(
      forgotten.errorOutput.contains(
        "tape.wav has the same sound, and stays: spool inbox forget \(second) removes it too"),
      "\(forgotten.errorOutput)")
  }

  @Test("the sidecar of a recording that was cut off is told, and becomes the whole one's")
  func cutOff() throws {
    try inbox.make(1, seconds: 2)
    let watch = try inbox.watch(["--give-up", "1s"])
    let begin = "echo '{\"title\":\"Interview\"}' > inbox/t.json; "
    try inbox.shell(begin + "head -c 9000 made/1.wav > inbox/t.wav")
    #expect(
      inbox.wait { watch.news.count { $0.event == "released" } == 1 }, "\(watch.output)")
    try inbox.shell("cp made/1.wav inbox/t.wav")
    #expect(
      inbox.wait { watch.news.count { $0.event == "released" } == 2 }, "\(watch.output)")
    #expect(
      watch.output.contains("quarantine/t.json, which came with its cut-off version"),
      "\(watch.output)")
    #expect(try inbox.notes().first { $0.state == "uploaded" }?.title == "Interview")
    let status = try place.spool(["status"]).text
    #expect(!status.contains("next:") && !status.contains("quarantined"), "\(status)")
    let left = inbox.wait {
      WatchedPlace.files(in: inbox.inbox)
        == [
          "accepted/t.json", "accepted/t.wav", "quarantine/t.wav", "quarantine/t.wav.reason.json",
        ]
    }
    #expect(left)

    // Not the beginning of the next one: it is named.
    try inbox.make(2, seconds: 2)
    let other = "echo '{\"title\":\"Other\"}' > inbox/u.json; "
    try inbox.shell(other + "head -c 9000 made/2.wav > inbox/u.wav")
    #expect(
      inbox.wait { watch.news.count { $0.event == "released" } == 3 }, "\(watch.output)")
    try inbox.make(3, seconds: 2)
    try inbox.shell("cp made/3.wav inbox/u.wav")
    #expect(
      inbox.wait { watch.news.count { $0.event == "released" } == 4 }, "\(watch.output)")
    #expect(watch.output.contains("quarantine/u.json is not used"), "\(watch.output)")
    let note = try #require(
      try inbox.notes().first { $0.state == "uploaded" && $0.file == "u.wav" })
    let shown = try place.spool(["inbox", "show", note.key]).text
    #expect(
      shown.contains("\(inbox.inbox)/quarantine/u.json, which came with an earlier file"),
      "\(shown)")
  }
}
