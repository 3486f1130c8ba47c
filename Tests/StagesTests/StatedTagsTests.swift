import PipelineModel
import Platform
import SoundEngine
@testable import Stages
import Testing

@Suite("What a pipeline states as tags")
struct StatedTagsTests {
  @Test("has dates and numbers that every format can hold, or is empty")
  func values() throws {
    for (name, texts) in [
      "date": ["2026", "2026-03", "2026-03-14", ""], "track": ["3", "3/12", ""],
      "disc": ["1/2"], "title": ["Any: \"text\"", ""],
    ] {
      for text in texts { _ = try StatedTags([name: text]) }
    }
    for (name, texts) in [
      "date": ["14.3.2026", "26", "2026-3", "March"], "track": ["A1", "3 of 12", "/", "12345"],
      "title": ["a\0b"],
    ] {
      for text in texts {
        let error = #expect(throws: SpoolError.self) { try StatedTags([name: text]) }
        #expect(error?.faults.map(\.path) == [["metadata", name]], "\(name) \(text)")
      }
    }
  }

  @Test("reports every wrong value, each at its place")
  func everyFlaw() throws {
    let metadata = ["date": "now", "track": "one", "title": "fine", "album": nil]
    let error = #expect(throws: SpoolError.self) { try StatedTags(metadata) }
    let errors = try [#require(error)] + (error?.others ?? [])
    let places = errors.flatMap(\.faults).map(\.path)
    #expect(places == [["metadata", "date"], ["metadata", "track"]])
  }

  @Test("is in no key, and neither is the recording whose tags count")
  func keys() throws {
    func key(_ export: String) throws -> KeyComponents {
      let definition = try #require(
        ParsedPipeline(
          "pipeline: p\ninputs: { a: sound, b: sound }\nstages:\n  - decode: { from: $a }\n"
            + "  - export: \(export)\n", knownKinds: StageCatalog.builtIn.kinds
        ).definition)
      let plan = try Plan(definition, catalog: .builtIn, inputs: ["a": "/a.wav", "b": "/b.wav"])
      let step = try #require(plan.step(StepID("export")))
      let identity = StepOutput(kind: .sound, identity: SHA256.digest(of: "x"))
      return step.keyComponents(inputs: step.sources.mapValues { _ in identity })
    }
    let plain = try key("[mp3]")
    #expect(try key("{ formats: mp3, recording: $b, metadata: { title: x }, cover: c }") == plain)
    #expect(try key("[wav]") != plain)
  }
}
