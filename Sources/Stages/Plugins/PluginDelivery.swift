import PipelineModel
import PluginHost

/// Files that outputs of file stages become in the user's folder.
struct PluginDelivery {
  let ports: [PluginManifest.FilePort]

  func fileNames(recordings: [String]) -> [String] {
    ports.compactMap { port in
      port.fileName.map { ExportName.fill($0, recording: recordings.first) }
    }
  }

  func publish(_ context: PublishingContext) throws(StageError) -> [PublishedFile] {
    var files: [PublishedFile] = []
    for port in ports {
      guard let name = port.fileName,
        let artifact = context.outputs[PortName(port.name)]?.artifact
      else { continue }
      files.append(
        try context.publish(artifact, as: ExportName.fill(name, recording: context.names.first)))
    }
    return files
  }
}
