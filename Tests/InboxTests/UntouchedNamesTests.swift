import Sidecars
import Testing

@testable import Inbox

@Suite("What is never touched")
struct UntouchedNamesTests {
  private let names = UntouchedNames()

  @Test(
    "half-written and foreign files are left alone",
    arguments: [
      ".syncthing.note.m4a.tmp", "~syncthing~note.m4a.tmp", "note.m4a.part", "note.m4a~",
      "note.m4a.crdownload", "note.m4a.partial", ".note.m4a.0a1b2c3d.partial", ".note.m4a.Xy3kQp",
      "NOTE.M4A.PART", "x.tmp", ".hidden", "note.lock", ".~lock.note.odt#", "~$note.docx",
      ".stfolder", ".DS_Store", "._note.m4a",
    ])
  func files(name: String) throws {
    let name = try #require(FileName(name))
    #expect(names.reason(for: name, in: .inbox, isFolder: false) != nil)
  }

  @Test(
    "recordings are not",
    arguments: [
      "note.m4a", "part.wav", "tmp", "note.tmp.wav", "partial", "a~b.wav", "[x].wav", "accepted",
      "quarantine", "note.sync-conflict-20261121-140533-ABCDEFG.m4a", "lock.wav", "*.wav",
    ])
  func recordings(name: String) throws {
    let name = try #require(FileName(name))
    #expect(names.reason(for: name, in: .inbox, isFolder: false) == nil)
  }

  @Test("own folders are those directly in the inbox, hidden ones are anywhere")
  func folders() throws {
    let cases: [(String, Bool, Bool)] = [
      ("accepted/a.wav", false, true), ("quarantine", true, true), ("sub/accepted", true, false),
      ("sub/accepted/a.wav", false, false), ("sub/.stversions/a~1.wav", false, true),
      (".~tmp~/a.wav", false, true), ("a/b/c/d.wav", false, false), ("a/.b/c/d.wav", false, true),
    ]
    for (text, isFolder, isUntouched) in cases {
      let path = try #require(InboxPath(text))
      #expect((names.reason(for: path, isFolder: isFolder) != nil) == isUntouched, "\(text)")
    }
  }

  @Test("a user's own rules come first, and say why")
  func own() throws {
    let names = UntouchedNames(besides: [NameRule("*.txt", because: "they are for people")])
    let name = try #require(FileName("README.txt"))
    #expect(names.reason(for: name, in: .inbox, isFolder: false) == "they are for people")
    #expect(UntouchedNames.everywhere.allSatisfy { !$0.reason.isEmpty })
  }
}
