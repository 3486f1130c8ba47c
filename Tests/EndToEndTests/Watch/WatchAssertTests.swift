import Foundation
import TestSupport
import Testing

@Suite("A watched recording of which a fact does not hold")
struct WatchAssertTests {
  private let inbox: WatchedPlace
  private var place: Workspace { inbox.place }

  init() throws { inbox = try WatchedPlace() }

  /// Takes the place of the usual pipeline.
  private func assert(_ outcome: String) throws {
    _ = try place.pipeline(
      """
      pipeline: quick
      inputs: { note: sound }
      stages:
        - decode: { from: $note }
        - assert: { duration: < 1 s, out-of-bounds: \(outcome) }
        - export: { formats: [wav] }
      """)
    try inbox.make(1)
    try inbox.make(2, seconds: 2)
  }

  private func awaitQuarantine(_ watch: RunningWatch, count: Int = 1) {
    #expect(
      inbox.wait { watch.news.count { $0.event == "quarantined" } == count }, "\(watch.output)")
  }

  @Test("goes to quarantine, and is exported once a person has accepted it as it is")
  func quarantine() throws {
    try self.assert("quarantine")
    let watch = try inbox.watch()
    try inbox.shell("cp made/1.wav inbox/short.wav; cp made/2.wav inbox/long.wav")
    awaitQuarantine(watch)
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    let reason = inbox.inbox + "/quarantine/long.wav.reason.json"
    #expect(inbox.wait { FileManager.default.fileExists(atPath: reason) }, "\(watch.output)")
    let fact = "duration is 2 s, < 1 s is allowed"
    #expect(try String(contentsOfFile: reason, encoding: .utf8).contains(fact))
    let key = try #require(try inbox.notes().first { $0.file == "long.wav" }).key
    let status = try place.spool(["status"]).text
    #expect(status.contains(fact), "\(status)")
    let page = try place.spool(["inbox", "show", key]).text
    #expect(page.contains(fact) && page.contains("next:  spool inbox release \(key)"), "\(page)")
    #expect(WatchedPlace.files(in: place.out) == ["short.wav"])
    // Another try changes nothing.
    #expect(try place.spool(["inbox", "retry", key]).exitCode == 0)
    awaitQuarantine(watch, count: 2)
    #expect(try place.spool(["inbox", "release", key]).exitCode == 0)
    #expect(
      inbox.wait { watch.news.count { $0.event == "uploaded" } == 2 }, "\(watch.output)")
    #expect(watch.news.contains { $0.text == "assert: accepted as it is: \(fact)" })
    #expect(WatchedPlace.files(in: place.out) == ["long.wav", "short.wav"])
  }

  @Test(
    "a sidecar that the pipeline cannot use counts once it was corrected in quarantine, or sent again",
    arguments: [true, false])
  func sidecar(isInPlace: Bool) throws {
    try inbox.make(1)
    try inbox.shell(
      "printf 'pipeline: p\nvars: { level: { value: -3 dB, overridable: true } }\n"
        + "stages: [ decode, { gain: $level }, { export: [wav] } ]\n' > \(inbox.pipeline)")
    let watch = try inbox.watch()
    func write(_ name: String, to path: String) throws {
      try inbox.shell(
        "echo '{\"title\": \"A\", \"spool\": {\"set\": {\"\(name)\": \"-6 dB\"}}}' > x.json; "
          + "mv x.json \(path)")
    }
    try write("levle", to: "inbox/1.json")
    try inbox.shell("cp made/1.wav x.wav; mv x.wav inbox/1.wav")
    awaitQuarantine(watch)
    let key = try #require(try inbox.notes().first).key
    #expect(inbox.wait { watch.news.contains { $0.event == "released" } }, "\(watch.output)")
    try write("level", to: isInPlace ? "inbox/quarantine/1.json" : "inbox/1.json")
    if !isInPlace {
      #expect(inbox.wait { watch.news.contains { $0.event == "sidecar" } }, "\(watch.output)")
    }
    #expect(try place.spool(["inbox", isInPlace ? "release" : "retry", key]).exitCode == 0)
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    let sound = try Reference.floats(of: place.out + "/1.wav")
    let peak = try Reference.floats(of: place.file("made/1.wav")).map(abs).max() ?? 0
    #expect(abs((sound.map(abs).max() ?? 0) / peak - 0.501) < 0.005, "6 dB down")
  }

  @Test("is refused for good where it has to fail, even if a person releases it")
  func failure() throws {
    try self.assert("fail")
    let watch = try inbox.watch()
    try inbox.shell("cp made/2.wav inbox/long.wav")
    awaitQuarantine(watch)
    let key = try #require(try inbox.notes().first).key
    #expect(try place.spool(["inbox", "release", key]).exitCode == 0)
    awaitQuarantine(watch, count: 2)
    #expect(WatchedPlace.files(in: place.out).isEmpty)
  }

  @Test("is warned of in the log, and exported, where that is enough")
  func warning() throws {
    try self.assert("warn")
    let watch = try inbox.watch()
    try inbox.shell("cp made/2.wav inbox/long.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    let text = "assert: out of bounds: duration is 2 s, < 1 s is allowed"
    #expect(watch.news.count { $0.event == "warning" && $0.text == text } == 1, "\(watch.output)")
  }
}
