/// A folder of its own for all files of a run, below the output folder: it is whole when the last
/// of them, its seal, is there.
public struct Enclosure: Hashable, Sendable {
  /// What the folder is called.
  public let folder: String
  /// The folder in it where the run's files go.
  public let content: String
  /// The file in it without which it is not whole.
  public let seal: String
  /// What is to be said of it besides, by label; written when it is sealed.
  public let labels: [String: String]

  /// Describes a folder.
  public init(folder: String, content: String, seal: String, labels: [String: String] = [:]) {
    self.folder = folder
    self.content = content
    self.seal = seal
    self.labels = labels
  }

  /// Where the run's files go, from the output folder.
  public var place: String { "\(folder)/\(content)" }
}

extension Plan {
  /// The folder of its own that a stage asks for; nil where none does.
  /// - Parameter names: what exports call the recordings of a step, nearest first.
  public func enclosure(_ names: (BoundStep) -> [String]) -> Enclosure? {
    for step in steps {
      guard let stage = step.stage as? any ReceiptStage,
        let enclosure = stage.enclosure(recordings: names(step))
      else { continue }
      return enclosure
    }
    return nil
  }
}
