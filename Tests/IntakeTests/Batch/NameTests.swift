import Foundation
@testable import Intake
import PipelineModel
import Platform
import Testing

@Suite("Names stay in the output folder, and belong to one file each")
struct NameTests {
  @Test("fields come from the sidecar, then the tags, then the file's name")
  func fields() throws {
    let template = try NameTemplate("{album}/{date}-{title}.{ext}")
    let tags = ["album": "Walks", "title": "Tagged", "creation_time": "2026-03-14T07:42:10.0Z"]
    let path = "2025/trip 20250102.m4a"
    #expect(
      template.fill(NameFields(path: path, sidecar: ["title": "Garage"], tags: tags))
        == "Walks/2026-03-14-Garage")
    #expect(template.fill(NameFields(path: path)) == "unknown album/2025-01-02-trip 20250102")
    #expect(
      try NameTemplate("{folder}/{stem}").fill(NameFields(path: "a/b/c.wav")) == "a/b/c")
    #expect(try NameTemplate("x-{date}").fill(NameFields(path: "c.wav")) == "x-undated")
  }

  @Test("a date comes from the sidecar, then the tags, then the stem; a year alone comes last")
  func dates() throws {
    let template = try NameTemplate("{date}")
    func date(_ sidecar: [String: String], _ tags: [String: String]) -> String {
      template.fill(NameFields(path: "20250103.wav", sidecar: sidecar, tags: tags))
    }
    #expect(date(["createdat": "2025-01-01T10:00:00Z"], ["date": "2025-01-02"]) == "2025-01-01")
    #expect(date([:], ["date": "2025-01-02", "creation_time": "2025-01-04"]) == "2025-01-02")
    #expect(date([:], ["date": "2019"]) == "2025-01-03")
    #expect(date(["date": "someday"], [:]) == "2025-01-03")
    #expect(template.fill(NameFields(path: "a.wav", tags: ["date": "2019"])) == "2019")
  }

  @Test(
    "of a date without a day, and of one that no calendar has, the part that is right is left",
    arguments: [
      ("1987-05", "1987-05"), ("1987-05-00", "1987-05"), ("1987-05-45", "1987-05"),
      ("2023-02-29", "2023-02"), ("2024-02-29", "2024-02-29"), ("1987-13-45", "1987"),
      ("1987-13", "1987"), ("1987-5-3", "1987"), ("19870500", "undated"), ("0000", "undated"),
      ("0000-00-00", "undated"), ("May 1987", "undated"), ("1987/05", "1987"),
    ])
  func partialDates(written: String, told: String) throws {
    let template = try NameTemplate("{date}")
    #expect(template.fill(NameFields(path: "a.wav", tags: ["date": written])) == told)
    #expect(template.fill(NameFields(path: "a.wav", sidecar: ["createdat": written])) == told)
    // A whole day of the stem comes before.
    #expect(
      template.fill(NameFields(path: "20250103.wav", tags: ["date": written]))
        == (told.count == 10 ? told : "2025-01-03"))
  }

  @Test(
    "an extension in place of each export's own is refused",
    arguments: ["{stem}.mp3", "{title}/{stem}.WAV", "x.flac", "{stem}-v2.m4a"])
  func literalExtension(text: String) throws {
    let problem = try #require(throws: SpoolError.self) { try NameTemplate(text) }
    #expect(problem.advice?.contains(".{ext}") == true)
  }

  @Test(
    "a point that begins no extension of sound is taken",
    arguments: ["{stem}.v2", "{stem}-1.5", "{date}.{title}", "a.mp3/{stem}", "mp3", "{stem}.{ext}"])
  func points(text: String) throws { _ = try NameTemplate(text) }

  @Test(
    "no field leads out of the folder, hides a file or breaks a line",
    arguments: [
      "../../etc/passwd", "/etc/passwd", "..", ".", "", "  ", ".hidden", "a/../b", "a\0b", "a\nb",
      "\u{2028}", "-rf", "~/x", String(repeating: "é", count: 400), "\\\\host\\share", "\u{7F}",
      "\u{85}",
    ])
  func hostileFields(text: String) throws {
    for pattern in ["{title}", "{title}/{title}", "x/{title}{album}.{ext}", ".{title}"] {
      let name = try NameTemplate(pattern).fill(
        NameFields(path: "a.wav", sidecar: ["title": text, "album": text]))
      let parts = name.split(separator: "/", omittingEmptySubsequences: false)
      #expect(parts.count == pattern.split(separator: "/").count, "\(name)")
      for part in parts {
        #expect(!part.isEmpty && part.first != "." && part.first != "-" && part.utf8.count <= 180)
        #expect(part.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
      }
    }
  }

  @Test(
    "a template that makes no sense is refused",
    arguments: ["", "/x", "a/../b", "a//b", "{title", "{ti tle}", "{ext}/{title}", "{}", ".", "a/"])
  func wrongTemplates(text: String) {
    #expect(throws: SpoolError.self) { try NameTemplate(text) }
  }

  @Test(
    "a misspelt field is refused with the word that was meant",
    arguments: [
      ("{titel}", "{title}"), ("{dat}", "{date}"), ("{albun}/{title}", "{album}"),
      ("{foldr}/{stem}", "{folder}"),
    ])
  func misspelt(text: String, meant: String) throws {
    let problem = try #require(throws: SpoolError.self) { try NameTemplate(text) }
    #expect(problem.message.contains("perhaps \(meant)"), "\(problem.message)")
  }

  @Test("every unknown field is named at once, with those that there are")
  func unknownFields() throws {
    let problem = try #require(throws: SpoolError.self) {
      try NameTemplate("{nope}/{title}-{zzz}")
    }
    for word in ["{nope}", "{zzz}"] { #expect(problem.message.contains(word), "\(problem)") }
    for word in ["{stem}", "{sidecar.NAME}"] {
      #expect(problem.advice?.contains(word) == true, "\(problem)")
    }
  }

  @Test("a field that only this sidecar or this recording has is asked for by where it is")
  func ownFields() throws {
    let fields = NameFields(
      path: "a.wav", sidecar: ["mood": "calm"], tags: ["mood": "loud", "isrc": "X1"])
    #expect(try NameTemplate("{sidecar.Mood}-{tag.mood}-{isrc}").fill(fields) == "calm-loud-X1")
    #expect(try NameTemplate("{tag.other}").fill(fields) == "unknown other")
    #expect(throws: SpoolError.self) { try NameTemplate("{tag.}") }
  }

  @Test(
    "a day is found where there is one",
    arguments: [
      ("2026-03-14T07:42:10Z", "2026-03-14"), ("REC 20260314-074210", "2026-03-14"),
      ("take 2026-13-14", nil), ("120260314", nil), ("202603145", nil), ("no", nil),
      ("v2-2026-03-14", "2026-03-14"),
    ] as [(String, String?)])
  func days(text: String, day: String?) { #expect(NameFields.day(in: text) == day) }

  @Test("the second file that wants a name gets -2, in order, and nobody takes another's place")
  func collisions() {
    var repository = ReservedNames { [$0 + ".wav", $0 + ".m4a"] }
    #expect(repository.assign("a") == "a")
    #expect(repository.assign("a") == "a-2")
    let isFree = repository.take("a-3")
    #expect(isFree)
    #expect(repository.assign("a") == "a-4")
    repository.reserve("b.m4a")
    #expect(repository.assign("b") == "b-2")
    let isFreeTwice = repository.take("b-2")
    #expect(!isFreeTwice)
  }

  @Test("exports of different names may still meet: master.wav of one, and another's wav")
  func crossing() {
    var repository = ReservedNames { [$0 + ".wav", $0 + ".alac.m4a", $0 + ".m4a"] }
    #expect(repository.assign("a.alac") == "a.alac")
    #expect(repository.assign("a") == "a-2")
  }

  @Test(
    "names that agree in all that file systems take get numbers of their own, in any alphabet",
    arguments: ["a", "録", "é", "e\u{301}"], [180, 199, 200, 225, 255])
  func longNames(letter: String, byteCount: Int) {
    let long = String(repeating: letter, count: byteCount / letter.utf8.count)
    for template in ["{stem}", "{stem}.archive", "take {stem}"] {
      var names = ReservedNames { name in
        [ExportName.fill(template, recording: name + ".wav") + ".flac"]
      }
      let wanted = (0..<30).map { $0 < 20 ? long : long + "\($0)" }
      let given = wanted.map { names.assign($0) }
      let files = given.map { ExportName.fill(template, recording: $0 + ".wav") }
      #expect(Set(files.map(ExactText.init)).count == 30, "\(template) \(files)")
      for (name, wish) in zip(given, wanted) {
        #expect(ReservedNames.isNumbered(name, of: wish), "\(name)")
      }
    }
  }

  @Test("exports of a fixed name end the search for a free one")
  func fixedName() {
    var names = ReservedNames { _ in ["mix.flac"] }
    #expect(names.assign("a") == "a" && names.assign("b") == "b")
  }

  @Test("a name that was given before is known again")
  func numbered() {
    #expect(ReservedNames.isNumbered("a", of: "a"))
    #expect(ReservedNames.isNumbered("a-12", of: "a"))
    for other in ["a-", "a-x", "b-2", "a-02", "ab", "a-2-x"] {
      #expect(!ReservedNames.isNumbered(other, of: "a"), "\(other)")
    }
  }

  @Test("thousands of names that agree in all that file systems take are named at once")
  func manyLongNames() {
    var names = ReservedNames { [ExportName.fill("{stem}", recording: $0 + ".wav") + ".flac"] }
    let long = String(repeating: "録", count: 70)
    let given = (0..<3000).map { names.assign("\(long)\($0)") }
    let files = given.map { ExportName.fill("{stem}", recording: $0 + ".wav") }
    #expect(Set(files.map(ExactText.init)).count == 3000)
  }

  @Test(
    "files of one inbox with long names leave it, and are answered for, under names of their own",
    arguments: ["a", "録", "é", "e\u{301}"], [180, 199, 200, 225, 250])
  func inboxNames(letter: String, byteCount: Int) throws {
    let long = String(repeating: letter, count: byteCount / letter.utf8.count)
    for ending in ["", ".wav", "." + String(repeating: "w", count: 40)] {
      let bytes = Array((long + ending).utf8)
      guard bytes.count <= 255 else { continue }
      let arrived = InboxPath.inbox.appending(try #require(FileName(bytes: bytes)))
      let paths = (1...120).map {
        ReleaseName.path(
          of: arrived, in: ReleaseName.quarantine, number: $0, room: ReleaseName.reasonRoom)
      }
      let all = paths + paths.map(ReleaseName.reason)
      #expect(Set(all.map(\.bytes)).count == 240, "\(long)")
      for path in all { #expect((path.name?.bytes.count ?? 256) <= 255, "\(path)") }
    }
    let ids = (0..<120).map { "\(long)\($0)" }
    let answers = ids.flatMap {
      [AcknowledgementName.acknowledgement($0), AcknowledgementName.answer(to: $0)]
    }
    #expect(Set(answers.map(\.bytes)).count == 240)
    for answer in answers { #expect((answer.name?.bytes.count ?? 256) <= 255, "\(answer)") }
  }

  @Test("ten thousand files of one name are named at once")
  func many() {
    var repository = ReservedNames { [$0] }
    var last = ""
    for _ in 0..<10_000 { last = repository.assign("note") }
    #expect(last == "note-10000")
  }
}
