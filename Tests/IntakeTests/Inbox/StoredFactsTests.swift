@testable import Intake
import PipelineModel
import Platform
import Testing

@Suite("What is kept of a sidecar")
struct KeptFactsTests {
  @Test("what a sidecar asks of the pipeline, and what is wrong with it, is kept with the note")
  func keptFacts() throws {
    let sidecar = #"{"title":5,"spool":{"set":{"level":-9.5,"on":true,"words":["a"]}}}"#
    let bench = try ProcessorBench()
    let processor = try bench.processor()
    let arrived = try bench.drop("sound", as: "note.m4a", sidecar: sidecar)
    let recording = try #require(try processor.takeIn(arrived).recording)
    let kept = StoredFacts(of: recording)
    #expect(kept.problems == ["title: found the number 5, expected a text"])
    let variables = ["level", "on", "words"].map {
      VariableDefinition(
        name: $0, value: DocumentNode(.scalar("", isQuoted: false), at: Self.place), summary: nil,
        isOverridable: true)
    }
    let values = try SidecarOverrides.read(kept.request, of: "it", variables: variables)
    #expect(values["level"]?.content == .scalar("-9.5", isQuoted: false))
    #expect(values["on"]?.content == .scalar("true", isQuoted: false))
    #expect(
      values["words"]?.content
        == .sequence([DocumentNode(.scalar("a", isQuoted: true), at: Self.place)]))
    #expect(throws: SpoolError.self) {
      try SidecarOverrides.read(kept.request, of: "it", variables: [])
    }
    let other = try #require(try processor.takeIn(try bench.drop("other", as: "b.m4a")).recording)
    #expect(StoredFacts(of: other).request == nil)
  }

  private static let place = SourceLocation(line: 1, column: 1)
}
