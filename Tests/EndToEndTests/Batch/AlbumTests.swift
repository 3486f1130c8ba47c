import Foundation
import TestSupport
import Testing

@Suite(
  "A batch gives the recordings of an album one gain",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct AlbumTests {
  private let folder: BatchFolder

  init() throws { folder = try BatchFolder() }

  private func pipeline(_ settings: String = "loudness: -20 LUFS, album: true") throws -> String {
    try folder.place.pipeline(
      """
      pipeline: album
      inputs: { note: sound }
      stages:
        - decode: { from: $note }
        - normalize: { \(settings) }
        - export: { formats: [wav], wav: { bits: float } }
      """, named: "album.yaml")
  }

  /// Makes recordings of different loudness.
  private func record(_ gains: [(name: String, gain: Double)]) throws {
    for (index, (name, gain)) in gains.enumerated() {
      let plain = folder.place.file("plain.wav")
      try Reference.record(plain, seconds: Double(4 + index), coding: ["-c:a", "pcm_f32le"])
      let path = folder.path + "/" + name
      try FileManager.default.createDirectory(
        at: URL(fileURLWithPath: path).deletingLastPathComponent(),
        withIntermediateDirectories: true)
      try Reference.ffmpeg([
        "-i", plain, "-af", "volume=\(gain)dB:precision=double", "-c:a", "pcm_f32le",
        path,
      ])
    }
  }

  /// The loudness of exports together, by libebur128.
  private func whole(_ names: [String]) throws -> Double {
    try Reference.albumLoudness(of: names.map { folder.place.out + "/" + $0 })
  }

  /// By how much an export is louder than its recording, sample by sample.
  private func gains(_ name: String) throws -> ClosedRange<Double> {
    let before = try Reference.floats(of: folder.path + "/" + name)
    let after = try Reference.floats(of: folder.place.out + "/" + name)
    try #require(before.count == after.count)
    let ratios = zip(before, after).filter { abs($0.0) > 1e-4 }
      .map { 20 * log10(Double($0.1) / Double($0.0)) }
    return try #require(ratios.min())...(try #require(ratios.max()))
  }

  @Test("and says that what a sidecar sets for one of them does not count")
  func ownLoudness() throws {
    try record([("a.wav", -20), ("b.wav", -10)])
    let path = try folder.place.pipeline(
      """
      pipeline: album
      inputs: { note: sound }
      vars: { loudness: { value: -20 LUFS, overridable: true } }
      stages:
        - decode: { from: $note }
        - normalize: { loudness: $loudness, album: true }
        - export: { formats: [wav], wav: { bits: float } }
      """, named: "own.yaml")
    try #"{"spool": {"set": {"loudness": "-30 LUFS"}}}"#
      .write(toFile: folder.path + "/b.json", atomically: true, encoding: .utf8)
    let run = try folder.batch(path)
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let said = ([run.errorOutput] + run.lines).joined(separator: "\n")
    #expect(said.contains("one gain holds for the whole album"), "\(said)")
    #expect(abs(try whole(["a.wav", "b.wav"]) + 20) < 0.2)
  }

  @Test("and tells of each that the ceiling makes quieter among the others")
  func quieter() throws {
    try record([("quiet.wav", -20), ("loud.wav", 10)])
    let run = try folder.batch(try pipeline("loudness: -5 LUFS, true-peak: -3 dBTP, album: true"))
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    let told = run.errorOutput.split(separator: "\n").filter {
      $0.contains("LU below that of the album's gain: true peaks are limited to -3.0 dBTP")
    }
    #expect(told.count == 1 && told.first?.contains("loud.wav") == true, "\(told)")
  }

  @Test("with which all of them together meet the loudness, and none changes against another")
  func oneGain() throws {
    try record([("a.wav", -14), ("b/loud.wav", -3), ("c.wav", -25)])
    let pipeline = try pipeline()
    let run = try folder.batch(pipeline)
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    #expect(run.lines.first == "listening to all files for normalize")
    #expect(
      run.lines[1].hasPrefix("normalize: album-gain ") && run.lines[1].contains(" dB for all"))
    let names = ["a.wav", "b/loud.wav", "c.wav"]
    #expect(abs(try whole(names) + 20) < 0.02)
    let all = try names.map { try gains($0) }
    #expect(all.allSatisfy { $0.upperBound - $0.lowerBound < 1e-3 }, "\(all)")
    #expect(abs(all[0].lowerBound - all[1].lowerBound) < 1e-3)
    #expect(abs(all[0].lowerBound - all[2].lowerBound) < 1e-3)

    // Again, nothing is done; with another recording, all of it is another album.
    let again = try folder.batch(pipeline)
    #expect(again.outcomes.values.allSatisfy { $0 == "reused" }, "\(again.outcomes)")
    try FileManager.default.moveItem(
      atPath: folder.path + "/c.wav", toPath: folder.place.file("c.wav"))
    let fewer = try folder.batch(pipeline)
    #expect(fewer.exitCode == 0 && fewer.report?.done == 2, "\(fewer.outcomes)")
    #expect(abs(try whole(["a.wav", "b/loud.wav"]) + 20) < 0.02)
    // The one that was taken away can be given the gain that it had, or the new one, by itself.
    let words = try #require(fewer.lines.first { $0.hasPrefix("normalize: album-gain ") })
    let gain = try #require(words.split(separator: " ").dropFirst(2).first)
    let alone = try self.pipeline("loudness: -20 LUFS, album-gain: \(gain) dB")
    let late = try folder.place.run(alone, [folder.place.file("c.wav")])
    #expect(late.exitCode == 0, "\(late.errorOutput)")
    let before = try Reference.floats(of: folder.place.file("c.wav"))
    let after = try Reference.floats(of: folder.place.out + "/c.wav")
    let factor = Float(pow(10, try #require(Double(gain)) / 20))
    #expect(zip(before, after).allSatisfy { abs($0 * factor - $1) < 1e-6 })
  }

  @Test("that makes up for what the limiter takes, and no true peak passes the ceiling")
  func limited() throws {
    try record([("a.wav", -6), ("b.wav", -18)])
    try Reference.ffmpeg([
      "-f", "lavfi", "-i",
      "aevalsrc='0.9*sin(2*PI*200*t)*exp(-40*mod(t,0.5))|0.9*sin(2*PI*310*t)*exp(-40*mod(t,0.5))'"
        + ":s=44100:d=6", "-c:a", "pcm_f32le", folder.path + "/drum.wav",
    ])
    let run = try folder.batch(
      try pipeline("loudness: -14 LUFS, true-peak: -2 dBTP, album: true"))
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    #expect(run.lines.contains("listening to all files for normalize, round 2"), "\(run.lines)")
    let integrated = try whole(["a.wav", "b.wav", "drum.wav"])
    #expect(abs(integrated + 14) < 0.05, "\(integrated) LUFS")
    let truePeak = try Reference.loudness(of: folder.place.out + "/drum.wav").truePeak
    #expect(truePeak < -1.9 && truePeak > -2.1, "\(truePeak) dBTP")
    // What stays below the ceiling is only louder.
    let gains = try gains("b.wav")
    #expect(gains.upperBound - gains.lowerBound < 1e-3)
  }

  @Test("to which what cannot be read or heard adds nothing")
  func odd() throws {
    try record([("a.wav", -14), ("c.wav", -20)])
    try folder.put(Data("no sound".utf8), "bad.wav")
    try Reference.ffmpeg(["-f", "lavfi", "-i", "anullsrc=d=2", folder.path + "/silence.wav"])
    let run = try folder.batch(try pipeline())
    #expect(run.exitCode == 3, "\(run.errorOutput)")
    #expect(run.outcomes["bad.wav"] == "failed" && run.report?.done == 3, "\(run.outcomes)")
    let integrated = try whole(["a.wav", "c.wav"])
    #expect(abs(integrated + 20) < 0.02, "\(integrated) LUFS, \(run.lines)")
    #expect(try Reference.floats(of: folder.place.out + "/silence.wav").allSatisfy { $0 == 0 })
  }

  @Test("and of silence alone, each is left as it is")
  func silence() throws {
    try Reference.ffmpeg(["-f", "lavfi", "-i", "anullsrc=d=2", folder.path + "/silence.wav"])
    let run = try folder.batch(try pipeline())
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(run.lines.contains("normalize: every file stands for itself"), "\(run.lines)")
  }

  @Test("also when one file of it is gone on with alone")
  func resumed() throws {
    try record([("a.wav", -14), ("c.wav", -25)])
    let pipeline = try pipeline()
    // The exports' folder is in the way of one of them: that run fails, and can be gone on with.
    try FileManager.default.createDirectory(
      atPath: folder.place.out + "/c.wav", withIntermediateDirectories: true)
    let run = try folder.batch(pipeline)
    #expect(run.exitCode == 3, "\(run.errorOutput)")
    try FileManager.default.removeItem(atPath: folder.place.out + "/c.wav")
    let list = try folder.place.spool(["runs", "list", "--json"]).text.split(separator: "\n")
    let failed = try #require(list.first { $0.contains(#""state":"failed""#) }, "\(list)")
    let id = try #require(failed.firstMatch(of: /"(?:id|run)":"([^"]+)"/)?.1)
    let resumed = try folder.place.spool(["resume", String(id), "--quiet"])
    #expect(resumed.exitCode == 0, "\(resumed.errorOutput)")
    #expect(abs(try whole(["a.wav", "c.wav"]) + 20) < 0.02)
    #expect(abs(try gains("a.wav").lowerBound - gains("c.wav").lowerBound) < 1e-3)
  }

  @Test("by loudness, not by peak")
  func peak() throws {
    try record([("a.wav", -14)])
    let run = try folder.batch(try pipeline("peak: -3 dB, album: true"))
    #expect(run.exitCode == 2)
    #expect(run.errorOutput.contains("album does not go with peak"), "\(run.errorOutput)")
  }
}
