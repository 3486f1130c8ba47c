package import PipelineModel
package import Platform

/// A file on its way to a destination, until that has confirmed it.
package struct QueuedDelivery: Hashable, Sendable, Identifiable {
  package enum State: String, Hashable, Sendable, Codable, CaseIterable {
    /// A document that is made once the files that it is about are delivered.
    case pending
    /// Its recording is marked as sensitive: nothing is sent before a person releases it.
    case held
    /// To be sent at ``nextTry``, or when its destination is held no more.
    case waiting
    /// A process sends it.
    case uploading
    /// The destination's bytes were read back and are the same. Final.
    case delivered
    /// Another attempt would have the same outcome.
    case failed
  }

  package let id: Int64
  /// The destination's name.
  package let destination: String
  /// Where it lies there. Fixed at the first delivery.
  package internal(set) var path: String
  package let file: File
  /// What it is made of; nil if it is a file that is there.
  package let document: DeliveryDocument?
  package let encounter: DeliveryRequest.Encounter
  package internal(set) var state = State.waiting
  /// Failed attempts since it was added or last requested.
  package internal(set) var attempts = 0
  /// When it is due, in seconds since 1970.
  package internal(set) var nextTry: Double
  /// The last failure; nil if there was none since it was added or last requested.
  package internal(set) var trouble: String?
  /// When it was added, in seconds since 1970.
  package let addedAt: Double
  /// How far its upload is, in its transport's own form; nil before it began.
  package internal(set) var upload: [UInt8]?
  /// Bytes that the destination has of it, as far as is known.
  package internal(set) var sentByteCount = 0
  /// Nil until it is delivered. That of the last time if it is to be sent again.
  package internal(set) var confirmation: Confirmation?

  /// The path that it would have if it were not encrypted.
  package var clearPath: String { file.facts[File.clearPath] ?? path }

  /// What is delivered.
  package struct File: Hashable, Sendable {
    /// Its name as it was published or arrived.
    package var name: String
    package let content: DeliveryRequest.Content
    /// The SHA-256 of its bytes.
    package let digest: Digest
    package let byteCount: Int
    /// The SHA-256 of the recording that it was made of; nil if there is none.
    package let recording: Digest?
    /// An absolute path, if it lies outside the store.
    package let path: String?
    /// What is said of it at the destination, by name: `noteId`, `createdAt`, `durationMs`.
    package var facts: [String: String]

    /// The fact that has the path which an encrypted file would have there.
    package static let clearPath = "path"
    /// The fact that a person has released it: it is not held again.
    package static let released = "released"
    /// The fact that has the file of destinations which named its destination.
    package static let settings = "destinations"

    /// The fact that has the digests of the decoded samples that it was made of, in hexadecimal digits,
    /// one behind the other.
    package static let sounds = "sounds"

    /// Whether it is the recording itself, and not what came with that or was made of it.
    package var isRecording: Bool { content == .original && digest == recording }

    /// The fact that has when its last attempt began, in seconds since 1970, and the bytes that were there
    /// then.
    static let began = "began"

    /// What is said of it at the destination.
    package var statedFacts: [String: String] {
      facts.filter { ![Self.released, Self.settings, Self.sounds, Self.began].contains($0.key) }
    }

    package init(
      name: String, _ content: DeliveryRequest.Content, digest: Digest, byteCount: Int,
      recording: Digest?, path: String?, facts: [String: String] = [:]
    ) {
      self.name = name
      self.content = content
      self.digest = digest
      self.byteCount = byteCount
      self.recording = recording
      self.path = path
      self.facts = facts
    }
  }

  /// What a destination gave back.
  package struct Confirmation: Hashable, Sendable {
    /// The bytes that it has.
    package let byteCount: Int
    /// Their SHA-256.
    package let digest: Digest
    /// When they were read, in seconds since 1970.
    package let at: Double
    /// The server's own identifier of the file (an ETag, a version, an inode); nil if it has none.
    package let identifier: String?

    package init(byteCount: Int, digest: Digest, at: Double, identifier: String?) {
      self.byteCount = byteCount
      self.digest = digest
      self.at = at
      self.identifier = identifier
    }
  }

  /// The path with a number before its ending: `a/note (2).m4a`. The path itself for 1.
  package static func numbered(_ path: String, _ number: Int) -> String {
    if number == 1 { return path }
    let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
    let name = path.dropFirst(folder.count)
    let point = name.dropFirst().lastIndex(of: ".") ?? name.endIndex
    return "\(folder)\(name[..<point]) (\(number))\(name[point...])"
  }
}

/// What a document is made of that is about delivered files, and is delivered behind them.
package struct DeliveryDocument: Hashable, Sendable, Codable {
  /// The numbers of these files in the queue, ascending.
  package let parts: [Int64]
  /// What is said besides, in its maker's own form.
  package let about: String
  /// When this became true once more after another document had been made, in seconds since 1970; nil for
  /// the first document of its kind.
  package internal(set) var since: Double?
  /// The recording's name, if its bytes were delivered under another one before; else nil.
  package let recordingName: String?

  package init(parts: [Int64], about: String, recordingName: String? = nil) {
    self.parts = Set(parts).sorted()
    self.about = about
    self.recordingName = recordingName
  }

  /// What of this machine the making of a signed document needs: it is no part of what it is made of.
  package struct Local: Hashable, Sendable, Codable {
    /// The absolute path of the receipt that it belongs to.
    package let receipt: String
    /// The keys of the run; nil for the usual ones.
    package let signing: RunRequest.Signing?

    package init(receipt: String, signing: RunRequest.Signing?) {
      self.receipt = receipt
      self.signing = signing
    }
  }
}

/// Who waits for a delivery.
package enum DeliveryOwner: Hashable, Sendable {
  case run(RunID)
  /// A recording of an inbox: it is uploaded once all that it requires is delivered.
  case recording(RecordingKey)

  var text: String {
    switch self {
    case .run(let id): "run/\(id.name)"
    case .recording(let key): Self.recordingMark + key.name
    }
  }

  init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1)
    guard parts.count == 2 else { return nil }
    switch parts[0] {
    case "run": self = .run(RunID(String(parts[1])))
    case "recording": self = .recording(RecordingKey(String(parts[1])))
    default: return nil
    }
  }

  static let recordingMark = "recording/"
}

/// The places beside the store that have a recording, and those that are to get it.
package struct RecordingCopies: Hashable, Sendable {
  /// The destinations that have confirmed all of it, by name.
  package private(set) var destinations: [String] = []
  private var (byteCount, sentByteCount) = (0, 0)

  package init() {}

  /// How much of it is there, from 0 to 1.
  package var fraction: Double {
    byteCount == 0 ? 0 : Double(sentByteCount) / Double(byteCount)
  }

  mutating func add(_ name: String, isWhole: Bool, byteCount: Int, sentByteCount: Int) {
    if isWhole { destinations.append(name) }
    self.byteCount += byteCount
    self.sentByteCount += sentByteCount
  }
}

/// A destination as the queue knows it.
package struct DestinationState: Hashable, Sendable {
  package let name: String
  /// Whether a user has paused it.
  package internal(set) var isPaused = false
  /// Failures of the destination itself in a row, which hold all its files.
  package internal(set) var failures = 0
  /// Until when, in seconds since 1970; nil if it is not held.
  package internal(set) var heldUntil: Double?
  /// Why; nil if it is not held.
  package internal(set) var trouble: String?

  package init(name: String) { self.name = name }
}

/// How many files of one destination are in one state.
package struct DeliveryTally: Hashable, Sendable {
  package let destination: String
  package let state: QueuedDelivery.State
  package let count: Int
  package let byteCount: Int
  package let sentByteCount: Int
  /// When the first of them was added, in seconds since 1970.
  package let since: Double
  /// When the next of them is due, in seconds since 1970.
  package let nextTry: Double
}
