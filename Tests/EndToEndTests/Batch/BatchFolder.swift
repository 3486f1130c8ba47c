import Foundation
import TestSupport

/// A folder of recordings for batches, and what a batch leaves of it.
struct BatchFolder {
  let place: Workspace
  let path: String

  init() throws {
    place = try Workspace()
    path = place.file("in")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  /// `batch.json`, as far as tests look at it.
  struct Report: Decodable {
    struct File: Decodable {
      struct Export: Decodable {
        let path: String
        let byteCount: Int
      }
      struct Failure: Decodable {
        let message: String
        let reason: String?
        let advice: String?
      }
      let path: String
      let exactPath: String?
      let outcome: String
      let name: String?
      let wantedName: String?
      let exports: [Export]?
      let mediaSeconds: Double?
      let levels: [String: Levels]?
      let error: Failure?
    }
    struct Levels: Decodable {
      let after: After?
    }
    struct After: Decodable {
      let samplePeak: Double?
    }
    let pause: File.Failure?
    let done: Int
    let reused: Int
    let failed: Int
    let interrupted: Int
    let renamed: Int
    let earlierExports: [String]
    let skipped: [String: Int]
    let skippedFiles: [Skipped]
    let files: [File]

    struct Skipped: Decodable {
      let path: String
      let reason: String
    }

    func file(_ path: String) -> File? { files.first { $0.path == path } }
  }

  /// What a batch left.
  struct Outcome {
    let exitCode: Int32
    let errorOutput: String
    let lines: [String]
    let report: Report?

    /// How each file ended, by path.
    var outcomes: [String: String] {
      Dictionary(
        (report?.files ?? []).map { ($0.path, $0.outcome) }, uniquingKeysWith: { first, _ in first }
      )
    }
  }

  func batch(_ pipeline: String, _ options: [String] = []) throws -> Outcome {
    let result = try place.spool(["batch", pipeline, path, "--out", place.out] + options)
    return Outcome(
      exitCode: result.exitCode, errorOutput: result.errorOutput,
      lines: result.text.split(separator: "\n").map(String.init),
      report: try? report())
  }

  /// The report of the last batch.
  func report() throws -> Report {
    try JSONDecoder().decode(
      Report.self, from: Data(contentsOf: URL(fileURLWithPath: place.out + "/batch.json")))
  }

  /// Puts a file there, and the folders that it needs.
  func put(_ data: Data, _ name: String) throws {
    let url = URL(fileURLWithPath: path + "/" + name)
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try data.write(to: url)
  }

  /// Puts one of the samples there.
  func put(sample: String, _ name: String) throws {
    try put(try Data(contentsOf: URL(fileURLWithPath: PackageFiles.sample(sample))), name)
  }

  /// Puts a tenth of a second of sound there, different for every number.
  func putTiny(_ number: Int, _ name: String) throws { try put(Self.tiny(number), name) }

  /// A WAV file of 800 frames at 8 kHz: a tone whose pitch follows from a number.
  static func tiny(_ number: Int) -> Data {
    var data = Data("RIFF".utf8)
    func add(_ value: Int, _ count: Int) {
      for byte in 0..<count { data.append(UInt8(truncatingIfNeeded: value >> (8 * byte))) }
    }
    add(36 + 1600, 4)
    data += Data("WAVEfmt ".utf8)
    for (value, count) in [(16, 4), (1, 2), (1, 2), (8000, 4), (16000, 4), (2, 2), (16, 2)] {
      add(value, count)
    }
    data += Data("data".utf8)
    add(1600, 4)
    for frame in 0..<800 {
      add(Int(8000 * sin(Double(frame) * (0.1 + 0.001 * Double(number)))), 2)
    }
    return data
  }

  /// A pipeline with a variable that sidecars may set.
  func pipeline(formats: String = "wav") throws -> String {
    try place.pipeline(
      """
      pipeline: batch
      inputs: { note: sound }
      vars:
        peak: { value: -3 dB, overridable: true }
        fixed: -20 dB
      stages:
        - decode
        - compress: { threshold: $fixed, ratio: 2 }
        - normalize: { peak: $peak }
        - export: [\(formats)]
      """, named: "batch.yaml")
  }
}
