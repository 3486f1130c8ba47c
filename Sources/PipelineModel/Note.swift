public import Hashing

/// The name of a note in the store: 12 or more hexadecimal digits, the same for the same recording.
public struct NoteKey: NameType {
  /// The name as written.
  public let name: String
  /// Wraps a name.
  public init(_ name: String) { self.name = name }
}

/// A recording that has arrived, and all that the store knows of its way.
public struct Note: Hashable, Sendable {
  /// Its name in the store.
  public let key: NoteKey
  /// The pipeline that it is for: one recording for two pipelines is two notes.
  public let pipeline: String
  /// The inbox that it arrived in, as an absolute path.
  public let inbox: String
  /// The name of its file, in a form that can be shown.
  public let fileName: String
  /// The recording as it arrived.
  public let recording: Artifact
  /// When it was received, in seconds since 1970.
  public let receivedAt: Double
  /// The name of its acknowledgement, without the ending: its device's name for it where that is
  /// its alone, and else its own.
  public internal(set) var acknowledgementName: String

  /// The identity that its device gave it; nil where none did.
  public var deviceID: String?
  /// The same as its device wrote it, in which it is given back; nil where that is not known.
  public var deviceName: String?
  /// Its sidecar as it arrived; nil where none did.
  public var sidecar: Artifact?
  /// What is known about it, as canonical JSON; nil where nothing is.
  public var facts: String?
  /// What it is called; nil where nobody named it.
  public var title: String?
  /// The user's words for it, in their order.
  public var tags: [String]
  /// How it stands.
  public var state: NoteState
  /// Why it stands so; nil where that says itself.
  public var reason: String?
  /// Whether somebody wants it left alone: it has failed then, for good, and asks nobody for anything.
  public var isCancelled = false
  /// How often it was tried since it was received or last asked for.
  public var attempts: Int
  /// When it is tried again by itself, in seconds since 1970; nil where it is not.
  public var nextAttempt: Double?
  /// When anything of it last changed, in seconds since 1970.
  public var changedAt: Double
  /// Since when it stands as it does, in seconds since 1970.
  public var stateSince: Double
  /// When it had been decoded to the end, in seconds since 1970; nil before.
  public var acceptedAt: Double?
  /// When it was uploaded, in seconds since 1970; nil before.
  public var uploadedAt: Double?
  /// The identity of its decoded sound; nil while unknown.
  public var sound: Digest?
  /// The note that has the same sound; nil where this one is on its own.
  public var original: NoteKey?
  /// The note whose identity it claims with other bytes; nil where it claims nobody's.
  public var conflict: NoteKey?
  /// How many changes it has seen; it only grows.
  public var revision: Int

  /// Makes a note of all that is known.
  public init(
    key: NoteKey, pipeline: String, inbox: String, fileName: String, recording: Artifact,
    receivedAt: Double, acknowledgementName: String, deviceID: String? = nil,
    state: NoteState = .received, reason: String? = nil
  ) {
    self.key = key
    self.pipeline = pipeline
    self.inbox = inbox
    self.fileName = fileName
    self.recording = recording
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

  /// Whether there is nothing in its recording at all, so that no decision can make anything of it.
  public var isEmpty: Bool { recording.byteCount == 0 }

  /// How it stands, in words that may follow "it": `is being processed`.
  public var words: String { isCancelled ? "is cancelled" : state.words }

  /// How it stands, in one word: that of its state, or `cancelled`.
  public var standing: String { isCancelled ? "cancelled" : state.rawValue }

  /// Whether it waits for another note with the same sound to be done.
  public var waitsForOriginal: Bool { state == .received && original != nil }

  /// The identity that its device gave it, as the device wrote it where that is known.
  public var shownID: String? { deviceName ?? deviceID }

  /// Whether its identity is free for a recording that comes in its place: what arrived cut off or
  /// damaged is sent again by its device under the same name.
  public var yieldsIdentity: Bool {
    state == .quarantined && acceptedAt == nil && conflict == nil
  }

  /// Whether the identity that its device gave it is its own: nobody had it before.
  public var ownsIdentity: Bool { deviceID != nil && acknowledgementName != key.name }

  /// Whether it claims another note's identity and nobody has decided about that yet.
  public var isClaimOpen: Bool { conflict.map { reason == Self.words(claiming: $0) } ?? false }

  /// Why a note stands as it does that claims another one's identity.
  public static func words(claiming other: NoteKey) -> String {
    "it claims to be \(other) with other bytes"
  }

  /// What a user can type next, the most likely first; empty where there is nothing to do.
  public var nextCommands: [String] {
    switch state {
    case .uploaded where isClaimOpen: ["spool inbox show \(key)", "spool inbox release \(key)"]
    case .received, .processing, .uploading, .uploaded: ["spool inbox show \(key)"]
    case .failed: ["spool inbox retry \(key)", "spool inbox show \(key)"]
    // What is empty stays so: it is sent again, or struck.
    case .quarantined where isEmpty: ["spool inbox show \(key)", "spool inbox forget \(key)"]
    case .quarantined:
      ["spool inbox show \(key)", "spool inbox release \(key)", "spool inbox forget \(key)"]
    }
  }
}

/// One step on a note's way.
public struct NoteEvent: Hashable, Sendable {
  /// When, in seconds since 1970.
  public let at: Double
  /// How the note stood from then on.
  public let state: NoteState
  /// Why, or what else happened; nil where that says itself.
  public let reason: String?

  /// Describes a step.
  public init(at: Double, state: NoteState, reason: String?) {
    self.at = at
    self.state = state
    self.reason = reason
  }
}
