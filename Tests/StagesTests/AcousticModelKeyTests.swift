import Foundation
import PipelineModel
import Stages
import TestSupport
import Testing

@Suite("The key of a stage with a user's acoustic model") struct AcousticModelKeyTests {
  @Test("has the model's content and not its place")
  func content() throws {
    let folder = try ScratchFolder()
    try writeModel(to: folder.file("first"))
    try writeModel(to: folder.file("second"))
    let first = try components(model: folder.file("first"))
    #expect(try components(model: folder.file("second")) == first)
    #expect(!first.parameters.contains(folder.path))
    #expect(first.libraries.keys.contains("file model"))

    try FileManager.default.createSymbolicLink(
      atPath: folder.file("link"), withDestinationPath: folder.file("second"))
    #expect(try components(model: folder.file("link")) == first)
    try Data("N".utf8).write(to: URL(fileURLWithPath: folder.file("second/means")))
    let changed = try components(model: folder.file("second"))
    #expect(changed.key != first.key)
    #expect(try components(model: folder.file("link")) == changed)
  }

  @Test("has a name for each version of the libraries, and no file without a model")
  func packaged() throws {
    let components = try components(model: nil)
    #expect(Set(components.libraries.keys) == ["pocketsphinx", "espeak-ng"])
    #expect(components.parameters.contains(#""model":null"#))
  }

  private func writeModel(to path: String) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    for (name, text) in [("mdef", "m"), ("means", "n"), ("words.dict", "a AH\n")] {
      try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/" + name))
    }
  }

  /// The components of the key of an `align` step with the model in a folder.
  private func components(model folder: String?) throws -> KeyComponents {
    let parameters = folder.map { folder in
      DocumentNode.mapping([
        ("model", .scalar(folder)), ("dictionary", .scalar(folder + "/words.dict")),
      ])
    }
    let definition = PipelineDefinition.sample(
      [.step("decode"), .step("align", parameters: parameters ?? .mapping([]))],
      optional: [("transcript", .transcript)])
    let plan = try Plan(
      definition, catalog: .builtIn, inputs: ["note": "/a.wav", "transcript": "/a.txt"],
      overrides: [:])
    return try #require(plan.steps.last).keyComponents(inputs: [:])
  }
}
