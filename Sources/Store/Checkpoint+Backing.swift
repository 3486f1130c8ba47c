internal import PipelineModel

extension Checkpoint {
  /// The checkpoint without kept sound that is gone, which can be streamed again; nil if anything
  /// else that it names is gone.
  func backed(where isThere: (Artifact) -> Bool) -> Checkpoint? {
    var checkpoint = self
    for (port, output) in outputs {
      guard let artifact = output.artifact, !isThere(artifact) else { continue }
      if output.kind != .sound { return nil }
      checkpoint.outputs[port]?.artifact = nil
    }
    return checkpoint
  }
}

extension StoreLayout {
  /// Whether an artifact lies in its place, with its length.
  func holds(_ artifact: Artifact) -> Bool {
    let stamp = try? FileStamp(at: self.artifact(artifact.digest))
    return stamp.map { $0.isRegularFile && $0.byteCount == artifact.byteCount } ?? false
  }
}
