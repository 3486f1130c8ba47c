import Foundation
import TestSupport
import Testing

/// The shipped pipeline for sessions, with sessions of other people.
@Suite(
  "A session mix works with any session",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct SessionMixTests {
  private static let pipeline = PackageFiles.pipeline("session-mix.yaml")
  private let place: Workspace

  init() throws {
    place = try Workspace()
    // A bed of four seconds, and a call in its second half.
    try Reference.record(place.file("bed.wav"), seconds: 4)
    try Reference.record(place.file("call.wav"), seconds: 1, channels: 1)
  }

  private func session(_ bed: String, _ call: String) throws -> String {
    try place.folder.write(
      """
      channels:
        - { file: bed.wav, name: strings\(bed) }
        - { file: call.wav, name: host, offset: 2 s\(call) }
      """, to: "evening.yaml")
  }

  @Test("whose tracks have roles, and names that the pipeline does not know: music gives way")
  func roles() throws {
    let run = try place.run(Self.pipeline, [try session(", role: music", ", role: voice")])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(run.warnings == [])
    #expect(place.exports.contains("evening.mix.wav"))
    // The same without the voice's sound in it: the stem of the music alone.
    let stem = try place.pipeline(
      """
      pipeline: stem
      inputs: { session: file, tracks: sound+ }
      stages:
        - mixdown:
            from: $tracks
            session: $session
            duck: { role: music, by-role: voice, amount: -12 dB }
            stem: 1
        - export: { formats: [wav], name: stem }
      """)
    #expect(try place.run(stem, [place.file("evening.yaml")]).exitCode == 0)
    let (samples, bed) = (
      try Reference.floats(of: place.out + "/stem.wav"),
      try Reference.floats(of: place.file("bed.wav"))
    )
    func gain(at second: Double) -> Float {
      let range = Int(second * 44_100) * 2..<Int((second + 0.1) * 44_100) * 2
      let power = { (list: [Float]) in range.reduce(Float(0)) { $0 + list[$1] * list[$1] } }
      return (power(samples) / power(bed)).squareRoot()
    }
    #expect(abs(gain(at: 0.5) - 1) < 0.01)
    #expect(abs(gain(at: 2.6) - 0.25) < 0.03)
  }

  @Test("without roles: nothing is ducked or matched, and a warning says so")
  func noRoles() throws {
    let run = try place.run(Self.pipeline, [try session("", "")])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(
      run.warnings == [
        "no track has the role voice or music, so nothing is ducked for want of it",
        "no track is a voice, so none is matched: role: voice in the session marks one",
      ])
  }

  @Test("and a mix of other tracks in its place says what renames it: the session")
  func renaming() throws {
    let session = try session("", ", role: voice")
    #expect(try place.run(Self.pipeline, [session]).exitCode == 0)
    try Reference.record(place.file("call.wav"), seconds: 2, channels: 1)
    let refused = try place.run(Self.pipeline, [session])
    #expect(refused.exitCode == 1)
    let complaint = try #require(refused.complaint, "\(refused.errorOutput)")
    #expect(complaint.next.contains("rename evening.yaml, after which it is named"), "\(complaint)")
    #expect(!complaint.next.contains("--name") && !complaint.next.contains("batch"), "\(complaint)")
    try FileManager.default.moveItem(atPath: session, toPath: place.file("night.yaml"))
    #expect(try place.run(Self.pipeline, [place.file("night.yaml")]).exitCode == 0)
  }

  @Test("with every problem of the session at its place, also where the tracks are given")
  func mistakes() throws {
    let path = try place.folder.write(
      """
      channels:
        - { volum: 0.5, role: voise }
        - { pan: 3, isMuted: yess }
      """, to: "slips.yaml")
    let run = try place.run(
      Self.pipeline, [path, place.file("bed.wav"), place.file("call.wav")])
    #expect(run.exitCode == 2)
    for words in [
      "slips.yaml:2:7: error: \"volum\"", "did you mean \"volume\"?",
      "slips.yaml:2:25: error: role is \"voise\"", "did you mean \"voice\"?",
      "slips.yaml:3:12: error: pan is \"3\"", "slips.yaml:3:24: error: isMuted is \"yess\"",
      "4 problems in",
    ] { #expect(run.errorOutput.contains(words), "\(words): \(run.errorOutput)") }
  }

  @Test("and what is wrong with the session is said of the session, not of a track")
  func blame() throws {
    let path = try place.folder.write("channels: [{}, {}, {}]\n", to: "three.yaml")
    let run = try place.run(
      Self.pipeline, [path, place.file("bed.wav"), place.file("call.wav")])
    #expect(run.exitCode == 1)
    let complaint = try #require(run.complaint, "\(run.errorOutput)")
    #expect(complaint.what.contains("three.yaml: the tracks do not match"), "\(complaint)")
    #expect(!complaint.what.contains("bed.wav"), "\(complaint)")
  }
}
