import Foundation
import TestSupport
import Testing

/// What holds for all pipelines that come with Spool.
@Suite("The shipped pipelines")
struct ShippedPipelineTests {
  static let names = Workspace.names(in: PackageFiles.pipeline("")).filter { $0.hasSuffix(".yaml") }
  private static let plugins = [
    "loudness-gate-swift/libloudness-gate.so", "softclip-c/softclip.so",
  ]
  private static let areBuilt = plugins.allSatisfy {
    FileManager.default.fileExists(atPath: PackageFiles.plugin($0))
  }
  /// Those that normalize one recording.
  static let loud = names.filter { text($0).contains("- normalize:") }

  private static func text(_ name: String) -> String {
    (try? String(contentsOfFile: PackageFiles.pipeline(name), encoding: .utf8)) ?? ""
  }

  @Test("with a loudness let a sidecar set it", arguments: loud)
  func overridable(name: String) throws {
    let text = Self.text(name)
    #expect(
      text.contains("normalize: { loudness: $loudness") || text.contains("loudness: $loudness,"))
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let variable = lines.drop { $0 != "  loudness:" }.dropFirst().prefix { $0.hasPrefix("    ") }
    #expect(variable.contains { $0.contains("overridable: true") }, "\(name)")
  }

  @Test(
    "with a loudness take README's sidecar",
    .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"),
    arguments: loud.filter { $0 != "session-mix.yaml" && ($0 != "warm-voice.yaml" || areBuilt) })
  func sidecar(name: String) throws {
    let place = try Workspace()
    try FileManager.default.createDirectory(
      atPath: place.file("trip"), withIntermediateDirectories: true)
    try Reference.record(place.file("trip/walk.wav"), seconds: 4, rate: 48_000)
    let sidecar = try #require(Readme().sidecar)
    try sidecar.write(toFile: place.file("trip/walk.json"), atomically: true, encoding: .utf8)
    let run = try place.spool(
      ["batch", PackageFiles.pipeline(name), place.file("trip"), "--out", place.out])
    #expect(run.exitCode == 0, "\(run.text)\(run.errorOutput)")
    let files = WatchedPlace.files(in: place.out).filter { file in
      [".flac", ".wav", ".m4a"].contains { file.hasSuffix($0) } && !file.contains(".archive.")
    }
    let export = try #require(files.first { $0.contains("walk") }, "\(files)")
    let loudness = try Reference.loudness(of: place.out + "/" + export)
    #expect(abs(loudness.integrated + 18) < 0.5, "\(name): \(loudness)")
  }
}

/// README.md, or an article of the guide, as readers take it.
struct Readme {
  let text: String

  /// - Parameter article: the name of an article; without one it is README.md.
  init(article: String? = nil) throws {
    let path = PackageFiles.pipeline(
      article.map { "../Sources/spool/Spool.docc/Guide/\($0).md" } ?? "../README.md")
    text = try String(contentsOfFile: path, encoding: .utf8)
  }

  /// The blocks of code in one language, in order.
  func blocks(_ language: String) -> [String] {
    text.components(separatedBy: "```" + language + "\n").dropFirst().compactMap {
      $0.components(separatedBy: "\n```").first
    }
  }

  /// The commands of `spool` in running text, in order.
  var inlineCommands: [String] {
    // A line break inside of code is a space.
    let prose = text.components(separatedBy: "```").enumerated().filter { $0.offset % 2 == 0 }
    return prose.flatMap { part in
      part.element.components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }.map {
        $0.element.replacingOccurrences(of: "\n  ", with: " ")
          .replacingOccurrences(of: "\n", with: " ")
      }
    }.filter { $0.hasPrefix("spool ") }
  }

  /// The JSON of the sidecar.
  var sidecar: String? {
    text.components(separatedBy: "`").first { $0.hasPrefix("{\"spool\"") }
  }
}
