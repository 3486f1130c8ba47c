internal import Platform

/// Where an encoder keeps its resumable work, and the progress of an earlier process.
package struct EncodingWork: Hashable, Sendable {
  /// A folder that exists and outlives the process.
  package let folder: String
  /// The prefix of this encoder's file names, unique in the folder and without a slash.
  package let name: String
  /// The last ``EncodingProgress/state`` of an earlier process; nil for a new start, which discards
  /// files of this name.
  package let resuming: String?

  package init(folder: String, name: String, resuming: String? = nil) {
    self.folder = folder
    self.name = name
    self.resuming = resuming
  }

  /// Deletes what an encoder has laid aside under this name beside its file, so that nothing of it is
  /// resumed. The encoder must be done.
  package func discard() { ChunkFiles.removeAll(named: name, in: folder) }
}

/// An encoder's work, new or resumed.
struct ResumableWork: Sendable {
  let folder: String
  let name: String
  /// The earlier process's state, or that of a new encoding.
  let state: EncodingState
  /// Whether usable work exists.
  let isResumed: Bool

  /// Reads `work`. A state of other settings, or an unreadable one, makes a new start.
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

/// The progress of an encoder, for the process that resumes it.
struct EncodingState: Hashable, Sendable, Codable {
  /// The digest of everything except the sound that the bytes depend on.
  let settings: Digest
  /// Distinguishes this encoding's files from others with the same settings.
  let nonce: UInt64
  /// The extent reached.
  var extent = EncodingExtent()

  /// The state of a new encoding.
  init(settings: Digest) {
    self.settings = settings
    nonce = .random(in: 0 ... .max)
  }

  /// Parses `json`; nil if invalid.
  init?(json: String) {
    guard let state = try? EncodingState(jsonText: json),
      state.extent.frames >= 0, state.extent.byteCount >= 0,
      state.extent.hash?.frames ?? 0 >= 0
    else { return nil }
    self = state
  }

  /// One line. Integers and a digest always encode; an empty text would only mean a new start.
  var json: String {
    (try? jsonText()) ?? ""
  }

  /// The owner stored in this encoding's files.
  var owner: Digest { SHA256.digest(of: "\(settings.hex) \(nonce)") }
}

/// The progress of an encoding, in the encoder's frames.
struct EncodingExtent: Hashable, Sendable, Codable {
  /// The number of frames encoded.
  var frames = 0
  var byteCount = 0
  /// The checksum of the sound among those bytes.
  var checksum: UInt64 = 0
  /// The hash of the samples, for FLAC: of at least `frames` frames.
  var hash: SampleHash?
}

/// The resumable part of an encoding. Thread-safe during the encoding.
protocol EncodingSurvival: Sendable {
  /// The progress that the system has taken over.
  var extent: EncodingExtent { get }
  /// Makes the `extent` before the call durable. After one failure, all later calls fail: the
  /// system may have dropped the unwritten data.
  func flush() throws(SpoolError)
}
