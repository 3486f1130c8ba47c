@testable import PipelineModel
import Testing

@Suite struct ExportNameTests {
  @Test(arguments: [
    ("/inbox/note.m4a", "note"), ("/inbox/no.te.wav", "no.te"), ("/inbox/.hidden", "_hidden"),
    ("/inbox/noext", "noext"), ("/inbox/-rf.wav", "_rf"), ("/inbox/a\nb.wav", "a_b"),
    ("/inbox/ .wav", "recording"), ("/inbox/Käse.wav", "Käse"),
  ])
  func `a recording's name becomes a harmless stem`(path: String, stem: String) {
    #expect(ExportName.stem(of: path) == stem)
  }

  @Test func `a name without a recording is still a name`() {
    #expect(ExportName.stem(of: nil) == "recording")
  }

  @Test(arguments: [
    ("{stem}", "note"), ("{stem}.archive", "note.archive"), ("a-{stem}-{stem}", "a-note-note"),
    ("../{stem}", "_._note"), ("/etc/{stem}", "_etc_note"), ("", "recording"),
  ])
  func `a template cannot leave the folder`(template: String, name: String) {
    #expect(ExportName.fill(template, recording: "/inbox/note.m4a") == name)
  }

  @Test(arguments: ["a", "録", "é", "e\u{301}"], [180, 199, 200, 225, 255])
  func `what a template adds to a long name stays`(letter: String, byteCount: Int) {
    let long = String(repeating: letter, count: byteCount / letter.utf8.count)
    let templates = (1...40).flatMap {
      ["{stem}-\($0)", "\($0) {stem}.take", "{stem}{stem} \($0)"]
    }
    let names = templates.map { ExportName.fill($0, recording: "/inbox/\(long).wav") }
    #expect(Set(names.map { Array($0.utf8) }).count == templates.count)
    for name in names { #expect((1...200).contains(name.utf8.count), "\(name)") }
  }

  @Test func `a name is short enough for any file system`() {
    let long = String(repeating: "ß", count: 300)
    let name = ExportName.fill("{stem}", recording: "/inbox/\(long).wav")
    #expect(name.utf8.count <= 200)
    #expect(name.allSatisfy { $0 == "ß" })
  }
}
