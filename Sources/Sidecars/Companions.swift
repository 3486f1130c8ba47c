internal import JSONText

/// The files beside a recording that belong to it.
public struct Companions: Hashable, Sendable {
  /// What a device says about it; nil where there is none.
  public let sidecar: FileName?
  /// What may be its transcript, the likeliest first.
  public let transcripts: [FileName]

  /// Finds them among what lies in the recording's folder.
  ///
  /// - Parameters:
  ///   - exists: whether a file is there.
  ///   - beginning: the first bytes of a file, as many as asked for; nil where it cannot be read.
  public init(
    of recording: FileName, exists: (FileName) -> Bool,
    beginning: (FileName, _ byteCount: Int) -> [UInt8]?
  ) {
    let json = SidecarName.candidates(for: recording).filter { $0 != recording && exists($0) }
    let isTranscript = json.map { name in
      beginning(name, TranscriptSign.byteLimit).map { TranscriptSign.isTranscript($0) } ?? false
    }
    sidecar = zip(json, isTranscript).first { !$0.1 }?.0
    transcripts =
      TranscriptName.candidates(for: recording).filter { $0 != recording && exists($0) }
      + zip(json, isTranscript).filter(\.1).map(\.0)
  }
}

extension Sidecar {
  /// Where a sidecar says that the transcript is.
  public enum TranscriptPlace: Hashable, Sendable {
    /// In a file beside it.
    case file(FileName)
    /// In the sidecar itself: a text, or words with their times.
    case itself
  }

  /// What the field `transcript` says; nil where there is none, or nothing in it.
  ///
  /// - Parameter exists: whether a file lies beside the sidecar.
  public func transcript(exists: (FileName) -> Bool) -> TranscriptPlace? {
    switch written["transcript"] {
    case .text(let text):
      if let name = FileName(text), exists(name) { return .file(name) }
      return text.isEmpty ? nil : .itself
    case .object, .list: return .itself
    default: return nil
    }
  }
}
