import Foundation
@testable import Plugins
import TestSupport
import Testing

@Suite("What a plugin may see of the disk is what it needs")
struct ConfinedPlacesTests {
  @Test("around a plugin's own folder nothing is opened, and an interpreter brings its libraries")
  func folders() {
    func folders(_ program: String, _ reads: [String]) -> [String] {
      Set(ProgramPrefix(of: program, in: reads, homes: ["/nowhere/ann"]).places).sorted()
    }
    #expect(folders("/nowhere/Plugins/hum/hum", ["/nowhere/Plugins/hum"]) == [])
    let humming = "/nowhere/Plugins/humming"
    #expect(folders(humming, ["/nowhere/Plugins/hum"]) == [humming])
    let python = folders("/nowhere/python/bin/python3", [])
    for part in ["bin", "lib", "lib64", "libexec", "share", "pyvenv.cfg", "versions"] {
      #expect(python.contains("/nowhere/python/\(part)"), "\(python)")
    }
    #expect(!python.contains("/nowhere/python"))
    #expect(folders("/nowhere/tools/run.py", []) == ["/nowhere/tools/run.py"])
    #expect(folders("/tmp/run.py", []) == ["/tmp/run.py"])
    #expect(
      folders("/tmp/bin/python3", [])
        == ["/tmp/bin", "/tmp/lib", "/tmp/lib64", "/tmp/pyvenv.cfg"])
    // Others have homes, too, whether they are on the machine's list or not.
    for home in ["/nowhere/ann", "/nowhere/ann/.local", "/" + "home" + "/ben"] {
      #expect(
        folders("\(home)/bin/python3", [])
          == ["bin", "lib", "lib64", "pyvenv.cfg"].map { "\(home)/\($0)" })
      #expect(folders("\(home)/run.py", []) == ["\(home)/run.py"])
    }
  }

  @Test("the interpreter of a first line is opened, and as root's own word only what root wrote")
  func interpreters() throws {
    let folder = try ScratchFolder()
    for name in ["venv/bin", "hum"] {
      try FileManager.default.createDirectory(
        atPath: folder.file(name), withIntermediateDirectories: true)
    }
    let python = folder.file("venv/bin/python3")
    try FileManager.default.createSymbolicLink(
      atPath: python, withDestinationPath: "/usr/bin/env")
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("hum/py"), withDestinationPath: "../venv/bin/python3")
    try folder.write("#!\(python)\n", to: "hum/named.py")
    try folder.write("#!/usr/bin/env sh\n", to: "hum/searched.sh")
    let libraries = folder.file("venv/lib")
    let named = ProgramPrefix(of: folder.file("hum/named.py"), in: [folder.file("hum")])
    #expect(named.publicPlaces.contains(libraries) && !named.places.contains(libraries))
    // A step's own script is the pipeline's word.
    let script = folder.file("hum/named.py")
    let command = ProgramPrefix(of: script, in: [script])
    #expect(command.places.contains(libraries) && command.publicPlaces.isEmpty)
    let searched = ProgramPrefix(of: folder.file("hum/searched.sh"), in: [folder.file("hum")])
    let shell = try #require(Plugin.find("sh"))
    #expect(searched.places.contains((shell as NSString).deletingLastPathComponent))
    #expect(searched.publicPlaces.isEmpty)
    // A link of the plugin's own is no word of root's, either.
    let link = ProgramPrefix(of: folder.file("hum/py"), in: [folder.file("hum")])
    #expect(link.places.isEmpty && link.publicPlaces.contains("/usr/bin"))
    let manifest = PluginManifest(
      name: "hum", version: "1", summary: "hum", run: ["./named.py"], kinds: [])
    let plugin = Plugin(folder: folder.file("hum"), manifest: manifest)
    #expect(plugin.closedProgram(called: "./py") == nil)
    unsafe chmod(folder.file("venv"), 0o700)
    let closed = plugin.closedProgram(called: "./named.py")
    #expect(closed?.message.contains("only root") == (geteuid() == 0 ? true : nil))
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
    // What cannot be got at is not public, whatever its own permissions; nor is what a link leads to.
    #expect(PublicFiles(of: folder.file("closed/d")).isEmpty)
    for (name, target) in [("link", "mixed/c"), ("mixed/out", "c")] {
      try FileManager.default.createSymbolicLink(
        atPath: folder.file(name), withDestinationPath: target)
    }
    #expect(PublicFiles(of: folder.file("link")).isEmpty)
    #expect(PublicFiles(of: folder.file("mixed")).whole == [folder.file("mixed/inner")])
  }

  @Test("a manifest alone opens what everybody may read, and that from the pipeline's folder on")
  func defaults() throws {
    let folder = try ScratchFolder()
    try folder.write("x", to: "model")
    try folder.write("x", to: "key")
    for (name, mode) in [("", 0o700), ("model", 0o644), ("key", 0o600)] {
      try FileManager.default.setAttributes(
        [.posixPermissions: mode], ofItemAtPath: folder.file(name))
    }
    #expect(PublicFiles.hold(folder.file("model"), from: folder.path))
    #expect(!PublicFiles.hold(folder.file("model")))
    #expect(!PublicFiles.hold(folder.file("key"), from: folder.path))
    #expect(!PublicFiles.hold(folder.file("model"), from: folder.file("elsewhere")))
    let manifest = PluginManifest(name: "hum", version: "1", summary: "hum", kinds: [])
    let plugin = Plugin(folder: "/nowhere/hum", manifest: manifest)
    #expect(plugin.mayOpen(folder.file("key"), named: "key") == (geteuid() != 0))
    #expect(plugin.mayOpen(folder.file("model"), named: "model"))
    let own = Plugin(folder: folder.path, manifest: manifest)
    #expect(own.mayOpen(folder.file("key"), named: "key"))
  }
}
