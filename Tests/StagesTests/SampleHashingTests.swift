import Audio
import Foundation
import PipelineEngine
import PipelineModel
import Platform
import Proof
@testable import SoundEngine
@testable import Stages
import Store
import TestSupport
import Testing

/// The hashes of every second of what is exported without loss.
@Suite struct SampleHashingTests {
  private static func sound(channels: Int, frames: Int) -> TestSound {
    let format = AudioFormat(
      sampleRate: Hertz(8000), channelCount: channels, positions: .mixed(to: channels))
    return TestSound(format, frames: frames) { channel, frame in
      Float((frame * (channel + 3)) % 1009) / 1009 - 0.5
    }
  }

  /// What a run gave, and the place that it lies in.
  private struct Made {
    let outputs: [PortName: Artifact]
    let store: DiskStore
    let workshop: Workshop

    func path(_ port: PortName) throws -> String { try store.path(of: #require(outputs[port])) }
  }

  private func run(_ export: String, channels: Int = 2) throws -> Made {
    let workshop = try Workshop(Self.sound(channels: channels, frames: 8000 * 5 + 1234))
    let store = try workshop.store("store")
    let record = try workshop.run(
      """
      pipeline: hashed
      inputs: { note: sound }
      stages:
        - decode: { from: $note }
        - gain: -1 dB
        - \(export)
      """, in: store)
    let outputs = record.steps.last?.outputs ?? [:]
    return Made(outputs: outputs.compactMapValues(\.artifact), store: store, workshop: workshop)
  }

  /// The tree of what the ffmpeg program decodes, by the definition and nothing else.
  private func expected(
    _ path: String, _ format: SampleFormat, channels: Int
  ) throws -> SampleTree {
    let bytes = try Array(Reference.samples(of: path, as: format.rawValue))
    let width = channels * format.bits / 8
    let extent = try #require(
      SampleExtent(format: format, rate: 8000, channels: channels, frames: bytes.count / width))
    let leaves = stride(from: 0, to: bytes.count, by: 8000 * width).map {
      SHA256.digest(of: [0] + bytes[$0..<min($0 + 8000 * width, bytes.count)])
    }
    return try #require(SampleTree(extent, leaves: leaves))
  }

  static let exports = [
    ("export: [wav, alac, flac, m4a]", 2, ["wav": 24, "alac": 24, "flac": 24]),
    (
      "export: { formats: [wav, alac, flac], wav: { bits: float }, alac: { bits: 16 } }", 1,
      ["wav": 32, "alac": 16, "flac": 24]
    ),
    (
      "export: { formats: [wav, flac], wav: { bits: 16 }, flac: { bits: 16 }, dither: none }", 2,
      ["wav": 16, "flac": 16]
    ),
    ("export: [wav, alac, flac]", 6, ["wav": 24, "alac": 24, "flac": 24]),
  ]

  @Test(arguments: exports)
  func `are those of what any decoder gives back`(
    export: String, channels: Int, formats: [String: Int]
  ) throws {
    let made = try run(export, channels: channels)
    let samples = made.outputs.filter { $0.key.name.hasSuffix("-samples") }
    #expect(Set(samples.keys.map(\.name)) == Set(formats.keys.map { $0 + "-samples" }))
    for (port, bits) in formats {
      let file = try made.path(PortName(port))
      let format = try #require(SampleFormat(bits: bits))
      let list = try made.path(PortName(port + "-samples"))
      #expect(try SampleTree(at: list) == expected(file, format, channels: channels), "\(port)")
    }
    #expect(Set(samples.values).count == Set(formats.values).count, "equal samples, one list")
  }

  @Test func `are there for every piece of a split`() throws {
    let made = try run("split: { at: [1.5 s, 4 s], formats: [wav, m4a] }")
    for piece in ["01", "02", "03"] {
      let port = PortName("wav." + piece)
      let list = try made.path(port.sampleHashes)
      #expect(
        try SampleTree(at: list) == expected(made.path(port), .s24le, channels: 2), "\(piece)")
    }
    #expect(!made.outputs.keys.contains { $0.name.hasPrefix("m4a-samples") })
  }

  @Test func `go on from the pages in the file and those in the note`() throws {
    let scratch = try ScratchFolder()
    let store = try DiskStore(at: scratch.file("store"))
    guard case .granted(let claim) = try store.claim(SHA256.digest(of: "hashes"), summary: "test")
    else { return #expect(Bool(false), "nobody else has the work") }
    defer { claim.end() }
    let leaves = (0..<700).map { SHA256.digest(of: "\($0)") }
    var noted: [LeafPages.Progress] = []
    do {
      let pages = try LeafPages(claim, "hashes", resuming: nil)
      for leaf in leaves {
        try pages.append(leaf)
        noted.append(pages.status)
      }
      try pages.flush()
    }
    #expect(noted.allSatisfy { $0.recent.utf8.count < 64 * LeafPages.pageLength })
    // Newest first: what lies behind the note is cut off, and written again.
    for count in stride(from: 700, to: 0, by: -97) {
      let pages = try LeafPages(claim, "hashes", resuming: noted[count - 1])
      #expect(pages.leavesAtStart == Array(leaves[..<count]))
      #expect(pages.status == noted[count - 1])
      for leaf in leaves[count...] { try pages.append(leaf) }
      #expect(pages.status == noted[699])
    }
  }

  @Test func `begin anew where the pages are not what was noted`() throws {
    let scratch = try ScratchFolder()
    let store = try DiskStore(at: scratch.file("store"))
    guard case .granted(let claim) = try store.claim(SHA256.digest(of: "hashes"), summary: "test")
    else { return #expect(Bool(false), "nobody else has the work") }
    defer { claim.end() }
    let pages = try LeafPages(claim, "hashes", resuming: nil)
    for number in 0..<300 { try pages.append(SHA256.digest(of: "\(number)")) }
    let noted = pages.status
    let path = claim.folder + "/hashes"
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    bytes[40] ^= 1
    try bytes.write(to: URL(fileURLWithPath: path))
    #expect(try LeafPages(claim, "hashes", resuming: noted).leavesAtStart == [])
    var fewer = noted
    fewer.count -= 1
    #expect(try LeafPages(claim, "hashes", resuming: fewer).status.count == 0)
  }
}
