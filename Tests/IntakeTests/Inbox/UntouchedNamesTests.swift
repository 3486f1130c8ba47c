@testable import Intake
import Testing

@Suite("What is never touched")
struct UntouchedNamesTests {
  private let names = UntouchedNames()

  @Test(
    "half-written and foreign files are left alone",
    arguments: [
      ".syncthing.note.m4a.tmp", "~syncthing~note.m4a.tmp", "note.m4a.part", "note.m4a~",
      "note.m4a.crdownload", "note.m4a.partial", ".note.m4a.0a1b2c3d.partial", ".note.m4a.Xy3kQp",
      "NOTE.M4A.PART", "x.tmp", ".hidden", "note.lock", ".~lock.note.odt#", "~$note.docx",
      ".stfolder", ".DS_Store", "._note.m4a", "note.wav.opdownload", "note.wav.uploading",
      "note.wav.!ut", "note.wav.!qB", "note.wav.tmp", "note.wav.temp", "note.wav.filepart",
      "note.wav.aria2", "note.wav.bc!", "note.wav.fdmdownload", ".goutputstream-X4K2B1",
      ".fuse_hidden0000012300000001", ".nfs00000000012ab", ".smbdelete1a2b", "~$note.wav",
      "note.wav.sb-1a2b3c4d-Xy9Kp2", ".sb-1a2b3c4d",
    ])
  func files(name: String) throws {
    let name = try #require(FileName(name))
    #expect(names.reason(for: name, in: .inbox, isFolder: false) != nil)
  }

  @Test(
    "recordings are not",
    arguments: [
      "note.m4a", "part.wav", "tmp", "note.tmp.wav", "partial", "a~b.wav", "[x].wav", "accepted",
      "sb-note.wav", "uploading.wav", "nfs.wav", "bc!.wav", "quarantine",
      "note.sync-conflict-20261121-140533-ABCDEFG.m4a", "lock.wav", "*.wav",
    ])
  func recordings(name: String) throws {
    let name = try #require(FileName(name))
    #expect(names.reason(for: name, in: .inbox, isFolder: false) == nil)
  }

  @Test("a file that never got its own name again is told of, and one that nobody wants is not")
  func suspicions() throws {
    for rule in UntouchedNames.everywhere where rule.pattern.hasPrefix("*.") {
      let name = try #require(
        FileName("note.wav" + rule.pattern.dropFirst().replacing("?", with: "a")))
      let isControl = [".aria2", ".lock", ".lck"].contains { rule.pattern.hasSuffix($0) }
      #expect((names.suspicion(of: name, in: .inbox) == nil) == isControl, "\(rule.pattern)")
    }
    let command = try #require(FileName(".7.command.json"))
    #expect(names.suspicion(of: command, in: .inbox) == "it is hidden")
    let settings = try #require(FileName(".settings.json"))
    #expect(names.suspicion(of: settings, in: .inbox) == nil)
    let partial = try #require(FileName("note.wav.opdownload"))
    #expect(names.suspicion(of: partial, in: .inbox) == "Opera is still downloading it")
  }

  @Test("own folders are those directly in the inbox, hidden ones are anywhere")
  func folders() throws {
    let cases: [(String, Bool, Bool)] = [
      ("accepted/a.wav", false, true), ("quarantine", true, true), ("sub/accepted", true, false),
      ("sub/accepted/a.wav", false, false), ("sub/.stversions/a~1.wav", false, true),
      (".~tmp~/a.wav", false, true), ("a.wav.download/a.wav", false, true),
      ("a/b/c/d.wav", false, false), ("a/.b/c/d.wav", false, true),
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
