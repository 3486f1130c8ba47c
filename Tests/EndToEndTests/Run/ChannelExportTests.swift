import Audio
import Foundation
import TestSupport
import Testing

/// The polyphonic files of field recorders were labelled as 5.1 and 7.1: the fourth microphone was
/// lost in lossy files and in figures of loudness.
@Suite(
  "Tracks of a field recorder",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct ChannelExportTests {
  private let place: Workspace

  init() throws { place = try Workspace() }

  private func recording(mask: UInt32?, guid: [UInt8]? = nil) throws -> String {
    let path = place.file("take.wav")
    let format = AudioFormat(sampleRate: Hertz(48_000), channelCount: 6)
    // Only the fourth microphone hears something.
    let tone = TestSound.sine(Hertz(1000), amplitude: 0.2, format, frames: 96_000)
    var sound = tone
    for channel in [0, 1, 2, 4, 5] { sound.channels[channel] = tone.channels[0].map { _ in 0 } }
    if let guid {
      try sound.writeWAV(to: path, mask: mask, guid: guid)
    } else {
      try sound.writeWAV(to: path, mask: mask)
    }
    return path
  }

  private func run(_ formats: String, _ path: String) throws -> SpoolRun {
    try place.run(
      place.pipeline(
        "pipeline: p\ninputs: { r: sound }\nstages:\n  - decode\n"
          + "  - measure: { write: true }\n  - export: [\(formats)]\n"),
      [path])
  }

  @Test("are all in lossy files, without or with an empty mask", arguments: [nil, 0])
  func kept(mask: UInt32?) throws {
    let path = try recording(mask: mask)
    let run = try run("wav, flac, m4a, opus", path)
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    #expect(run.warnings.count == 1)
    #expect(run.warnings.first?.contains("FL FR FC BL BR BC") == true, "\(run.warnings)")
    for name in ["take.wav", "take.flac", "take.m4a", "take.opus"] {
      let samples = try Reference.floats(of: place.out + "/" + name)
      let fourth = stride(from: 3, to: samples.count, by: 6).map { samples[$0] }
      #expect(fourth.map(\.magnitude).max() ?? 0 > 0.15, "\(name)")
    }
  }

  @Test("are refused by formats that take the fourth for low frequencies, before the work")
  func refused() throws {
    let path = try recording(mask: 0)
    for format in ["ogg", "alac"] {
      let run = try run(format, path)
      #expect(run.exitCode == 1)
      #expect(run.errorOutput.contains("channel 4 of 6"), "\(run.errorOutput)")
    }
    // A file that says so has such a channel.
    let surround = try recording(mask: 0x3F)
    #expect(try run("ogg, alac", surround).exitCode == 0)
  }

  @Test("of an Ambisonic recording are warned of")
  func ambisonic() throws {
    let guid: [UInt8] = [0, 0, 0x21, 0x07, 0xD3, 0x11, 0x86, 0x44, 0xC8, 0xC1, 0xCA, 0, 0, 0]
    let run = try run("wav", try recording(mask: 0, guid: guid))
    #expect(run.exitCode == 0)
    #expect(run.warnings.contains { $0.contains("Ambisonic") }, "\(run.warnings)")
  }
}
