import Synchronization

/// Keeps a model that was read once, for all threads.
final class ModelShelf: Sendable {
  private let folder: String
  private let model = Mutex<Result<SoundModel, SpeechError>?>(nil)

  /// Keeps the model of a folder.
  init(folder: String) { self.folder = folder }

  /// The model; nil where it is of a kind that only libpocketsphinx understands.
  func take() -> SoundModel? {
    model.withLock { kept in
      if let kept { return try? kept.get() }
      let folder = folder
      let read = Result { () throws(SpeechError) in try SoundModel(folder: folder) }
      kept = read
      return try? read.get()
    }
  }
}
