import Foundation
import PipelineModel
import Platform
import Plugins
import TestSupport
import Testing

@Suite("A shelf knows which of its plugins pipelines can use")
struct PluginShelfTests {
  private func plugin(
    _ folder: ScratchFolder, _ place: String, name: String, kind: String, run: String = "[sh]",
    more: String = ""
  ) throws {
    try FileManager.default.createDirectory(
      atPath: folder.file(place), withIntermediateDirectories: true)
    _ = try folder.write(
      """
      plugin: \(name)
      version: "1"
      protocol: 1
      summary: something
      run: \(run)
      \(more)
      stages: [{ kind: \(kind), type: sound, summary: something }]
      """, to: "\(place)/plugin.yaml")
  }

  @Test("two of one kind, two of one name, one of Spool's kinds, one without its program")
  func states() throws {
    let folder = try ScratchFolder()
    try plugin(folder, "a", name: "a", kind: "same")
    try plugin(folder, "b", name: "b", kind: "same")
    try plugin(folder, "c", name: "c", kind: "gate")
    try plugin(folder, "d", name: "twin", kind: "d")
    try plugin(folder, "e", name: "twin", kind: "e")
    try plugin(folder, "f", name: "f", kind: "f", run: "[no-such-program]")
    try plugin(folder, "g", name: "g", kind: "g", more: "needs: [sh, nothing-like-it]")
    try plugin(folder, "h", name: "h", kind: "h", run: "[sh, ./gone.sh]")
    try plugin(folder, "i", name: "i", kind: "i")
    _ = try folder.write("not a manifest", to: "j.yaml")
    let registry = PluginRegistry(in: [folder.path], taken: ["gate"])
    let words = registry.statuses.map { "\($0.name): \($0.words)" }
    #expect(
      words == [
        "a: same offered twice", "b: same offered twice", "c: gate is Spool's own",
        "f: needs no-such-program", "g: needs nothing-like-it", "h: needs ./gone.sh", "i: ready",
        "twin: name used twice", "twin: name used twice",
      ])
    let usable = registry.plugins.filter { plugin in
      plugin.manifest.kinds.allSatisfy { registry.canUse($0, of: plugin) }
    }.map(\.manifest.name)
    #expect(usable == ["f", "g", "h", "i"])
  }

  @Test("a manifest that is a folder, a pipe, or a link to nothing or elsewhere is not read")
  func strangeManifests() throws {
    let folder = try ScratchFolder()
    for name in ["a", "b", "c", "d"] {
      try FileManager.default.createDirectory(
        atPath: folder.file(name), withIntermediateDirectories: true)
    }
    func link(_ name: String, to target: String) throws {
      try FileManager.default.createSymbolicLink(
        atPath: folder.file("\(name)/plugin.yaml"), withDestinationPath: target)
    }
    try FileManager.default.createDirectory(
      atPath: folder.file("a/plugin.yaml"), withIntermediateDirectories: true)
    unsafe mkfifo(folder.file("b/plugin.yaml"), 0o600)
    try link("c", to: "/dev/zero")
    try link("d", to: "nothing")
    let flawed = PluginRegistry(in: [folder.path]).flawed
    #expect(
      flawed.flatMap(\.problems).map(\.message)
        == [
          "it is a folder", "it is a pipe", "it is a link that leads out of the plugin's folder",
          "it is a link to what is not there",
        ].map { "plugin.yaml is no manifest: \($0)" })
  }

  @Test("a folder that everybody can write into is left out, unless it was named")
  func distrusted() throws {
    let folder = try ScratchFolder()
    try plugin(folder, "shelf/a", name: "a", kind: "a")
    let registry = folder.file("shelf")
    unsafe chmod(registry, 0o777)
    let found = PluginRegistry(in: [registry])
    #expect(found.plugins.isEmpty)
    #expect(Array(found.distrusted.values) == ["everybody can write into it"])
    #expect(PluginRegistry(in: [registry], named: registry).plugins.count == 1)
  }

  @Test("an installed plugin gives way to one of the user with its name or kind")
  func installed() throws {
    let folder = try ScratchFolder()
    try plugin(folder, "mine/a", name: "a", kind: "x")
    try plugin(folder, "system/a", name: "a", kind: "y")
    try plugin(folder, "system/b", name: "b", kind: "x")
    try plugin(folder, "system/c", name: "c", kind: "z")
    let found = PluginRegistry(in: [folder.file("mine")], installed: [folder.file("system")])
    #expect(found.plugins.map(\.manifest.name) == ["a", "c"])
    #expect(found.plugins.first?.folder.hasSuffix("mine/a") == true)
    #expect(found.disputed.isEmpty && found.namesakes.isEmpty)
  }

  @Test("a plugin that was removed says so, and is worth another try")
  func removed() throws {
    let folder = try ScratchFolder()
    try plugin(folder, "a", name: "a", kind: "a")
    let found = try #require(PluginRegistry(in: [folder.path]).plugins.first)
    try found.checkEquipment(launcher: "/no/launcher")
    try FileManager.default.removeItem(atPath: found.folder)
    let error = try #require(throws: SpoolError.self) {
      try found.checkEquipment(launcher: "/no/launcher")
    }
    #expect(error.message == "the plugin a 1 was removed" && error.cause == .transient)
  }

  @Test("what editors leave behind, and pages for people, make no other plugin")
  func leftovers() throws {
    let folder = try ScratchFolder()
    try plugin(folder, "a", name: "a", kind: "a")
    let found = try #require(PluginRegistry(in: [folder.path]).plugins.first)
    let before = found.digest()
    for name in ["x.py~", "#x.py#", ".x.py.swp", "README.md"] {
      _ = try folder.write("anything", to: "a/\(name)")
    }
    #expect(found.digest() == before)
    _ = try folder.write("anything", to: "a/x.py")
    #expect(found.digest() != before)
  }

  @Test("a folder that is reached twice counts once")
  func reachedTwice() throws {
    let folder = try ScratchFolder()
    try plugin(folder, "plugins/a", name: "a", kind: "a")
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("other"), withDestinationPath: folder.file("plugins"))
    let registry = PluginRegistry(in: [folder.file("plugins"), folder.file("other")])
    #expect(registry.plugins.count == 1)
    #expect(registry.disputed.isEmpty)
  }
}
