package import Platform

/// Reads input files, and publishes exports to the user's folders. Every method may be called from
/// any thread.
package protocol ExportFolder: Sendable {
  /// The digest of a user's file. A file with unchanged length, times and inode is not read again.
  /// - Parameter reading: called before the first byte is read and after each read, with the bytes read
  ///   so far and the file's length; what it throws ends the reading.
  func digest(
    ofFile path: String, reading: (_ done: Int, _ of: Int) throws(SpoolError) -> Void
  ) throws(SpoolError) -> Digest

  /// Whether `path` still holds, unchanged, what `publish` wrote for this `content`.
  func isPublished(_ content: Digest, at path: String) throws(SpoolError) -> Bool

  /// The source recording of the file at `path`, if this store published it and it is unchanged;
  /// nil if unknown.
  func recording(ofPublished path: String) throws(SpoolError) -> RecordingIdentity?

  /// Why an export may not take the place of the file at `path`, which this store published and
  /// which is unchanged: another recording or pipeline made it, or a receipt covers it that the run
  /// does not write again. Nil if it may, and if nothing is known of the file.
  func refusal(toReplace path: String, with source: ExportSource) throws(SpoolError) -> SpoolError?

  /// Why no file may be written over the one at `path`, not even on request: a run took it in as a
  /// recording, or it is a device or a pipe. Nil for others, and for an unchanged export.
  func refusal(toReplaceRecording path: String) throws(SpoolError) -> SpoolError?

  /// Records of which recordings published files were made, now that more is known of them.
  func attribute(_ paths: [String], to sounds: [RecordingIdentity]) throws(SpoolError)

  /// Whether the file at `path` may be an export: one that was published there, copied or moved
  /// since, which has its length, or one of a store that is gone. Its bytes tell.
  func mayBeCopy(_ path: String) -> Bool

  /// Records that the receipt at a path covers these published files.
  func protect(_ paths: [String], by receipt: String) throws(SpoolError)

  /// The length in bytes of the file at `path`, if this store published it and it is unchanged; nil
  /// if unknown.
  func byteCount(ofPublished path: String) -> Int?

  /// Registers the file at `path` as published again, though it was moved away and back, copied or
  /// touched, if it has the digest of a published file. It keeps the source recording of the last
  /// one at `path`.
  /// - Parameter digest: of the published bytes.
  /// - Returns: whether the file has it.
  func recognize(_ path: String, holding digest: Digest) throws(SpoolError) -> Bool

  /// Publishes a file to a user's folder: `write` fills a temporary file beside it, which is
  /// flushed, renamed to `path`, and recorded under `content`. The folder must exist.
  ///
  /// An existing file is replaced only if this store published it, it is unchanged, and there is no
  /// `refusal`, or if `isReplacing`; otherwise this throws, and the file stays. It throws as well
  /// while the place of one of the source's `companions` is taken. Looking and naming are one step
  /// among all processes that export to the folder.
  /// - Returns: the length of the file in bytes.
  func publish(
    _ content: Digest, at path: String, of source: ExportSource, isReplacing: Bool,
    write: (_ temporaryPath: String) throws(SpoolError) -> Void
  ) throws(SpoolError) -> Int

  /// Whether two paths lead to one file; false if one leads nowhere.
  func isSameFile(_ path: String, _ other: String) -> Bool

  /// Whether the store and `folder` are on one disk.
  func sharesDisk(with folder: String) -> Bool

  /// Bytes free for files in a user's folder.
  func freeByteCount(at folder: String) throws(SpoolError) -> Int

  /// Creates a folder in a user's folder, and those above it, if missing, durably.
  func makeFolder(_ path: String) throws(SpoolError)

  /// Removes a file from a user's folder, durably, if it is there. Throws for one that this store
  /// did not publish, or that was changed since, unless `isReplacing`.
  func withdraw(_ path: String, isReplacing: Bool) throws(SpoolError)

  /// Copies a file, sharing its blocks where the file system can.
  func copyFile(from source: String, to destination: String) throws(SpoolError)
}

extension ExportFolder {
  /// The digest of a user's file, read to its end.
  package func digest(ofFile path: String) throws(SpoolError) -> Digest {
    try digest(ofFile: path) { _, _ in }
  }
}

/// What makes an export: a run's pipeline, of a recording.
package struct ExportSource: Hashable, Sendable {
  /// The nearest recording, which names it; nil if there is none.
  package var recording: RecordingIdentity?
  /// All of the run's sound inputs; empty if there are none, or if unknown.
  package var sounds: [RecordingIdentity]
  /// The pipeline's name: edited or moved, it stays the same one. Nil if it is no pipeline's alone.
  package var pipeline: String?
  /// The paths of the receipts that the run writes at its end, and which may cover the export.
  package var receipts: Set<String>
  /// What a step of the pipeline says to give the export another name, such as `name: "{stem}.mine"`,
  /// for advice; nil if nothing does.
  package var naming: String?
  /// The file that the export is named after, for advice; nil where the user gave it a name.
  package var namesake: String?
  /// The sources of the run's other exports, by path. No export gets its name while one of these is
  /// taken: of two runs that want the same names, one gets all of them.
  package var companions: [String: ExportSource] = [:]

  package init(
    _ recording: RecordingIdentity? = nil, sounds: [RecordingIdentity] = [],
    pipeline: String? = nil, receipts: Set<String> = [], naming: String? = nil,
    namesake: String? = nil
  ) {
    self.recording = recording
    self.sounds = sounds
    self.pipeline = pipeline
    self.receipts = receipts
    self.naming = naming
    self.namesake = namesake
  }
}

extension ExportSource {
  /// Why an export may not take the place of a file of `other`, made of other recordings; nil if it
  /// may, and if too little is known.
  ///
  /// What all sound inputs of the runs contain decides, with their order, and not their paths. Texts and
  /// settings make no other recording. Of what an older version published, only the nearest
  /// recording is known.
  package func refusal(
    toReplace path: String, of other: ExportSource
  ) -> SpoolError? {
    guard let recording, let earlier = other.recording else { return nil }
    guard !sounds.isEmpty else {
      // Of texts alone, whose paths stand for what they tell of.
      if recording.path == earlier.path || recording.digest == earlier.digest { return nil }
      return SpoolError(path, holds: [earlier], not: [recording], namesake: namesake)
    }
    if other.sounds.isEmpty {
      if (sounds + [recording]).contains(where: { $0.isSameRecording(as: earlier) }) { return nil }
      return SpoolError(path, holds: [earlier], not: sounds, namesake: namesake)
    }
    let theirs = Self.missing(from: sounds, of: other.sounds)
    let mine = Self.missing(from: other.sounds, of: sounds)
    if theirs.isEmpty, mine.isEmpty {
      let isSame =
        sounds.count == other.sounds.count
        && zip(sounds, other.sounds).allSatisfy { $0.isSameRecording(as: $1) }
      return isSame ? nil : SpoolError(path, holds: other.sounds, not: sounds, namesake: namesake)
    }
    // Where one was put beside the others, or left out, these are named too.
    let isSame = theirs.isEmpty || mine.isEmpty
    return SpoolError(
      path, holds: isSame ? other.sounds : theirs, not: isSame ? sounds : mine, namesake: namesake)
  }

  private static func missing(
    from recordings: [RecordingIdentity], of others: [RecordingIdentity]
  ) -> [RecordingIdentity] {
    others.filter { other in !recordings.contains { $0.isSameRecording(as: other) } }
  }
}

extension ReceiptRequest {
  /// A run's own folder below the output folder: complete once its last file, the seal, is there.
  package struct Enclosure: Hashable, Sendable {
    package let folder: String
    /// The folder in it for the run's files.
    package let content: String
    /// The file without which it is incomplete.
    package let seal: String
    /// Metadata by label, written when it is sealed.
    package let labels: [String: String]

    package init(folder: String, content: String, seal: String, labels: [String: String] = [:]) {
      self.folder = folder
      self.content = content
      self.seal = seal
      self.labels = labels
    }

    /// The folder of the run's files, below the output folder.
    package var place: String { "\(folder)/\(content)" }
  }
}

extension Plan {
  /// The own folder that a stage asks for; nil if none does.
  /// - Parameter names: the recordings' names for a step's exports, nearest first.
  package func enclosure(_ names: (BoundStep) -> [String]) -> ReceiptRequest.Enclosure? {
    for step in steps {
      if let enclosure = step.stage.receipt?.enclosure(names(step)) { return enclosure }
    }
    return nil
  }
}

/// An authority for time stamps of receipts.
package struct TimeStampAuthority: Hashable, Sendable {
  /// Its address: `http://tsa.example.org/tsr`.
  package let url: String
  /// The absolute path of its trusted certificates, as PEM.
  package let certificates: String

  package init(url: String, certificates: String) {
    self.url = url
    self.certificates = certificates
  }
}
