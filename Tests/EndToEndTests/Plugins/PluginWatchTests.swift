import Foundation
import TestSupport
import Testing

@Suite(
  "A watched inbox goes through plugins like any other stage",
  .enabled(if: Program(named: "python3") != nil, "python3 is not installed"))
struct PluginWatchTests {
  @Test("with --plugins, and the receipt names the plugin's version and digest")
  func watched() throws {
    let inbox = try WatchedPlace()
    let place = inbox.place
    let made = try place.spool(["plugin", "new", "rumble", "--dir", "mine"])
    try #require(made.exitCode == 0, "\(made.errorOutput)")
    _ = try place.pipeline(
      "pipeline: quick\ninputs: { note: sound }\nstages: [decode, rumble, { export: wav }, proof]\n"
    )
    try inbox.make(1)
    let watch = try inbox.watch(["--plugins", "mine"])
    try inbox.shell("cp made/1.wav inbox/one.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } })
    let first = try identity(in: place, "one.receipt.json")
    #expect(first.hasPrefix("0.1.0 "))

    // What is changed while the watch goes on is another plugin from then on.
    let program = place.file("mine/rumble/rumble.py")
    let code = try String(contentsOfFile: program, encoding: .utf8)
    try (code + "\n# better\n").write(toFile: program, atomically: false, encoding: .utf8)
    try inbox.make(2)
    try inbox.shell("cp made/2.wav inbox/two.wav")
    #expect(inbox.wait { watch.news.count { $0.event == "uploaded" } == 2 })
    #expect(try identity(in: place, "two.receipt.json") != first)

    // So is its manifest: a default of a new version counts with its program.
    let manifest = place.file("mine/rumble/plugin.yaml")
    let old = try String(contentsOfFile: manifest, encoding: .utf8)
    try old.replacing("version: 0.1.0", with: "version: 0.1.0b").replacing(
      "default: 80,", with: "default: 600,"
    ).write(toFile: manifest, atomically: false, encoding: .utf8)
    try inbox.make(4)
    try inbox.shell("cp made/4.wav inbox/four.wav")
    #expect(
      inbox.wait { watch.news.contains { $0.event == "uploaded" && $0.file == "four.wav" } },
      "\(watch.output)")
    let receipt = try String(decoding: place.export("four.receipt.json"), as: UTF8.self)
    let payload = try #require(receipt.firstMatch(of: /"payload":"([^"]+)"/))
    let statement = String(
      decoding: try #require(Data(base64Encoded: String(payload.1))), as: UTF8.self)
    #expect(statement.contains("0.1.0b ") && statement.contains("600"), "\(statement)")
    // Where it is wrong, nothing works with half of it.
    try "nonsense".write(toFile: manifest, atomically: false, encoding: .utf8)
    try inbox.make(5)
    try inbox.shell("cp made/5.wav inbox/five.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "retrying" } }, "\(watch.output)")
    #expect(watch.output.contains("cannot be read any more"), "\(watch.output)")
    try old.write(toFile: manifest, atomically: false, encoding: .utf8)
    #expect(try place.spool(["inbox", "retry", "--all"]).exitCode == 0)
    #expect(
      inbox.wait { watch.news.contains { $0.event == "uploaded" && $0.file == "five.wav" } },
      "\(watch.output)")

    // One that is removed is missed by name, and waited for.
    let away = place.file("away")
    try FileManager.default.moveItem(atPath: place.file("mine/rumble"), toPath: away)
    try inbox.make(3)
    try inbox.shell("cp made/3.wav inbox/three.wav")
    #expect(inbox.wait { watch.news.count { $0.event == "retrying" } > 1 }, "\(watch.output)")
    #expect(watch.output.contains("the plugin rumble 0.1.0 was removed: it lay in "))
    #expect(watch.output.contains("; put it back"), "\(watch.output)")
    try FileManager.default.moveItem(atPath: away, toPath: place.file("mine/rumble"))
    #expect(inbox.wait { watch.news.count { $0.event == "uploaded" } == 5 }, "\(watch.output)")

    // Its runs know where their plugins lay, as any other's do, also those that waited for them.
    let shown = try place.spool(["runs", "show", "last", "--json"])
    #expect(shown.text.contains(#""pluginFolder":"#), "\(shown.text)")
    #expect(shown.text.contains(#""name":"rumble""#), "\(shown.text)")
  }

  /// What a receipt says of the plugin.
  private func identity(in place: Workspace, _ name: String) throws -> String {
    let envelope = try JSONSerialization.jsonObject(with: place.export(name))
    let payload = try #require(
      ((envelope as? [String: Any])?["payload"] as? String).flatMap { Data(base64Encoded: $0) })
    let text = String(decoding: payload, as: UTF8.self)
    let match = try #require(
      text.firstMatch(of: /"plugin rumble": ?"(0\.1\.0 [0-9a-f]{12})/), "\(text)")
    return String(match.1)
  }
}
