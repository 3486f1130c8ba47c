import Foundation
import TestSupport
import Testing

/// A place of work with plugins of the test's own in it.
struct PluginPlace {
  let place: Workspace
  let recording: String

  /// - Parameter seconds: the length of its recording.
  init(seconds: Double = 1) throws {
    place = try Workspace()
    recording = place.file("tone.wav")
    try Reference.record(recording, seconds: seconds)
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true)
  }

  /// Where the plugins are.
  var folder: String { place.file("Plugins") }

  /// Writes a plugin of one stage kind whose program is a script.
  func write(
    _ name: String, type: String = "sound", ports: String = "", limits: String = "{ time: 5 s }",
    language: String = "python3", _ script: String
  ) throws {
    let manifest = """
      plugin: \(name)
      version: 1.0.0
      protocol: 1
      summary: A plugin of a test
      run: [\(language), ./program]
      limits: \(limits)
      stages:
        - kind: \(name)
          type: \(type)
          summary: A stage of a test
      \(ports)
      """
    try write(name, manifest: manifest)
    try script.write(toFile: "\(folder)/\(name)/program", atomically: true, encoding: .utf8)
  }

  /// Writes a plugin's manifest.
  func write(_ name: String, manifest: String) throws {
    try FileManager.default.createDirectory(
      atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
    try manifest.write(
      toFile: "\(folder)/\(name)/plugin.yaml", atomically: true, encoding: .utf8)
  }

  /// Copies a plugin of the package here, and builds it.
  func build(_ name: String) throws {
    try copy(name)
    let result = try #require(Program(named: "sh")).run(["\(folder)/\(name)/build.sh"])
    try #require(result.exitCode == 0, "\(result.errorOutput)")
  }

  /// Copies a plugin of the package here, without what is built in it.
  func copy(_ name: String) throws {
    for part in ["include", name] where !FileManager.default.fileExists(atPath: "\(folder)/\(part)")
    {
      try FileManager.default.copyItem(
        atPath: PackageFiles.plugin(part), toPath: "\(folder)/\(part)")
    }
    let copy = "\(folder)/\(name)"
    for file in try FileManager.default.contentsOfDirectory(atPath: copy)
    where file.hasSuffix(".so") {
      try FileManager.default.removeItem(atPath: "\(copy)/\(file)")
    }
  }

  /// Runs a pipeline of these stages.
  func run(_ stages: String...) throws -> SpoolRun {
    try place.run(pipeline(stages.joined(separator: "\n  - ")), [recording])
  }

  /// Writes a pipeline: decode, these stages, and a WAV file of floats.
  func pipeline(_ stages: String) throws -> String {
    try place.pipeline(
      """
      pipeline: plugged
      inputs: { note: sound }
      stages:
        - decode: { from: $note }
        - \(stages)
        - export: { formats: [wav], wav: { bits: float } }
      """)
  }

  /// The samples of the exported file.
  func samples() throws -> [Float] { try Reference.floats(of: "\(place.out)/tone.wav") }
}
