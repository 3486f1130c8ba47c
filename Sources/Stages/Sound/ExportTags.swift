import Hashing
import Media
import PipelineModel

/// The tags and the cover art that exports carry over from their recording.
struct ExportTags {
  private var tags: [String: String] = [:]
  private var cover: CoverArt?

  /// No tags.
  init() {}

  /// What a recording says about itself.
  init(ofRecording path: String?) throws(StageError) {
    guard let path else { return }
    do throws(MediaError) {
      let description = try MediaProbe.describe(path)
      // What the recorder's software called itself or its streams says nothing about the export.
      tags = description.tags.filter { !ExportTags.technical.contains($0.key.lowercased()) }
      cover = description.hasCoverArt ? try MediaProbe.coverArt(of: path) : nil
    } catch {
      throw StageError(error)
    }
  }

  private static let technical: Set<String> = [
    "major_brand", "minor_version", "compatible_brands", "handler_name", "vendor_id", "encoder",
    "language",
  ]

  var isEmpty: Bool { tags.isEmpty && cover == nil }

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

  /// Writes an artifact with these tags, without encoding anything again.
  func copy(
    from source: String, to destination: String, spec: ExportSpec
  ) throws(StageError) {
    do throws(MediaError) {
      try Remuxer.copy(from: source, to: destination, spec: spec, tags: tags, cover: cover)
    } catch {
      throw StageError(error)
    }
  }
}

extension PublishingContext {
  /// Puts an artifact into the user's folder, with tags where there are any.
  func publish(
    _ artifact: Artifact, as name: String, tags: ExportTags = ExportTags(), spec: ExportSpec? = nil
  ) throws(StageError) -> PublishedFile {
    let path = folder + "/" + name
    return try custody.deliver(
      tags.content(of: artifact), digest: spec == nil || tags.isEmpty ? artifact.digest : nil,
      to: path, of: recording, step: step, isReplacing: isReplacing
    ) { (temporary) throws(StageError) in
      do throws(StoreError) {
        let source = try store.path(of: artifact)
        guard let spec, !tags.isEmpty else {
          return try custody.copyFile(from: source, to: temporary)
        }
        do throws(StageError) {
          try tags.copy(from: source, to: temporary, spec: spec)
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
