package import PipelineModel

/// A file whose bytes are stored, to be admitted as a recording.
package struct RecordingArrival: Hashable, Sendable {
  package var pipeline: String
  /// The inbox, as an absolute path.
  package var inbox: String
  /// Its path in the inbox, in the form of ``RecordingFile/path``.
  package var path: String
  /// The stored version of the file.
  package var stamp: RecordingFileStamp
  /// Its name, printable.
  package var fileName: String
  package var recording: Artifact
  /// Its sidecar; nil if none.
  package var sidecar: Companion?
  /// Candidate transcripts, the likeliest first.
  package var transcripts: [Companion] = []
  /// The file that marks it as complete; nil if none.
  package var marker: Companion?
  /// Files of its cut-off version, which is quarantined: a new recording takes them over.
  package var inherited: [RecordingFile] = []
  /// The sidecar among them; nil if none.
  package var inheritedSidecar: Artifact?
  /// The identity given by its device; nil if none.
  package var deviceID: String?
  /// The same as the device wrote it; nil if unknown.
  package var deviceName: String?
  /// What is known about it, as canonical JSON.
  package var facts: String?
  package var title: String?
  /// The user's tags.
  package var tags: [String] = []
  /// Why it cannot be accepted; nil if it can.
  package var refusal: String?

  /// A file that belongs to the recording.
  package struct Companion: Hashable, Sendable {
    /// Its path in the inbox, in the form of ``RecordingFile/path``.
    package let path: String
    /// The stored version of the file.
    package let stamp: RecordingFileStamp
    /// Its bytes; nil if they are not needed.
    package let artifact: Artifact?

    package init(path: String, stamp: RecordingFileStamp, artifact: Artifact?) {
      self.path = path
      self.stamp = stamp
      self.artifact = artifact
    }
  }

  package init(
    pipeline: String, inbox: String, path: String, stamp: RecordingFileStamp, fileName: String,
    recording: Artifact
  ) {
    self.pipeline = pipeline
    self.inbox = inbox
    self.path = path
    self.stamp = stamp
    self.fileName = fileName
    self.recording = recording
  }
}

/// The treatment of recordings that claim another one's identity with other bytes.
package enum ConflictPolicy: String, Hashable, Sendable, Codable {
  /// Quarantine the claimant.
  case quarantine
  /// Process the claimant like any other.
  case process
}

/// The classification of an arrival.
package enum RecordingAdmission: Hashable, Sendable {
  case new(Recording)
  /// This file was taken in before, perhaps by another process.
  case known(Recording)
  /// A known recording, under this or another name.
  case duplicate(of: Recording)
  /// A new or known recording that claims another one's identity with other bytes.
  case conflict(Recording, with: RecordingKey)

  /// The recording that the file belongs to.
  package var recording: Recording {
    switch self {
    case .new(let recording), .known(let recording), .duplicate(let recording),
      .conflict(let recording, _):
      recording
    }
  }
}

/// The classification of a completely decoded recording.
package enum RecordingAcceptance: Hashable, Sendable {
  /// To be processed further.
  case accepted(Recording)
  /// Its sound is another recording's; it is acknowledged with that one, and not processed further.
  case duplicate(Recording, of: RecordingKey)
  /// It claims another recording's identity with other bytes and sound, and is quarantined.
  case conflict(Recording, with: RecordingKey)
  /// It is not being processed.
  case refused(RecordingRefusal)
}

/// A sidecar that arrived after its recording; nil fields say nothing new.
package struct LateSidecar: Hashable, Sendable {
  package let artifact: Artifact
  /// The identity that it gives the recording.
  package var deviceID: String?
  /// The same as written there.
  package var deviceName: String?
  /// The recording that owns this identity already; nil if none.
  package var conflict: RecordingKey?
  /// The recording's facts from now on, as canonical JSON.
  package var facts: String?
  package var title: String?
  /// The user's tags.
  package var tags: [String]
  /// Whether it may replace the recording's present, unreadable sidecar.
  package var isReplacing: Bool

  package init(
    _ artifact: Artifact, deviceID: String? = nil, deviceName: String? = nil, facts: String? = nil,
    title: String? = nil, tags: [String] = [], isReplacing: Bool = false
  ) {
    self.artifact = artifact
    self.deviceID = deviceID
    self.deviceName = deviceName
    self.facts = facts
    self.title = title
    self.tags = tags
    self.isReplacing = isReplacing
  }
}
