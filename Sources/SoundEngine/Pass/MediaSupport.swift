package import Media
import PipelineModel
import Platform

extension SoundOutline {
  /// What a decoder will give, as far as its container says.
  package init(_ decoder: SoundDecoder) {
    self.init(
      format: decoder.format, frames: decoder.expectedFrames,
      isGuessed: !decoder.isLengthDeclared)
  }
}

extension SpoolError {
  /// An error of the media library, as the user sees it.
  package init(_ error: MediaError) {
    // Only damage that lies between sound can be kept: without its index, nothing can be read.
    let canKeep = error.damage != nil
    self.init(
      error.action, error.path, reason: error.reason,
      advice: canKeep
        ? "copy it again from where it came from, or keep what can be decoded with "
          + "decode: { damaged: keep }" : error.advice,
      cause: SpoolError.Cause(error.kind))
  }
}

extension SpoolError.Cause {
  /// Whether the cause is the recording or the environment.
  fileprivate init(_ kind: MediaError.Kind) {
    switch kind {
    case .outOfSpace: self = .fullDisk
    case .unreadable, .write, .libraryMissing: self = .environment
    default: self = .input
    }
  }
}
