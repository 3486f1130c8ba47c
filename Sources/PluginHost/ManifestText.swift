import FoundationEssentials
import PipelineFile
public import PipelineModel

/// A manifest as read: what it says, and everything that is wrong with it.
public struct ManifestText: Sendable {
  /// What it says; nil where that cannot be made out.
  public let manifest: PluginManifest?
  /// What is wrong, each with its place.
  public let problems: [Problem]
  /// The text as a document; nil where it is none.
  let root: DocumentNode?

  /// Reads a text. O(n).
  public init(_ text: String) {
    let document = YAMLDocument(text)
    guard let root = document.root, document.problems.isEmpty else {
      manifest = nil
      problems = document.problems
      root = nil
      return
    }
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
      problems = resolver.problems
      return
    }
    var reader = ManifestReader(root: root)
    let manifest = reader.manifest(from: draft)
    // What contradicts itself on a line that cannot be understood may only follow from that.
    let unclear = Set(resolver.problems.compactMap(\.location?.line))
    problems =
      resolver.problems
      + reader.problems.filter { problem in
        !(problem.location.map { unclear.contains($0.line) } ?? false)
      }
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
  let needs: [String]?
  let limits: Limits
  let deterministic: Bool
  let stages: [Kind]

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
    let path: Bool
    let `default`: String?
    let required: Bool
  }
}
