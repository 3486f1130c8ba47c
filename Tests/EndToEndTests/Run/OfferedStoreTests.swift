import Foundation
import TestSupport
import Testing

/// Without `--store` an offered command would look into another store.
@Suite("What a command offers names the store that it was given")
struct OfferedStoreTests {
  private let place: Workspace
  private let store: [String]

  init() throws {
    place = try Workspace()
    store = ["--store", place.file("my store")]
  }

  /// The commands of Spool that a text offers, each to the end of its line or to the next one.
  private func offers(_ result: Program.Result) -> [Substring] {
    (result.text + result.errorOutput).split(separator: "\n")
      .flatMap { $0.split(separator: "spool ", omittingEmptySubsequences: false).dropFirst() }
  }

  @Test("in lists, pages and errors, behind next: and in sentences")
  func everywhere() throws {
    let pipeline = try place.pipeline("pipeline: p\nstages: [decode, export: [wav]]\n")
    let sound = try place.folder.write("no sound", to: "a.wav")
    #expect(try place.spool(["run", pipeline, sound] + store).exitCode == 1)
    let good = place.file("b.wav")
    try Reference.record(good, seconds: 0.3, channels: 1)
    let failing = try place.pipeline(
      "pipeline: f\nstages: [decode, { assert: { duration: 1 h .. } }]\n", named: "failing.yaml")
    #expect(try place.spool(["run", failing, good] + store).exitCode == 1)
    #expect(try place.spool(["run", pipeline, good] + store).exitCode == 0)
    let commands = [
      ["resume", "last"], ["runs", "show", "nothing"], ["why", "nothing"], ["store", "info"],
      ["status"], ["inbox", "show", "nothing"],
    ]
    for command in commands {
      let result = try place.spool(command + store)
      let storeless = ["run PIPELINE", "watch", "stages"]
      let offers = offers(result).filter { offer in !storeless.contains(where: offer.hasPrefix) }
      #expect(!offers.isEmpty, "\(command)")
      for offer in offers {
        #expect(offer.contains("--store '\(place.file("my store"))'"), "\(command): \(offer)")
      }
    }
  }

  @Test("in the advice of JSON, of errors, runs, findings and recorded failures")
  func json() throws {
    let pipeline = try place.pipeline("pipeline: p\nstages: [decode, export: [wav]]\n")
    let good = place.file("b.wav")
    try Reference.record(good, seconds: 0.3, channels: 1)
    #expect(try place.spool(["run", pipeline, good] + store).exitCode == 0)
    let artifacts = try #require(
      FileManager.default.enumerator(atPath: place.file("my store/artifacts")))
    for case let name as String in artifacts where name.contains("/") {
      try FileManager.default.removeItem(atPath: place.file("my store/artifacts/" + name))
    }
    for (command, offer) in [
      (["resume", "last"], "spool runs show"), (["resume", "nope"], "spool runs"),
      (["store", "check"], "spool store repair"),
    ] {
      let result = try place.spool(command + store + ["--json"])
      let advice = try result.text.split(separator: "\n")
        .flatMap { Self.advice(in: try JSONSerialization.jsonObject(with: Data($0.utf8))) }
      #expect(!advice.isEmpty, "\(command): \(result.text)")
      for advice in advice {
        #expect(advice.hasPrefix(offer + " --store '\(place.file("my store"))'"), "\(advice)")
      }
    }
  }

  private static func advice(in value: Any) -> [String] {
    if let list = value as? [Any] { return list.flatMap(advice) }
    guard let members = value as? [String: Any] else { return [] }
    return members.flatMap { name, member in
      (name == "advice" ? [member as? String ?? ""] : []) + advice(in: member)
    }
  }

  @Test("and can be typed as it stands")
  func typed() throws {
    let result = try place.spool(["runs", "show", "nothing"] + store)
    #expect(result.exitCode != 0)
    let pipeline = try place.pipeline("pipeline: p\nstages: [decode]\n")
    let good = place.file("b.wav")
    try Reference.record(good, seconds: 0.3, channels: 1)
    #expect(try place.spool(["run", pipeline, good] + store).exitCode == 0)
    let unknown = try place.spool(["runs", "show", "nothing"] + store)
    let named = "--store '\(place.file("my store"))'"
    let offer = "help:  spool runs \(named) and spool inbox \(named) list them"
    #expect(unknown.errorOutput.contains(offer), "\(unknown.errorOutput)")
    let listed = try place.spool(["runs"] + store + ["list", "--json"])
    #expect(listed.exitCode == 0 && listed.text.contains("\"pipeline\":\"p\""), "\(listed.text)")
  }
}
