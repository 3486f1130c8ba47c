import PipelineModel
import Platform
import Testing

/// Two pieces of work with one key would be taken for each other, so no two may have one.
@Suite struct CheckpointKeyTests {
  private func components(
    kind: String = "eq", revision: Int = 1, parameters: String = "{}",
    inputs: [String: String] = ["sound": "a"], libraries: [String: String] = ["x": "1"]
  ) -> KeyComponents {
    KeyComponents(
      kind: kind, revision: revision, parameters: parameters,
      inputs: Dictionary(
        uniqueKeysWithValues: inputs.map { (PortName($0), SHA256.digest(of: $1)) }),
      libraries: libraries)
  }

  @Test("everything that determines the result changes the key")
  func sensitivity() {
    let variants = [
      components(), components(kind: "gate"), components(revision: 2),
      components(parameters: #"{"gain":1}"#), components(inputs: ["sound": "b"]),
      components(inputs: ["other": "a"]), components(inputs: ["sound": "a", "other": "a"]),
      components(inputs: [:]), components(libraries: ["x": "2"]),
      components(libraries: ["y": "1"]), components(libraries: [:]),
    ]
    #expect(Set(variants.map(\.key)).count == variants.count)
  }

  @Test("nothing can be moved from one field into the next")
  func boundaries() {
    let variants = [
      components(kind: "eq", revision: 11, parameters: "{}"),
      components(kind: "eq1", revision: 1, parameters: "{}"),
      components(kind: "eq\n1:1", revision: 1, parameters: "{}"),
      components(parameters: "{}\n5:input"), components(parameters: "{}", inputs: [:]),
      components(inputs: [:], libraries: ["sound": "1"]),
      components(libraries: ["x": "1\n7:library\n1:y\n1:2"]),
      components(libraries: ["x": "1", "y": "2"]),
      components(libraries: ["x1": ""]), components(libraries: ["": "x1"]),
    ]
    #expect(Set(variants.map(\.key)).count == variants.count)
  }

  @Test("the order in which components are given does not matter")
  func order() {
    let names = (0..<50).map { "port\($0)" }
    let forth = Dictionary(uniqueKeysWithValues: names.map { ($0, $0) })
    let back = Dictionary(uniqueKeysWithValues: names.reversed().map { ($0, $0) })
    #expect(
      components(inputs: forth, libraries: back).key
        == components(inputs: back, libraries: forth).key)
  }

  /// Worked out with printf and sha256sum. If it changes, every stored checkpoint is lost.
  @Test("the key's recipe does not drift")
  func golden() {
    #expect(
      components(inputs: [:], libraries: [:]).key.digest.hex
        == "b0fdcb5f168c7b7cf6d6257cfab23b5746dfc93d20a894efb1b480ce397d3bda")
  }
}
