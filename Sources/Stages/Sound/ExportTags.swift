import Hashing
import Media
import PipelineModel

/// What exports carry over from their recording: tags and cover art, and what a WAV file tells
/// besides.
struct ExportTags {
  private var tags: [String: String] = [:]
  private var cover: CoverArt?
  /// What the recording is; nil where it was not looked at.
  private(set) var source: MediaDescription?
  /// What it tells as a WAV file.
  private(set) var notes = BroadcastNotes()

  /// No tags.
  init() {}

  /// What a recording says about itself.
  init(ofRecording path: String?) throws(StageError) {
    guard let path else { return }
    do throws(MediaError) {
      let description = try MediaProbe.describe(path)
      notes = try BroadcastNotes(of: path)
      // What the recorder's software called itself or its streams says nothing about the export.
      tags = ExportTags.corrected(
        description.tags.filter { !ExportTags.technical.contains($0.key.lowercased()) }, notes,
        ofRecording: path)
      cover = description.hasCoverArt ? try MediaProbe.coverArt(of: path) : nil
      source = description
    } catch {
      throw StageError(error)
    }
  }

  private static let technical: Set<String> = [
    "major_brand", "minor_version", "compatible_brands", "handler_name", "vendor_id", "encoder",
    "language",
  ]

  var isEmpty: Bool { tags.isEmpty && cover == nil }

  /// What the recording is called.
  var title: String? { tags["title"] }

  /// The day and the time of the recording, as far as it tells them; nil where it does not.
  var origination: (date: String, time: String)? {
    if let bext = notes.bext, let date = CalendarText.date(bext.originationDate) {
      return (date, CalendarText.time(bext.originationTime) ?? "")
    }
    for moment in [tags["creation_time"], tags["date"]].compactMap({ $0 }) {
      guard let date = CalendarText.date(moment) else { continue }
      return (date, CalendarText.time(moment.dropFirst(date.count + 1)) ?? "")
    }
    return nil
  }

  /// The identity of a WAV file made of an artifact, these tags and these notes.
  func content(of artifact: Artifact, _ notes: BroadcastNotes) -> Digest {
    SHA256.digest(
      of: "spool-noted-1\n\(content(of: artifact).hex)\n\(notes.digest.hex)\n")
  }

  /// The identity of a file made of an artifact and these tags.
  func content(of artifact: Artifact) -> Digest {
    guard !isEmpty else { return artifact.digest }
    var hasher = SHA256()
    hasher.update("spool-tagged-1\n\(artifact.digest.hex)\n")
    for (name, value) in tags.sorted(by: { $0.key < $1.key }) {
      hasher.update("\(name.utf8.count):\(name)=\(value.utf8.count):\(value)\n")
    }
    if let cover { hasher.update(cover.bytes) }
    return hasher.finalize()
  }

  /// Writes an artifact with these tags, and a WAV file with these notes, without encoding anything
  /// again.
  /// - Returns: the digest of what was written, if `isDigestWanted`.
  func copy(
    from source: String, to destination: String, spec: ExportSpec, notes: BroadcastNotes?,
    isDigestWanted: Bool
  ) throws(StageError) -> Digest? {
    do throws(MediaError) {
      if let notes {
        return try BroadcastWave.copy(
          from: source, to: destination, notes: notes, tags: tags, isDigestWanted: isDigestWanted)
      }
      return try Remuxer.copy(
        from: source, to: destination, spec: spec, tags: tags, cover: cover,
        isDigestWanted: isDigestWanted)
    } catch {
      throw StageError(error)
    }
  }
}

extension PublishingContext {
  /// Puts an artifact into the user's folder, with tags where there are any, and a WAV file with its
  /// notes.
  func publish(
    _ artifact: Artifact, as name: String, tags: ExportTags = ExportTags(),
    spec: ExportSpec? = nil, notes: BroadcastNotes? = nil
  ) throws(StageError) -> PublishedFile {
    let path = folder + "/" + name
    let isCopied = spec == nil || tags.isEmpty && notes == nil
    return try custody.deliver(
      notes.map { tags.content(of: artifact, $0) } ?? tags.content(of: artifact),
      digest: isCopied ? artifact.digest : nil,
      to: path, of: recording, step: step, isReplacing: isReplacing
    ) { (temporary) throws(StageError) in
      do throws(StoreError) {
        let source = try store.path(of: artifact)
        guard let spec, !isCopied else {
          try custody.copyFile(from: source, to: temporary)
          return artifact.digest
        }
        do throws(StageError) {
          return try tags.copy(
            from: source, to: temporary, spec: spec, notes: notes, isDigestWanted: isDigestWanted)
        } catch {
          throw StoreError(
            "tag", path: path, reason: error.reason ?? error.message,
            isFullDisk: error.cause == .fullDisk)
        }
      } catch {
        throw StageError(error)
      }
    }
  }
}
