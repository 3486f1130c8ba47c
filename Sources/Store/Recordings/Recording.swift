package import PipelineModel
package import Platform

/// A recording's name in the store: 12 or more hexadecimal digits, determined by its bytes and
/// pipeline.
package struct RecordingKey: NameType {
  package let name: String
  package init(_ name: String) { self.name = name }
}

/// An arrived recording and its state.
package struct Recording: Hashable, Sendable {
  package let key: RecordingKey
  /// One recording for two pipelines is stored twice.
  package let pipeline: String
  /// The inbox, as an absolute path.
  package let inbox: String
  /// The name of its file, printable.
  package let fileName: String
  package let content: Artifact
  /// In seconds since 1970.
  package let receivedAt: Double
  /// The name of its acknowledgement, without the ending: the device's name if this recording owns
  /// it, else the key.
  package internal(set) var acknowledgementName: String

  /// The identity given by its device; nil if none.
  package var deviceID: String?
  /// The same as the device wrote it, for its acknowledgements; nil if unknown.
  package var deviceName: String?
  /// Its sidecar as it arrived; nil if none.
  package var sidecar: Artifact?
  /// What is known about it, as canonical JSON; nil if nothing.
  package var facts: String?
  /// Nil if unnamed.
  package var title: String?
  /// The user's tags, in order.
  package var tags: [String]
  package var state: RecordingState
  /// Why it is in this state; nil if the state says it.
  package var reason: String?
  /// Whether it was cancelled: it has failed and is not retried.
  package var isCancelled = false
  /// Attempts since it was received or last requested.
  package var attempts: Int
  /// When it is retried, in seconds since 1970; nil if it is not.
  package var nextAttempt: Double?
  /// Time of the last change, in seconds since 1970.
  package var changedAt: Double
  /// When it entered its state, in seconds since 1970.
  package var stateSince: Double
  /// When it was decoded completely, in seconds since 1970; nil before.
  package var acceptedAt: Double?
  /// When it was uploaded, in seconds since 1970; nil before.
  package var uploadedAt: Double?
  /// The digest of its decoded samples; nil while unknown.
  package var sound: Digest?
  /// The recording with the same sound; nil if this one is unique.
  package var original: RecordingKey?
  /// The recording whose identity it claims with other bytes; nil if none.
  package var conflict: RecordingKey?
  /// Whether that claim waits for a decision; `reason` then says so.
  package internal(set) var isClaimOpen = false
  /// Number of changes; monotonic.
  package var revision: Int

  package init(
    key: RecordingKey, pipeline: String, inbox: String, fileName: String, content: Artifact,
    receivedAt: Double, acknowledgementName: String, deviceID: String? = nil,
    state: RecordingState = .received, reason: String? = nil
  ) {
    self.key = key
    self.pipeline = pipeline
    self.inbox = inbox
    self.fileName = fileName
    self.content = content
    self.receivedAt = receivedAt
    self.acknowledgementName = acknowledgementName
    self.deviceID = deviceID
    self.state = state
    self.reason = reason
    tags = []
    attempts = 0
    changedAt = receivedAt
    stateSince = receivedAt
    revision = 1
  }

  /// Whether the file is empty, so that it cannot be processed.
  package var isEmpty: Bool { content.byteCount == 0 }

  /// The state in words that may follow "it": `is being processed`.
  package var words: String { isCancelled ? "is cancelled" : state.words }

  /// The state in one word, or `cancelled`.
  package var status: String { isCancelled ? "cancelled" : state.rawValue }

  /// Whether it waits for another recording with the same sound.
  package var waitsForOriginal: Bool { state == .received && original != nil }

  /// Its device's identity, as the device wrote it if known.
  package var shownID: String? { deviceName ?? deviceID }

  /// Whether its identity may go to a replacement: devices send truncated or damaged recordings
  /// again under the same name.
  package var yieldsIdentity: Bool {
    state == .quarantined && acceptedAt == nil && conflict == nil
  }

  /// Whether its device identity is its own rather than claimed.
  package var ownsIdentity: Bool { deviceID != nil && acknowledgementName != key.name }

  /// The reason of an open claim.
  package static func words(claiming other: RecordingKey) -> String {
    "it claims to be \(other) with other bytes"
  }

  /// Commands for the user, the most likely first; empty if there is nothing to do.
  package var nextCommands: [String] {
    switch state {
    case .uploaded where isClaimOpen:
      ["\(command: .inboxShow) \(key)", "\(command: .inboxRelease) \(key)"]
    case .received, .processing, .uploading, .uploaded: ["\(command: .inboxShow) \(key)"]
    case .failed: ["\(command: .inboxRetry) \(key)", "\(command: .inboxShow) \(key)"]
    // An empty recording is sent again or forgotten.
    case .quarantined where isEmpty:
      ["\(command: .inboxShow) \(key)", "\(command: .inboxForget) \(key)"]
    case .quarantined where conflict == nil:
      // What was corrected is tried again; what is right as it is, is let in.
      [
        "\(command: .inboxShow) \(key)",
        "\(command: .inboxRetry) \(key)",
        "\(command: .inboxRelease) \(key)",
        "\(command: .inboxForget) \(key)",
      ]
    case .quarantined:
      [
        "\(command: .inboxShow) \(key)",
        "\(command: .inboxRelease) \(key)",
        "\(command: .inboxForget) \(key)",
      ]
    }
  }
}

/// An entry of a recording's history.
package struct RecordingEvent: Hashable, Sendable {
  /// In seconds since 1970.
  package let at: Double
  package let state: RecordingState
  /// The reason, or another event; nil if the state says it.
  package let reason: String?

  /// The reason of a release by a person.
  package static let releaseReason = "released by hand"
}

extension [RecordingEvent] {
  /// Whether the recording was quarantined for this reason, perhaps among others, and a person has
  /// released it since. O(n).
  package func isReleased(from reason: String) -> Bool {
    guard
      let place = lastIndex(where: {
        $0.state == .quarantined && $0.reason?.contains(reason) == true
      })
    else { return false }
    return self[place...].contains {
      $0.state == .received && $0.reason == RecordingEvent.releaseReason
    }
  }
}

/// The state of a recording, from arrival to upload.
///
/// ```
/// received ⇄ processing → uploading → uploaded
/// ↑          ↓    ↘       ↓  ↘       ↑
/// └─────── failed   quarantined   (a repeat of one that is uploaded)
/// ```
package enum RecordingState: String, Hashable, Sendable, Codable, CaseIterable {
  /// Stored, flushed and verified; waits to be processed.
  case received
  case processing
  /// Processed; its results are being delivered.
  case uploading
  /// Everything required is done. Final.
  case uploaded
  /// Processing failed. It is retried when due or on request; a cancelled one
  /// (``Recording/isCancelled``) is not.
  case failed
  /// Not accepted; waits for a decision.
  case quarantined

  /// Whether the transition is allowed.
  package func allows(_ next: RecordingState) -> Bool {
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
  package var words: String {
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
