internal import PipelineModel
internal import Platform

extension StoreConformance {
  func appendedBytes() throws {
    let store = try makeStore()
    let pieces: [[UInt8]] = [Array("one ".utf8), [], Array("two".utf8)]
    let draft = try store.makeDraft(.file)
    for piece in pieces {
      try draft.append(piece)
      try draft.flush()
    }
    let artifact = try draft.seal()
    try require(artifact.kind == .file, "the kind is another")
    try require(artifact.byteCount == 7, "the length is \(artifact.byteCount)")
    // From sha256sum.
    try require(
      artifact.digest.hex == "8ab63e29a4ba14e4e1688f9c15e5af90895421358c945b0431f85d66977bd3d2",
      "the digest is another")
    try require(
      try bytes(atPath: store.path(of: artifact)) == pieces.flatMap { $0 }, "the bytes differ")
  }

  func pathBytes() throws {
    let store = try makeStore()
    let draft = try store.makeDraft(.sound)
    try write(Array("elsewhere".utf8), atPath: draft.path)
    let artifact = try draft.seal()
    try require(artifact.digest == SHA256.digest(of: "elsewhere"), "the digest is another")
    try require(
      try bytes(atPath: store.path(of: artifact)) == Array("elsewhere".utf8), "the bytes differ")
  }

  func mixedBytes() throws {
    let store = try makeStore()
    let draft = try store.makeDraft(.sound)
    try draft.append(Array("header, body".utf8))
    // The length stays, so that a look at it alone sees nothing.
    try write(Array("HEADER".utf8), atPath: draft.path)
    let artifact = try draft.seal()
    try require(
      try SHA256.digest(of: bytes(atPath: store.path(of: artifact))) == artifact.digest,
      "the digest is not that of the bytes")
    try require(artifact.digest == SHA256.digest(of: "HEADER, body"), "the bytes differ")
  }

  func emptyArtifact() throws {
    let store = try makeStore()
    let artifact = try store.makeDraft(.file).seal()
    try require(artifact.byteCount == 0, "the length is \(artifact.byteCount)")
    try require(artifact.digest == SHA256.digest(of: ""), "the digest is another")
    try require(try bytes(atPath: store.path(of: artifact)) == [], "it has bytes")
  }

  func equalBytes() throws {
    let store = try makeStore()
    let first = try store.makeArtifact("same")
    let second = try store.makeArtifact("same")
    try require(first == second, "they differ")
    try require(try store.path(of: first) == store.path(of: second), "they lie apart")
  }

  func droppedDraft() throws {
    let store = try makeStore()
    func dropped() throws -> String {
      let draft = try store.makeDraft(.file)
      try draft.append(Array("never".utf8))
      return draft.path
    }
    let path = try dropped()
    try require((try? bytes(atPath: path)) == nil, "the file is still there")
  }

  func wrongLength() throws {
    let store = try makeStore()
    let artifact = try store.makeArtifact("whole")
    let other = Artifact(kind: artifact.kind, digest: artifact.digest, byteCount: 4)
    try require((try? store.path(of: other)) == nil, "it has a path")
  }
}
