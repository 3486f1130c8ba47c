import PipelineModel
import Store

/// All that a store knows of a note besides the note itself.
struct NotePage {
  let events: [NoteEvent]
  let files: [NoteFile]
  /// What devices besides its own call it.
  let aliases: [String]
  /// The last run that read its recording; nil where none did.
  let run: RunRecord?

  init(of note: Note, in store: DiskStore) throws(StoreError) {
    events = try store.events(of: note.key)
    files = try store.files(of: note.key)
    aliases = Array(try store.acknowledgementNames(of: note).dropFirst())
    run = try store.lastRun(of: note.recording.digest, pipeline: note.pipeline)
  }
}
