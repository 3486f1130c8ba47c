internal import Hashing

/// An encoder's work as it was found: new, or to be gone on with.
struct ResumableWork: Sendable {
  let folder: String
  let name: String
  /// What the earlier process said, or the state of a new encoding.
  let state: EncodingState
  /// Whether there was an earlier process whose work is of use.
  let isResumed: Bool

  /// Reads `work`. A state of other settings, or none that can be read, makes a new start.
  init(_ work: EncodingWork, settings: Digest) {
    folder = work.folder
    name = work.name
    if let earlier = work.resuming.flatMap(EncodingState.init(json:)), earlier.settings == settings
    {
      (state, isResumed) = (earlier, true)
    } else {
      (state, isResumed) = (EncodingState(settings: settings), false)
    }
  }
}
