import Foundation
@testable import Intake
import PipelineModel
import Platform
import TestSupport
import Testing

@Suite("Sidecars")
struct SidecarTests {
  private func sidecar(_ text: String) -> Sidecar { Sidecar(json: Array(text.utf8)) }

  @Test("of many mistakes, the first are told, and how many more there are")
  func many() {
    let tags = Array(repeating: "1", count: 90).joined(separator: ",")
    let sidecar = Sidecar(json: Array("{\"tags\": [\(tags)], \"durationMs\": true}".utf8))
    #expect(sidecar.problems.count == 21)
    #expect(sidecar.problems.first?.field == "durationMs")
    #expect(sidecar.problems.last?.found == "71 more mistakes")
  }

  @Test("a field that has nearly the name of another one is reported, and kept")
  func misspelt() {
    let sidecar = sidecar(#"{"Title": "Bees", "chapter": [], "tagged": 1, "note": "x"}"#)
    #expect(
      sidecar.exportProblems == [
        #"chapters: found the name "chapter", expected chapters"#,
        #"title: found the name "Title", expected title"#,
      ])
    #expect(sidecar.problems.count == 2 && sidecar.unknown.count == 4)
    #expect(self.sidecar(#"{"segments": [], "Title": "x"}"#).problems == [])
  }

  @Test("every field is read, and unknown ones are kept as they were written")
  func whole() {
    let sidecar = sidecar(
      #"""
      {"noteId": "6F9619FF-8B86-D011-B42D-00C04FC964FF", "createdAt": "2026-11-21T14:05:33+01:00",
       "durationMs": 61234, "title": " Team\u0000\n meeting\u202e ", "watchModel": "Watch7,1",
       "watchOSVersion": "12.1", "phoneModel": "iPhone17,1", "iOSVersion": "27.0",
       "tags": ["work", "a\tb", "work"], "heartRate": [61.50, {"z": 1, "a": null}], "app": "x"}
      """#)
    #expect(sidecar.problems == [])
    #expect(sidecar.noteID?.text == "6f9619ff-8b86-d011-b42d-00c04fc964ff")
    #expect(sidecar.createdAt?.description == "2026-11-21T14:05:33+01:00")
    #expect(sidecar.milliseconds == 61234 && sidecar.title == "Team meeting")
    #expect(sidecar.watchModel == "Watch7,1" && sidecar.watchOSVersion == "12.1")
    #expect(sidecar.phoneModel == "iPhone17,1" && sidecar.iOSVersion == "27.0")
    #expect(sidecar.tags == ["work", "a b"])
    #expect(
      JSONValue.object(sidecar.unknown).compact
        == #"{"app":"x","heartRate":[61.50,{"a":null,"z":1}]}"#)
  }

  @Test("a text of an older editor is read as it was written")
  func olderEncodings() {
    let text = #"{"title": "Gespräch mit “Käthe”", "chapters": [{"start": 0, "title": "Größe"}]}"#
    let latin = text.unicodeScalars.map { scalar in
      scalar == "“" ? 0x93 : scalar == "”" ? 0x94 : UInt8(scalar.value)
    }
    let wide: [UInt8] = [0xff, 0xfe] + text.utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
    for bytes in [latin, wide, Array(text.utf8), [0xef, 0xbb, 0xbf] + Array(text.utf8)] {
      let sidecar = Sidecar(json: bytes)
      #expect(sidecar.title == "Gespräch mit “Käthe”" && sidecar.problems == [])
      #expect(sidecar.chapters?.map(\.title) == ["Größe"])
    }
  }

  @Test("chapters have a start, which podcasts call startTime, and perhaps a title")
  func chapters() {
    let right = sidecar(
      #"""
      {"version": "1.2.0", "chapters": [{"start": 12.5, "title": " Guests\n\u0000 "},
       {"startTime": 0, "title": "Hello", "img": "a.png"}, {"start": 90}]}
      """#)
    #expect(right.problems == [])
    #expect(right.chapters?.map(\.start) == [12.5, 0, 90])
    #expect(right.chapters?.map(\.title) == ["Guests", "Hello", nil])

    let wrong = sidecar(
      #"""
      {"chapters": [{"start": "1:00", "title": "A"}, 7, {"start": -1}, {"start": 3, "title": 9}]}
      """#)
    #expect(wrong.chapters?.map(\.start) == [3])
    #expect(
      wrong.exportProblems == [
        "chapters[0].start: found the text \"1:00\", expected seconds, a number from 0 to 360000",
        "chapters[1].start: found null, expected seconds, a number from 0 to 360000",
        "chapters[2].start: found the number -1, expected seconds, a number from 0 to 360000",
        "chapters[3].title: found the number 9, expected a text",
      ])
    #expect(sidecar(#"{"chapters": "none"}"#).exportProblems.count == 1)
    #expect(sidecar(#"{"title": "x"}"#).chapters == nil)
    #expect(sidecar(#"{"chapters": []}"#).chapters == [])
    let many = Array(repeating: #"{"start": 1}"#, count: 1000).joined(separator: ",")
    #expect(sidecar("{\"chapters\": [\(many)]}").chapters?.count == 999)
    #expect(sidecar("{\"chapters\": [\(many)]}").exportProblems.count == 1)
  }

  @Test("a recogniser's answer with chapters of its own kind stays a transcript")
  func answer() {
    let answer = sidecar(
      #"{"words": [{"word": "a"}], "chapters": [{"start": 250, "headline": "A"}]}"#)
    #expect(answer.isTranscript && answer.chapters == nil)
  }

  @Test("every wrong field is reported, and every right one is kept")
  func wrongTypes() {
    let sidecar = sidecar(
      #"""
      {"noteId": "not-a-uuid", "uuid": "6f9619ff8b86d011b42d00c04fc964ff", "createdAt": 1763730000,
       "durationMs": "61234", "duration": 61.2, "title": ["x"], "watchModel": null,
       "phoneModel": {"a": 1}, "iOSVersion": true, "tags": ["ok", 7, ""], "watchOSVersion": "1"}
      """#)
    #expect(
      sidecar.problems.map { "\($0.field ?? ""): \($0.found)" } == [
        "createdAt: the number 1763730000", "durationMs: the text \"61234\"", "iOSVersion: true",
        "noteId: the text \"not-a-uuid\"", "phoneModel: an object", "tags[1]: the number 7",
        "tags[2]: the text \"\"", "title: a list",
      ])
    #expect(sidecar.problems.allSatisfy { !$0.expected.isEmpty })
    #expect(sidecar.noteID?.text == "6f9619ff-8b86-d011-b42d-00c04fc964ff")
    #expect(sidecar.milliseconds == 61200 && sidecar.tags == ["ok"])
    #expect(sidecar.watchOSVersion == "1" && sidecar.title == nil && sidecar.unknown == [:])
  }

  @Test(
    "what ends too early may be half of a sidecar, and anything else never becomes one",
    arguments: [
      ("", true), (" \n", true), (#"{"title":"a"#, true), (#"{"title":"#, true), ("{", true),
      ("{\"a\":1,\n\"b\":tru", true), ("{\"a\":\u{0}\u{0}", true), (#"{"a":[1,2"#, true),
      ("hello", false), (#"["a"]"#, false), (#"{"a":x}"#, false), (#"{"a":1} more"#, false),
      ("7", false), (String(repeating: "[", count: 40), false), ("{\"a\":\n\ntruth}", false),
    ])
  func halves(text: String, isCutOff: Bool) {
    let sidecar = sidecar(text)
    #expect(!sidecar.isReadable && sidecar.isCutOff == isCutOff)
  }

  @Test("fields that contradict each other are reported")
  func contradictions() {
    let sidecar = sidecar(
      #"""
      {"noteId": "6f9619ff-8b86-d011-b42d-00c04fc964ff", "duration": 70, "durationMs": 61234,
       "uuid": "00000000-0000-0000-0000-000000000001", "title": "a", "title": "b"}
      """#)
    #expect(Set(sidecar.problems.map(\.field)) == ["uuid", "duration", "title"])
    #expect(sidecar.noteID?.text.hasPrefix("6f96") == true && sidecar.milliseconds == 61234)
    #expect(sidecar.title == "b")
  }

  @Test(
    "lengths that no recording has are reported",
    arguments: ["-1", "1e300", "1e999", "-0.001e5", "99999999999999"])
  func lengths(number: String) {
    let sidecar = sidecar("{\"durationMs\": \(number)}")
    #expect(sidecar.milliseconds == nil && sidecar.problems.count == 1)
  }

  @Test(
    "what is no object, empty, malformed or too deep is one problem, with its place",
    arguments: ["", "  ", "[]", "7", "{", "{\"title\": \"x\"", "<html>", "\u{0}\u{0}\u{0}"])
  func malformed(text: String) {
    let sidecar = sidecar(text)
    #expect(sidecar.isEmpty && sidecar.problems.count == 1)
    #expect(sidecar.problems.first?.field == nil)
    #expect(sidecar.problems.first?.description.contains("expected") == true)
  }

  @Test("a huge file is not read, and a list of a thousand tags is cut")
  func huge() throws {
    let text = "{\"title\":\"" + String(repeating: "x", count: Sidecar.byteLimit) + "\"}"
    let read = sidecar(text)
    #expect(read.isEmpty && !read.isReadable)
    #expect(read.problems.first?.expected == "at most 1048576 bytes")
    let many = sidecar("{\"tags\": [\((0..<1000).map { "\"\($0)\"" }.joined(separator: ","))]}")
    #expect(many.tags.count == 100 && many.problems.map(\.field) == ["tags"])
    let long = sidecar("{\"title\": \"\(String(repeating: "é", count: 5000))\"}")
    #expect(long.title?.count == 1000)
  }

  @Test(
    "a text that ends as the name of a text does is a name, and other texts are what is said",
    arguments: [
      ("said.txt", true), ("What I said.SRT", true), ("talk.whisper.json", true),
      ("texts/said.vtt", true), ("I said so.", false), (".txt", false), ("what is a .txt", false),
      ("one\ntwo.txt", false), ("said.wav", false),
    ])
  func transcriptName(text: String, isName: Bool) {
    var sidecar = Sidecar()
    sidecar.written["transcript"] = .text(text)
    #expect(sidecar.transcript { _ in false } == (isName ? .missing(text) : .itself))
  }
}
