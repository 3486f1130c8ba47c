import Foundation
import TestSupport
import Testing

@testable import PluginHost

@Suite("What a plugin may see of the disk is what it needs")
struct ConfinedPlacesTests {
  @Test("around a plugin's own folder nothing is opened, and an interpreter brings its libraries")
  func folders() {
    func folders(_ program: String, _ reads: [String]) -> [String] {
      Set(ConfinedPlaces.folders(of: program, in: reads)).sorted()
    }
    #expect(folders("/nowhere/Plugins/hum/hum", ["/nowhere/Plugins/hum"]) == [])
    #expect(folders("/nowhere/Plugins/humming", ["/nowhere/Plugins/hum"]) == ["/nowhere/Plugins"])
    #expect(folders("/nowhere/python/bin/python3", []) == ["/nowhere/python"])
    #expect(folders("/nowhere/tools/run.py", []) == ["/nowhere/tools"])
    #expect(folders("/tmp/run.py", []) == ["/tmp/run.py"])
    #expect(folders("/tmp/bin/python3", []) == ["/tmp/bin", "/tmp/lib"])
  }

  @Test("of a folder, root reads only what everybody may")
  func publicFiles() throws {
    let folder = try ScratchFolder()
    for name in ["open/a", "mixed/inner/b", "mixed/c", "closed/d"] {
      let parent = (name as NSString).deletingLastPathComponent
      try FileManager.default.createDirectory(
        atPath: folder.file(parent), withIntermediateDirectories: true)
      try folder.write("x", to: name)
    }
    for (name, mode) in [
      ("", 0o755), ("open", 0o755), ("open/a", 0o644), ("mixed", 0o755), ("mixed/inner", 0o755),
      ("mixed/inner/b", 0o644), ("mixed/c", 0o640), ("closed", 0o750), ("closed/d", 0o644),
    ] {
      try FileManager.default.setAttributes(
        [.posixPermissions: mode], ofItemAtPath: folder.file(name))
    }
    let files = PublicFiles(of: folder.path)
    #expect(files.whole.sorted() == ["mixed/inner", "open"].map(folder.file))
    #expect(files.folders.sorted() == [folder.path, folder.file("mixed")])
    #expect(PublicFiles(of: folder.file("open")).whole == [folder.file("open")])
  }
}
