import Foundation
package import PipelineModel
package import Platform

extension ArtifactStore {
  /// An artifact whose bytes are a text's.
  package func makeArtifact(_ text: String, kind: ArtifactKind = .file) throws -> Artifact {
    let draft = try makeDraft(kind)
    try draft.append(Array(text.utf8))
    return try draft.seal()
  }
}

extension ArtifactStore {
  /// The claim on a piece of work that is free; throws where somebody has it.
  package func granted(_ work: Digest) throws -> any WorkClaim {
    switch try claim(work, summary: "a test's") {
    case .granted(let claim): return claim
    case .taken(let owner): throw Broken(description: "the work is taken by \(owner)")
    }
  }
}

extension ArtifactDraft {
  /// Appends an array's bytes.
  package func append(_ bytes: [UInt8]) throws {
    try unsafe bytes.withUnsafeBytes { try unsafe append($0) }
  }
}

extension KeyComponents {
  /// Components that differ where one of the words or the input does.
  package static func sample(
    _ kind: String, _ parameter: String, of input: Digest = SHA256.digest(of: "input")
  ) -> KeyComponents {
    KeyComponents(
      kind: kind, revision: 1, parameters: Value.text(parameter).canonicalJSON,
      inputs: [.sound: input], libraries: ["library": "1.0"])
  }
}

extension StoreConformance {
  /// The bytes of a file, read past the store.
  func bytes(atPath path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: path)))
  }

  /// Writes over the beginning of a file, past the store.
  func write(_ bytes: [UInt8], atPath path: String) throws {
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.write(contentsOf: Data(bytes))
    try file.close()
  }
}
