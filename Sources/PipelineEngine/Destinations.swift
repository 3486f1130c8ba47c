import Glibc
import PipelineModel

/// The files that a run will put into the user's folder, looked at before the work: it must not end
/// at a name that two steps want, and a recording must never be written over by what is made of it.
enum Destinations {
  /// Throws for the step that wants a name which is taken. Takes a look at each file.
  static func check(_ plan: Plan, folder: String) throws(PassFailure) {
    var owners: [String: StepID] = [:]
    let recordings = plan.inputs.values.sorted().compactMap { path in
      FileIdentity(of: path).map { (path, $0) }
    }
    for step in plan.steps {
      guard let stage = step.stage as? any PublishingStage else { continue }
      let sources = plan.recordings(of: step.id).compactMap { plan.inputs[$0] }
      for name in stage.fileNames(of: step.id, recordings: sources) {
        if let owner = owners.updateValue(step.id, forKey: name) {
          throw PassFailure(
            step.id,
            StageError(
              "would write \(name) a second time", reason: "\(owner) writes it too",
              advice: "give the files of one of them another name: \"{stem}.\(step.id)\""))
        }
        let there = FileIdentity(of: "\(folder)/\(name)")
        if let (path, _) = recordings.first(where: { $0.1 == there }) {
          throw PassFailure(
            step.id,
            StageError(
              "would write over the recording \(path)",
              reason: "the export has its name and goes into its folder",
              advice: "choose another folder with --out"))
        }
      }
    }
  }
}

/// By what a file is known under all its names.
private struct FileIdentity: Equatable {
  private let device: dev_t
  private let node: ino_t

  /// Nil where there is no file.
  init?(of path: String) {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    (device, node) = (status.st_dev, status.st_ino)
  }
}
