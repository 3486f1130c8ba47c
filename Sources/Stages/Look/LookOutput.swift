import PipelineModel

/// A file that a stage for people who look gives, and where it goes.
struct LookOutput: Hashable, Sendable {
  let port: PortName
  /// What follows the recording's name: `.waveform.png`.
  let ending: String
}

extension PublishingContext {
  /// Publishes those outputs that are there. `name` is the template of the files' names.
  func publish(
    _ files: [LookOutput], name: String
  ) throws(StageError) -> [PublishedFile] {
    var published: [PublishedFile] = []
    for file in files {
      guard let artifact = outputs[file.port]?.artifact else { continue }
      let stem = ExportName.fill(name, recording: names.first)
      published.append(try publish(artifact, as: stem + file.ending))
    }
    return published
  }
}
