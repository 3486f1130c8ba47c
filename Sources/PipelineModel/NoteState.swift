/// How a note stands, from its arrival until its results are where they belong.
///
/// ```
/// received ⇄ processing → uploading → uploaded
///     ↑          ↓    ↘       ↓  ↘       ↑
///     └─────── failed   quarantined   (a repeat of one that is uploaded)
/// ```
public enum NoteState: String, Hashable, Sendable, Codable, CaseIterable {
  /// Its recording is in the store, flushed and verified, and waits to be processed.
  case received
  /// It is being processed.
  case processing
  /// It is processed, and its results are on their way.
  case uploading
  /// All that was required is done. Nothing follows.
  case uploaded
  /// It could not be processed. It is tried again when its time comes or when somebody asks. One that
  /// was cancelled (``Note/isCancelled``) has failed for good, and waits for nobody.
  case failed
  /// It cannot be accepted, and waits for somebody to decide.
  case quarantined

  /// Whether a note may come from this state to another one.
  public func allows(_ next: NoteState) -> Bool {
    switch self {
    case .received: [.processing, .uploaded, .failed, .quarantined].contains(next)
    case .processing: [.received, .uploading, .uploaded, .failed, .quarantined].contains(next)
    case .uploading: [.received, .uploaded, .failed, .quarantined].contains(next)
    case .failed: [.received, .processing, .quarantined].contains(next)
    case .quarantined: next == .received
    case .uploaded: false
    }
  }

  /// The state in words that may follow "it": `is being processed`.
  public var words: String {
    switch self {
    case .received: "waits to be processed"
    case .processing: "is being processed"
    case .uploading: "is being uploaded"
    case .uploaded: "is uploaded"
    case .failed: "has failed"
    case .quarantined: "is quarantined"
    }
  }
}
