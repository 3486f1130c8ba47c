import FoundationEssentials
import PipelineFile
public import PipelineModel

/// A manifest as read: what it says, and everything that is wrong with it.
public struct ManifestText: Sendable {
  /// What it says; nil where anything is wrong with it.
  public let manifest: PluginManifest?
  /// What is wrong, each with its place.
  public let problems: [Problem]
  /// What it says as far as that can be made out, to look for more that is wrong.
  let sketch: PluginManifest?
  /// The text as a document; nil where it is none.
  let root: DocumentNode?
  /// Places of what cannot be understood; `sketch` has something else there.
  let unclear: Set<SourceLocation>

  /// Reads a text. O(n).
  public init(_ text: String) {
    let document = YAMLDocument(text)
    guard let written = document.root, document.problems.isEmpty else {
      manifest = nil
      sketch = nil
      problems = document.problems
      root = nil
      unclear = []
      return
    }
    let root = ManifestForm.spelledOut(written)
    self.root = root
    var resolver = ParameterResolver(owner: "the manifest")
    let value = resolver.resolve(root, as: ManifestForm.plugin)
    var filling = ManifestFilling()
    let whole = filling.fill(value, as: ManifestForm.plugin)
    guard
      let draft = try? JSONDecoder().decode(
        ManifestDraft.self, from: Data(whole.canonicalJSON.utf8))
    else {
      manifest = nil
      sketch = nil
      problems = resolver.problems
      unclear = []
      return
    }
    unclear = Set(resolver.problems.compactMap(\.location))
    var reader = ManifestReader(root: root, unclear: unclear)
    let manifest = reader.manifest(from: draft)
    problems = resolver.problems + reader.problems
    sketch = manifest
    self.manifest = problems.isEmpty ? manifest : nil
  }
}

/// A manifest whose single values are right, and may contradict each other.
struct ManifestDraft: Decodable {
  let plugin: String
  let version: String
  let `protocol`: Int
  let summary: String
  let run: [String]?
  let library: String?
  let needs: Needs
  let limits: Limits
  let deterministic: Bool
  let stages: [Kind]

  struct Needs: Decodable {
    let programs: [String]?
    let python: [String]?
  }

  struct Limits: Decodable {
    let memory: Int
    let time: Double
    let network: Bool
    let reads: [String]?
  }

  struct Kind: Decodable {
    let kind: String
    let type: PluginManifest.Work
    let revision: Int
    let summary: String
    let discussion: String
    let inputs: [PluginManifest.FilePort]?
    let outputs: [PluginManifest.FilePort]?
    let parameters: [Parameter]?
  }

  struct Parameter: Decodable {
    let name: String
    let help: String
    let unit: String
    let range: [Double]?
    let whole: Bool
    let choices: [String]?
    let flag: Bool
    let text: Int?
    let command: Int?
    let path: Bool
    let `default`: String?
    let required: Bool
  }
}
