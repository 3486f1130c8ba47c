import Audio
package import Media
import PipelineEngine
package import PipelineModel
package import Platform
import Synchronization

/// What exports carry over from their recording, or are given by the pipeline: tags, chapters and cover
/// art, and what a WAV file tells besides.
package struct ExportTags {
  /// What the recording says.
  private var tags: [String: String] = [:]
  /// The values of the tags that several comments of the recording hold, and which `tags` joins.
  private var severalValues: [String: [String]] = [:]
  /// What the pipeline says in its place.
  private var stated: [String: String] = [:]
  private var cover: CoverArt?
  private var isCoverStated = false
  /// The chapters that files of other formats than WAV have. A recording's own are in `source`: the
  /// sound may have been moved in time.
  package var chapters: [MediaProbe.Marker] = []
  /// Why the recording's picture is not carried over; nil if it is, or if there is none.
  package private(set) var coverObstacle: String?
  /// What the recording is; nil where it was not looked at.
  package private(set) var source: MediaDescription?
  /// What only some of several recordings say, or each in another way: first what a pipeline can
  /// state, by its names.
  private var unshared: [String] = []
  /// What it tells as a WAV file.
  package private(set) var notes = BroadcastMetadata()

  package init() {}

  /// What a recording says about itself.
  package init(of recording: SourceFile) throws(SpoolError) {
    let description = try MediaProbe.describe(recording)
    notes = try BroadcastMetadata(of: recording.path)
    // What the recorder's software called itself or its streams says nothing about the export.
    tags = ExportTags.corrected(
      notes.completing(description).filter {
        !ExportTags.technical.contains($0.key.lowercased())
      }, notes, ofRecording: recording.name)
    severalValues = description.severalValues
    if ["wav", "w64"].contains(description.container) || !notes.information.isEmpty {
      for name in ExportSpec.informationTags {
        tags[name] = tags.removeValue(forKey: name.lowercased())
      }
    }
    if description.hasCoverArt {
      let picture = try MediaProbe.coverArt(of: recording)
      coverObstacle =
        picture == nil ? "it is neither JPEG nor PNG, which players show" : picture?.obstacle
      cover = coverObstacle == nil ? picture : nil
    }
    source = description
  }

  /// What several recordings that became one sound say alike. Another text or picture of one of them
  /// is not true of the whole, such as the title of an intro.
  package init(sharedBy recordings: [ExportTags]) {
    guard let first = recordings.first else { return }
    self = first
    let others = recordings.dropFirst()
    guard !others.isEmpty else { return }
    tags = tags.filter { tag in others.allSatisfy { $0.tags[tag.key] == tag.value } }
    severalValues = severalValues.filter { tag in
      others.allSatisfy { $0.severalValues[tag.key] == tag.value }
    }
    if others.contains(where: { $0.cover != cover }) { cover = nil }
    if recordings.contains(where: { $0.coverObstacle != nil }) { coverObstacle = nil }
    if others.contains(where: { $0.origination?.date != origination?.date }) {
      notes = BroadcastMetadata()
    }
    let names = Set(recordings.flatMap(\.tags.keys)).subtracting(tags.keys)
    unshared = StatedTags.names(of: names)
    unshared += names.subtracting(unshared.map(StatedTags.tag)).subtracting(["creation_time"])
      .map { $0.lowercased() }.sorted()
    if cover == nil, recordings.contains(where: { $0.cover != nil }) { unshared.append("cover") }
  }

  private static let technical: Set<String> = [
    "major_brand", "minor_version", "compatible_brands", "handler_name", "vendor_id", "encoder",
    // What a FLAC file's channels are.
    "waveformatextensible_channel_mask",
    // The priming and padding of the recording's encoder.
    "itunsmpb",
    // What Matroska counts of a stream.
    "duration", "bps", "number_of_frames", "number_of_bytes", "_statistics_tags",
    "_statistics_writing_app", "_statistics_writing_date_utc", "duration-eng", "bps-eng",
    "number_of_frames-eng", "number_of_bytes-eng", "_statistics_tags-eng",
    "_statistics_writing_app-eng", "_statistics_writing_date_utc-eng",
  ]

  /// How the names of tags begin that tell players how loud the sound is: ReplayGain, the gains of
  /// Opus (RFC 7845), Sound Check of iTunes, and mp3gain.
  private static let loudnessPrefixes = ["replaygain_", "r128_", "itunnorm", "mp3gain_"]

  /// What is left of the tags when the sound was changed: how loud the recording was does not hold
  /// for it.
  package var ofChangedSound: ExportTags {
    var copy = self
    copy.tags = tags.filter { tag in
      !Self.loudnessPrefixes.contains { tag.key.lowercased().hasPrefix($0) }
    }
    return copy
  }

  /// What files say.
  private var written: [String: String] {
    tags.merging(stated) { _, stated in stated }.filter { !$0.value.isEmpty }
  }

  /// The tags whose text joins several values of the recording.
  private var joined: Set<String> {
    Set(severalValues.keys.filter { tags[$0] != nil && stated[$0] == nil })
  }

  /// Whether the pipeline states a tag.
  func isStated(_ tag: String) -> Bool { stated[tag] != nil }

  package var isEmpty: Bool { written.isEmpty && cover == nil && chapters.isEmpty }

  /// With what the pipeline states in the place of what the recording says.
  package func stating(_ stated: StatedTags) throws(SpoolError) -> ExportTags {
    var copy = self
    copy.stated = stated.texts
    if let picture = try stated.picture() {
      (copy.cover, copy.coverObstacle, copy.isCoverStated) = (picture, nil, true)
    }
    return copy
  }

  /// With this title if the recording has none.
  package func titled(_ title: String?) -> ExportTags {
    var copy = self
    if tags["title"] == nil, let title { copy.tags["title"] = title }
    return copy
  }

  /// What the recording says, by name, to compare it with another of the same sound: tags, and of what
  /// is longer its length or number, and a digest.
  package var fields: [String: String] {
    var fields: [String: String] = [:]
    for (name, value) in tags where !value.isEmpty { fields[name.lowercased()] = value }
    if let cover {
      fields["picture"] = "\(cover.bytes.count) bytes (\(SHA256.digest(of: cover.bytes).short))"
    }
    let markers = source?.markers ?? []
    if notes.cues == nil, !markers.isEmpty {
      let text = markers.map { "\($0.time.value) \($0.title ?? "")" }.joined(separator: "\n")
      fields["chapters"] = "\(markers.count) (\(SHA256.digest(of: text).short))"
    }
    func add(_ name: String, _ change: (inout BroadcastMetadata) -> Void) {
      var part = BroadcastMetadata()
      change(&part)
      if part != BroadcastMetadata() { fields[name] = "one of digest \(part.digest.short)" }
    }
    add("bext") { $0.bext = notes.bext }
    add("iXML") { $0.iXML = notes.iXML }
    add("cue points") { $0.cues = notes.cues }
    for name in notes.otherChunks { fields[name] = "a chunk" }
    return fields
  }

  /// What is left out because the recordings of the sound differ in it, first what a pipeline can state;
  /// what it does state is none of it.
  package var differences: [String] {
    unshared.filter { name in
      let tag = StatedTags.tag(name)
      return name == "cover" ? cover == nil : tags[tag] == nil && stated[tag] == nil
    }
  }

  /// What a file of this kind cannot hold of the recording, in one line for users; nil if it holds
  /// all.
  /// - Parameters:
  ///   - source: what the recording is; nil if unknown.
  ///   - chapterCount: of the chapters that are lost in a WAV file.
  ///   - keepsAllBits: whether no sample had more bits than the file keeps.
  package func loss(
    in target: ExportTarget, of source: MediaDescription?, chapterCount: Int = 0,
    keepsAllBits: Bool = false
  ) -> String? {
    var parts: [String] = []
    if let bits = source?.integerBits, target.depth == .bits24, bits > 24, !keepsAllBits {
      parts.append("24 bit, the recording has \(bits) (\(Self.bitsAdvice) keeps more)")
    }
    let pictureCount = source?.pictureCount ?? 0
    if pictureCount > 1, cover != nil, !isCoverStated, target.format != .wav {
      parts.append("the first of \(pictureCount) pictures")
    }
    if target.format == .wav {
      if cover != nil, !isCoverStated { parts.append("no picture") }
      if chapterCount > 0 { parts.append("no chapters") }
    }
    let isInChunk = target.format == .wav && tags["description"] == notes.bext?.description
    let dropped = target.spec.droppedTags(
      of: placed(tags, in: target.spec).filter {
        stated[$0.key] == nil && !(isInChunk && $0.key == "description")
      })
    if !dropped.isEmpty {
      parts.append("without the \(dropped.count > 1 ? "tags" : "tag") " + Self.listed(dropped))
    }
    let joined = target.format.holdsSeveralValues ? [] : self.joined.subtracting(dropped).sorted()
    if !joined.isEmpty {
      parts.append("the values of \(Self.listed(joined)) joined by \";\"")
    }
    guard !parts.isEmpty else { return nil }
    return "the \(target.format) file is written with less than the recording has: "
      + parts.joined(separator: "; ")
  }

  /// How an export keeps more than 24 bits.
  package static let bitsAdvice = "wav: { bits: float }"

  /// The first of some tags, and the number of the others, for a warning.
  package static func listed(_ names: [String]) -> String {
    let rest = names.count - namedTags
    return names.prefix(namedTags).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
  }

  private static let namedTags = 8

  /// What files are called by their tags.
  package var title: String? { written["title"] }

  /// The day and the time of the recording, as far as it tells them; nil where it does not. Those of
  /// its `bext` chunk are as they stand there: archives write `1987-00-00` where the day is unknown.
  package var origination: (date: String, time: String)? {
    let stated = notes.bext.map { ($0.originationDate, $0.originationTime) }
    if let stated, stated.0.contains(where: { $0.isLetter || ("1"..."9").contains($0) }) {
      return stated
    }
    for time in [tags["creation_time"], tags["date"]].compactMap({ $0 }) {
      guard let date = CalendarText.date(time) else { continue }
      return (date, CalendarText.time(time.dropFirst(date.count + 1)) ?? "")
    }
    return stated?.0.isEmpty == false ? stated : nil
  }

  /// The identity of a WAV file made of an artifact, these tags and this `bext` chunk.
  package func content(of artifact: Artifact, _ notes: BroadcastMetadata) -> Digest {
    SHA256.digest(
      of: "spool-noted-1\n\(content(of: artifact).hex)\n\(notes.digest.hex)\n")
  }

  /// The identity of a file made of an artifact and these tags.
  package func content(of artifact: Artifact) -> Digest {
    guard !isEmpty else { return artifact.digest }
    var hasher = SHA256()
    hasher.update("spool-tagged-1\n\(artifact.digest.hex)\n")
    for (name, value) in written.sorted(by: { $0.key < $1.key }) {
      hasher.update("\(name.utf8.count):\(name)=\(value.utf8.count):\(value)\n")
    }
    for name in joined.sorted() {
      let values = severalValues[name] ?? []
      hasher.update("several \(name)" + values.map { " \($0.utf8.count):\($0)" }.joined() + "\n")
    }
    if let cover { hasher.update(cover.bytes) }
    if !chapters.isEmpty {
      hasher.update("chapters \(chapters.count)\n")
      for chapter in chapters {
        let title = chapter.title ?? ""
        hasher.update("\(chapter.time.value) \(title.utf8.count):\(title)\n")
      }
    }
    return hasher.finalize()
  }

  /// Writes an artifact with these tags, and a WAV file with this `bext` chunk, without encoding
  /// anything again.
  /// - Returns: the digest of what was written, by which copies of the file are known.
  package func copy(
    from source: String, to destination: String, spec: ExportSpec, notes: BroadcastMetadata?
  ) throws(SpoolError) -> Digest? {
    if let notes {
      return try BroadcastWave.copy(
        from: source, to: destination, notes: notes, tags: placed(written, in: spec),
        isDigestWanted: true)
    }
    return try spec.copy(
      from: source, to: destination, tags: placed(written, in: spec),
      severalValues: severalValues, cover: cover, chapters: chapters, isDigestWanted: true)
  }
}

extension PublishingContext {
  /// Puts an artifact into the user's folder, with tags where there are any, and a WAV file with
  /// its `bext` chunk.
  package func publish(
    _ artifact: Artifact, as name: String, tags: ExportTags = ExportTags(),
    spec: ExportSpec? = nil, notes: BroadcastMetadata? = nil
  ) throws(SpoolError) -> PublishedFile {
    let path = folder + "/" + name
    let isCopied = spec == nil || tags.isEmpty && notes == nil
    if let reason = tags.coverObstacle, spec != nil {
      warn("the picture of \(recordings.first?.name ?? "the recording") is left out: \(reason)")
    }
    return try exportFolder.deliver(
      notes.map { tags.content(of: artifact, $0) } ?? tags.content(of: artifact),
      digest: isCopied ? artifact.digest : nil,
      to: path, of: recording, step: step, isReplacing: isReplacing
    ) { (temporary) throws(SpoolError) in
      let source = try store.path(of: artifact)
      guard let spec, !isCopied else {
        try exportFolder.copyFile(from: source, to: temporary)
        return artifact.digest
      }
      do throws(SpoolError) {
        return try tags.copy(from: source, to: temporary, spec: spec, notes: notes)
      } catch {
        if error.isFullDisk { throw error }
        throw SpoolError("tag", path, reason: error.reason ?? error.message, cause: error.cause)
      }
    }
  }
}

/// The tags of the recordings whose files are published, read once and before the encoders begin:
/// files are published while others are still encoded, and reading the tags of a long recording
/// takes libavformat's whole table of its packets, which is more than encoders need.
package final class RecordingTags: Sendable {
  private let known = Mutex<[SourceFile: (stamp: FileStamp, tags: ExportTags)]>([:])

  /// What a recording says about itself.
  package func of(_ file: SourceFile) throws(SpoolError) -> ExportTags {
    guard let stamp = try? FileStamp(following: file.path) else { return try ExportTags(of: file) }
    let same = known.withLock { known in
      known[file].flatMap { $0.stamp == stamp ? $0.tags : nil }
    }
    if let same { return same }
    let tags = try ExportTags(of: file)
    known.withLock { $0[file] = (stamp, tags) }
    return tags
  }

  package init() {}
}
