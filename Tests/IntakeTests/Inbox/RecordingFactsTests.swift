@testable import Intake
import Platform
import Testing

@Suite("What is known about a recording")
struct RecordingFactsTests {
  @Test(
    "dates and titles are read from names",
    arguments: [
      ("2026-11-21_14-05.m4a", "2026-11-21T14:05:00", nil),
      ("20261121-140533.wav", "2026-11-21T14:05:33", nil),
      ("20261121_140533_Team_meeting.wav", "2026-11-21T14:05:33", "Team meeting"),
      ("2026-11-21T14.05.33 - Idea.m4a", "2026-11-21T14:05:33", "Idea"),
      ("20261121140533.wav", "2026-11-21T14:05:33", nil),
      ("Recording 2026-11-21.m4a", "2026-11-21", "Recording"),
      ("Voice 20261121 140533.m4a", "2026-11-21T14:05:33", "Voice"),
      ("2026-11-21 14h05 Grüße.m4a", "2026-11-21T14:05:00", "Grüße"),
      ("2026-11-21 12 songs.m4a", "2026-11-21", "12 songs"),
      ("New Recording 12.m4a", nil, "New Recording 12"), ("20269921.wav", nil, nil),
      ("202611211.wav", nil, nil), ("x20261121.wav", nil, "x20261121"), ("12345678.wav", nil, nil),
      ("1.5-2026.wav", nil, nil), ("a\nb\u{202e}.wav", nil, "a b"), ("-.wav", nil, nil),
    ] as [(String, String?, String?)])
  func names(name: String, time: String?, title: String?) throws {
    let facts = FileNameFacts(try #require(FileName(name)))
    #expect(facts.createdAt?.description == time && facts.title == title, "\(facts)")
  }

  @Test("a UUID in a name is the note's identity, and no part of its title")
  func noteID() throws {
    let id = "6f9619ff-8b86-d011-b42d-00c04fc964ff"
    for name in ["\(id.uppercased()).m4a", "memo_\(id).m4a", "\(id.filter { $0 != "-" }) memo.m4a"]
    {
      let facts = FileNameFacts(try #require(FileName(name)))
      #expect(facts.noteID?.text == id && facts.createdAt == nil)
      #expect(facts.title == nil || facts.title == "memo")
    }
    let digest = String(repeating: "ab", count: 32)
    #expect(FileNameFacts(try #require(FileName(digest + ".m4a"))).noteID == nil)
  }

  @Test(
    "a UUID has one form however it was written",
    arguments: [
      "6F9619FF-8B86-D011-B42D-00C04FC964FF", "{6f9619ff-8b86-d011-b42d-00c04fc964ff}",
      "urn:uuid:6f9619ff-8b86-d011-b42d-00c04fc964ff", "6f9619ff8b86d011b42d00c04fc964ff",
    ])
  func uuid(text: String) {
    #expect(NoteID(text)?.text == "6f9619ff-8b86-d011-b42d-00c04fc964ff")
  }

  @Test(
    "what is no UUID is none",
    arguments: [
      "", "6f9619ff", "6f9619ff-8b86-d011-b42d-00c04fc964fg", "../../../../etc/passwd/aaaaaaaaaaaa",
      "6f96-19ff8b86-d011-b42d-00c04fc964ff", "6f9619ff-8b86-d011-b42d-00c04fc964ff ",
    ])
  func noUUID(text: String) {
    #expect(NoteID(text) == nil)
  }

  @Test("the sidecar counts before the container, and that before the name, each with its source")
  func sources() throws {
    let name = try #require(FileName("2026-11-21_14-05 From the name.m4a"))
    let container = ContainerFacts(
      tags: [
        "creation_time": "2026-11-20T10:00:00.000000Z", "title": "From the container",
        "encoder": "Lavf", "com.apple.quicktime.model": "iPhone17,1",
      ], duration: 61.2344)
    var sidecar = Sidecar()
    sidecar.title = "From the sidecar"
    let facts = RecordingFacts(sidecar: sidecar, container: container, name: name)
    #expect(facts.title?.value == "From the sidecar" && facts.title?.source == .sidecar)
    #expect(facts.createdAt?.source == .container && facts.milliseconds?.value == 61234)
    #expect(facts.recorder?.value == "iPhone17,1" && facts.noteID == nil)
    let bare = RecordingFacts(sidecar: nil, container: nil, name: name)
    #expect(bare.title?.value == "From the name" && bare.createdAt?.source == .fileName)
    #expect(bare.milliseconds == nil && bare.recorder == nil)
  }

  @Test("a program that only wrote the file is no recorder")
  func rewritten() {
    let tags = ["encoder": "Lavf59.27.100"]
    #expect(ContainerFacts(tags: tags).recorder == nil)
    #expect(ContainerFacts(tags: ["encoder": "VoiceMemos 1.0"]).recorder == "VoiceMemos 1.0")
    let both = tags.merging(["software": "Field recorder 2"]) { $1 }
    #expect(ContainerFacts(tags: both).recorder == "Field recorder 2")
  }

  @Test("a container that was never told the time does not tell it")
  func unsetTime() {
    for time in ["1904-01-01T00:00:00.000000Z", "1970-01-01T00:00:00.000000Z", "nonsense"] {
      let facts = ContainerFacts(tags: ["creation_time": time, "date": "2026"], duration: -.nan)
      #expect(facts.createdAt == nil && facts.milliseconds == nil)
    }
    let dated = ContainerFacts(tags: ["creation_time": "", "date": "2026-11-21"])
    #expect(dated.createdAt?.description == "2026-11-21")
  }

  @Test(
    "a time of day goes with the date beside it, as bext chunks have both, and none is invented",
    arguments: [
      (["date": "1987-05-14", "creation_time": "10:22:33"], "1987-05-14T10:22:33"),
      (["date": "1987:05:14", "creation_time": "10-22-33"], "1987-05-14T10:22:33"),
      (["date": "1987-05-14", "creation_time": "10:62:33"], "1987-05-14"),
      (["date": "1987-05-14"], "1987-05-14"), (["creation_time": "10:22:33"], nil),
      (["date": "1987", "creation_time": "10:22:33"], nil),
    ] as [([String: String], String?)])
  func dayAndTime(tags: [String: String], time: String?) {
    #expect(ContainerFacts(tags: tags).createdAt?.description == time)
  }

  @Test(
    "a title becomes a name that leads nowhere",
    arguments: [
      ("Team meeting", "Team meeting"), ("../../etc/passwd", "etc-passwd"), ("a/b\\c:d", "a-b-c-d"),
      ("$(reboot) `x`; y", "(reboot) -x- y"), ("  .hidden.  ", "hidden"), ("-rf", "rf"),
      ("a\n\tb\u{202e}c\0d", "a bcd"), ("con", "_con"), ("COM1.wav", "_COM1.wav"), ("...", nil),
      ("\u{200b}\u{feff}", nil), ("", nil), ("Grüße 👩‍👧", "Grüße 👩‍👧"), ("~/x", "x"),
      ("a???b", "a-b"),
    ] as [(String, String?)])
  func safeNames(title: String, name: String?) {
    #expect(PrintableText.fileName(title) == name)
  }

  @Test("a long title is cut between characters, and the cut end is clean")
  func longNames() {
    let name = PrintableText.fileName(String(repeating: "👩‍👧", count: 100), byteLimit: 30)
    #expect(name == String(repeating: "👩‍👧", count: 2))
    #expect(PrintableText.fileName("abcd  - efgh", byteLimit: 7) == "abcd")
    #expect(PrintableText.fileName("👩‍👧", byteLimit: 5) == nil)
  }
}
