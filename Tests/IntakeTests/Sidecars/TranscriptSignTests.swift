@testable import Intake
import TestSupport
import Testing

@Suite("Transcripts are told from sidecars by what they say") struct TranscriptSignTests {
  @Test(
    "lists of words or segments make a transcript",
    arguments: [
      #"{"text":"a \"b\" {[","segments":[{"id":0}]}"#, #"{"words": [ {"text":"a"}]}"#,
      #"{"words":[]}"#, #"{"systeminfo":"x","model":{"a":[1,{}]},"transcription":[{}]}"#,
      "\u{FEFF}{\"duration\":3.5,\n \"segments\" : [\n{",
    ])
  func transcript(text: String) {
    #expect(TranscriptSign.isTranscript(Array(text.utf8)))
  }

  @Test(
    "anything else does not",
    arguments: [
      "", "{", "[]", "{}", #"{"title":"words"}"#, #"{"noteId":"x","words":[{}]}"#,
      #"{"words":"many"}"#, #"{"words":["a"]}"#, #"{"transcript":{"words":[{}]}}"#,
      #"{"a":"words\":[{","b":1}"#, #"{"a":[{"segments":[{}]}]}"#, #"{"a":"#, #"{"a":"\"#,
    ])
  func other(text: String) {
    #expect(!TranscriptSign.isTranscript(Array(text.utf8)))
  }

  @Test(
    "a sidecar and a transcript of the same name are told apart, and the likeliest text is first")
  func companions() throws {
    let files = [
      "note.json": #"{"segments":[{"text":"a"}]}"#, "note.m4a.json": #"{"title":"A"}"#,
      "note.srt": "", "note.m4a.txt": "",
    ]
    let recording = try #require(FileName("note.m4a"))
    let found = Companions(of: recording) {
      files[$0.description] != nil
    } beginning: { name, count in
      files[name.description].map { Array($0.utf8.prefix(count)) }
    }
    #expect(found.sidecar == FileName("note.m4a.json"))
    #expect(found.transcripts.map(\.description) == ["note.m4a.txt", "note.srt", "note.json"])
  }

  @Test("what lies beside a file is found, whatever letters its name has")
  func besides() throws {
    let scratch = try ScratchFolder()
    let note = try scratch.write("sound", to: "Müller 日本.m4a")
    #expect(Companions(besides: note)?.isEmpty == true)
    try scratch.write("Hello", to: "Müller 日本.txt")
    #expect(Companions(besides: note)?.transcripts.map(\.description) == ["Müller 日本.txt"])
  }

  @Test("a sidecar holds the transcript, or names its file")
  func field() {
    func place(_ json: String) -> Sidecar.TranscriptPlace? {
      Sidecar(json: Array(json.utf8)).transcript { $0.description == "said.txt" }
    }
    #expect(place(#"{"transcript":"said.txt"}"#) == FileName("said.txt").map { .file($0) })
    #expect(place(#"{"transcript":"Hello there"}"#) == .itself)
    #expect(place(#"{"transcript":{"words":[]}}"#) == .itself)
    #expect(place(#"{"transcript":""}"#) == nil)
    #expect(place(#"{"transcript":7}"#) == nil)
  }
}
