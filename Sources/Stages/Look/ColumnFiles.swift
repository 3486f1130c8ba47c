import PipelineModel

/// The columns of a spectrogram in files of the work's own: each time that neighbours are joined, a
/// file is begun anew, so that one that was noted keeps what was noted of it.
final class ColumnFiles {
  private let work: ListenerWork
  private let columnLength: Int
  private var drafts: [Int: Draft] = [:]

  /// A file under way.
  private struct Draft {
    let file: OpenDraft
    var floatCount: Int
  }

  init(_ work: ListenerWork, columnLength: Int) {
    self.work = work
    self.columnLength = columnLength
  }

  /// What makes durable everything that may have been noted. Files of earlier joinings have nothing
  /// left to be written, and cost nothing.
  var flushers: [@Sendable () throws(StoreError) -> Void] {
    drafts.sorted { $0.key < $1.key }.map(\.value.file.flusher)
  }

  /// What was written since the joining of this number, for a note that vouches for it.
  func prefix(_ generation: Int) -> DraftPrefix {
    drafts[generation]?.file.prefix() ?? DraftPrefix(byteCount: 0)
  }

  /// The columns that an earlier process wrote between two joinings; nil where they are not there,
  /// or not as they were noted.
  func resume(generation: Int, _ noted: DraftPrefix) throws(StageError) -> [Float]? {
    let floatCount = noted.byteCount / 4
    guard (0..<48).contains(generation), floatCount.isMultiple(of: columnLength) else { return nil }
    do throws(StoreError) {
      guard let draft = try work.claim.resumeDraft(name(generation), .file, noted) else {
        return nil
      }
      let file = OpenDraft(draft)
      drafts = [generation: Draft(file: file, floatCount: floatCount)]
    } catch {
      throw StageError(error)
    }
    var floats = [Float](repeating: 0, count: floatCount)
    if floatCount > 0, let file = drafts[generation]?.file {
      try FileReader(file.path).read(into: &floats, count: floatCount)
    }
    return floats
  }

  /// What was resumed is of no use: everything begins anew.
  func forget() { drafts = [:] }

  /// Writes what is new of all columns since the last joining.
  func write(_ columns: [Float], generation: Int) throws(StageError) {
    do throws(StoreError) {
      if drafts[generation] == nil {
        drafts[generation] = Draft(
          file: OpenDraft(try work.claim.makeDraft(name(generation), .file)), floatCount: 0)
      }
      guard let draft = drafts[generation], draft.floatCount < columns.count else { return }
      let news = columns.span.extracting(draft.floatCount..<columns.count)
      try unsafe draft.file.append(news.bytes)
      drafts[generation]?.floatCount = columns.count
    } catch {
      throw StageError(error)
    }
  }

  private func name(_ generation: Int) -> String { "\(work.name).columns-\(generation)" }
}

/// A draft that is shared by reference.
private final class OpenDraft {
  let path: String
  let flusher: @Sendable () throws(StoreError) -> Void
  let prefix: @Sendable () -> DraftPrefix
  private let draft: ArtifactDraft

  init(_ draft: consuming ArtifactDraft) {
    path = draft.path
    (flusher, prefix) = (draft.flusher, draft.prefix)
    self.draft = draft
  }

  func append(_ bytes: RawSpan) throws(StoreError) { try draft.append(bytes) }
}
