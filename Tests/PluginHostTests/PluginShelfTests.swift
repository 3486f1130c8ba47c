import Foundation
import PluginHost
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
    let shelf = PluginShelf(in: [folder.path], taken: ["gate"])
    let words = shelf.standings.map { "\($0.name): \($0.words)" }
    #expect(
      words == [
        "a: same offered twice", "b: same offered twice", "c: gate is Spool's own",
        "f: needs no-such-program", "g: needs nothing-like-it", "h: needs ./gone.sh", "i: ready",
        "twin: name used twice", "twin: name used twice",
      ])
    let usable = shelf.plugins.filter { plugin in
      plugin.manifest.kinds.allSatisfy { shelf.canUse($0, of: plugin) }
    }.map(\.manifest.name)
    #expect(usable == ["f", "g", "h", "i"])
  }

  @Test("a folder that is reached twice counts once")
  func reachedTwice() throws {
    let folder = try ScratchFolder()
    try plugin(folder, "plugins/a", name: "a", kind: "a")
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("other"), withDestinationPath: folder.file("plugins"))
    let shelf = PluginShelf(in: [folder.file("plugins"), folder.file("other")])
    #expect(shelf.plugins.count == 1)
    #expect(shelf.disputed.isEmpty)
  }
}
