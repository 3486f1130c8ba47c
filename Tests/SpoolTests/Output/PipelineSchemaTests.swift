import Foundation
import PipelineModel
import TestSupport
import Testing
@testable import spool

@Suite struct PipelineSchemaTests {
  @Test func `the schema is JSON that names every kind and parameter`() throws {
    let text = PipelineSchema(SampleStages.catalog).value.canonicalJSON
    let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    let properties = object?["properties"] as? [String: Any]
    let stages = properties?["stages"] as? [String: Any]
    let items = (stages?["items"] as? [String: Any])?["anyOf"] as? [[String: Any]]
    #expect(items?.count == SampleStages.catalog.kinds.count + 1)
    for word in ["\"amount\"", "\"soft\"", "\"when\"", "dBFS"] { #expect(text.contains(word)) }
  }

  @Test func `a port that takes several sources takes one name or a list of them`() throws {
    let text = PipelineSchema(SampleStages.catalog).value.canonicalJSON
    let list =
      #""tracks":{"anyOf":[{"type":"string"},{"items":{"type":"string"},"minItems":1,"#
      + #""type":"array"}],"description":"the streams"}"#
    #expect(text.contains(list))
    // A port that takes one source takes one name, and an input may be a list of files.
    #expect(text.contains(#""recording":{"description":"the file","type":"string"}"#))
    #expect(text.contains(#""sound","sound?","sound+""#))
  }

  @Test func `a graph has a node for every step and an edge for every source`() throws {
    let definition = PipelineDefinition.sample([
      .step("open"), .step("change", id: "a b"), .step("write"),
    ])
    let plan = try Plan(definition, catalog: SampleStages.catalog, inputs: ["note": ""])
    let graph = PipelineGraph([plan], of: definition)
    #expect(graph.mermaid.contains(#"step_a_b["a b (change)"]"#))
    #expect(graph.mermaid.contains("step_open -->|sound| step_a_b"))
    #expect(graph.dot.contains(#""$note" -> "open""#))
    #expect(graph.dot.hasSuffix("}\n"))
  }

  @Test func `a graph has the steps that run with an input and those that run without it`() throws {
    let definition = PipelineDefinition.sample(
      [
        .step("open"), .step("change", when: "$words"),
        .step("change", id: "other", when: "not $words"), .step("write"),
      ],
      optional: [("words", .transcript)])
    let plans = try [["note": "", "words": ""], ["note": ""]].map {
      try Plan(definition, catalog: SampleStages.catalog, inputs: $0)
    }
    let graph = PipelineGraph(plans, of: definition)
    let nodes = graph.mermaid.split(separator: "\n").filter {
      $0.contains("[\"") && !$0.contains("([")
    }
    #expect(
      nodes.map { $0.prefix { $0 != "[" }.dropFirst(7) } == [
        "open", "other", "change", "write",
      ])
    for edge in ["open -->|sound| step_change", "open -->|sound| step_other"]
      + ["change -->|sound| step_write", "other -->|sound| step_write"]
    {
      #expect(graph.mermaid.contains("step_" + edge), "\(graph.mermaid)")
    }
  }
}
