@testable import Intake
import PipelineModel
import Platform
import Testing

@Suite("A sidecar sets what the pipeline lets it set, and nothing else")
struct FileWishesTests {
  private static let variables = [("loudness", true), ("bands", true), ("secret", false)].map {
    VariableDefinition(
      name: $0.0,
      value: DocumentNode(
        .scalar("-16 LUFS", isQuoted: false), at: SourceLocation(line: 1, column: 1)),
      summary: nil, isOverridable: $0.1)
  }

  private func sidecar(_ text: String) throws(SpoolError) -> SidecarSettings {
    try SidecarSettings(Array(text.utf8), path: "a.json", variables: Self.variables)
  }

  @Test("text, numbers, flags, lists and objects become what YAML would have made of them")
  func values() throws {
    let read = try sidecar(
      #"{"spool": {"set": {"loudness": "-18 LUFS", "bands": [{"gain": -2.5, "on": true}]}}}"#)
    #expect(read.overrides["loudness"]?.content == .scalar("-18 LUFS", isQuoted: true))
    guard case .sequence(let bands) = read.overrides["bands"]?.content,
      case .mapping(let band) = bands.first?.content
    else {
      Issue.record("the list was not read")
      return
    }
    #expect(band.map(\.key) == ["gain", "on"])
    #expect(band.first?.value.content == .scalar("-2.5", isQuoted: false))
    #expect(band.last?.value.content == .scalar("true", isQuoted: false))
    #expect(try sidecar(#"{"spool": {"set": {"loudness": null}}}"#).overrides.isEmpty)
  }

  @Test("what belongs to others is left alone; what names a recording can be used in names")
  func others() throws {
    let read = try sidecar(
      #"{"title": "Call \ud83d\ude00", "createdAt": "2026-03-14T07:42:10Z", "n": 3, "x": [1], "#
        + #""y": {"set": {"secret": 1}}, "loudness": "-3 LUFS", "z": null}"#)
    #expect(read.overrides.isEmpty)
    #expect(read.fields["title"] == "Call 😀")
    #expect(read.fields["createdat"] == "2026-03-14T07:42:10Z")
    #expect(read.fields["n"] == "3")
    #expect(read.fields["x"] == nil)
  }

  @Test(
    "what is wrong is said in one error",
    arguments: [
      (#"{"spool": {"set": {"secret": "x"}}}"#, "secret is not marked overridable"),
      (#"{"spool": {"set": {"loudnes": "x"}}}"#, "did you mean loudness"),
      (
        #"{"spool": {"set": {"secret": 1, "other": 2}}}"#,
        "no variable \"other\"; the variable secret"
      ),
      (#"{"spool": {"sett": {}}}"#, "has no \"sett\""), (#"{"spool": 3}"#, "\"spool\" is 3"),
      (#"{"spool": {"set": []}}"#, "\"set\" is a list"), ("[]", "found a list"),
      ("{", "no JSON"), ("", "no JSON"),
    ])
  func wrong(text: String, reason: String) throws {
    let error = try #require(throws: SpoolError.self) { try sidecar(text) }
    #expect(error.reason?.contains(reason) == true, "\(error)")
    #expect(error.advice != nil)
  }

  @Test("one that is far too long is not read")
  func long() throws {
    let text = "{\"x\": \"" + String(repeating: "x", count: Sidecar.byteLimit) + "\"}"
    #expect(throws: SpoolError.self) { try sidecar(text) }
  }
}
