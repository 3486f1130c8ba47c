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
      "pipeline: quick\ninputs: { note: sound }\nstages: [decode, rumble, { export: wav }]\n")
    try inbox.make(1)
    let watch = try inbox.watch(["--plugins", "mine"])
    try inbox.shell("cp made/1.wav inbox/one.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } })
    let envelope = try JSONSerialization.jsonObject(with: place.export("one.receipt.json"))
    let payload = try #require(
      ((envelope as? [String: Any])?["payload"] as? String).flatMap { Data(base64Encoded: $0) })
    let text = String(decoding: payload, as: UTF8.self)
    #expect(text.contains(/"plugin rumble": ?"0\.1\.0 [0-9a-f]{12}/), "\(text)")
  }
}
