import Hashing
import Inbox
import PipelineEngine
import PipelineModel
import Store

/// `spool inbox export`: gives originals back.
struct NoteExport {
  let store: DiskStore
  /// The folder for them, as typed.
  let folder: String
  let isJSON: Bool
  let console: Console

  /// One original as `--json` shows it.
  private struct Line: Encodable {
    let note: String
    let path: String
    let bytes: Int
    let digest: String
    /// Whether it was written now; else it lay there already.
    let written: Bool
  }

  /// Writes a note's original, and says where it lies.
  func write(_ note: Note) throws(Workbench.Refusal) {
    let folder = try OutputFolder.prepare(
      Workbench(console: console).absolute(folder), console: console)
    do throws(CustodyError) {
      let outcome = try OriginalExport(store: store).write(note, to: folder)
      if isJSON {
        console.print(
          JSONText.of(
            Line(
              note: note.key.name, path: outcome.path, bytes: note.recording.byteCount,
              digest: note.recording.digest.hex, written: outcome.isNew)))
      } else {
        console.print(
          Format.visible(
            "\(outcome.path): \(outcome.isNew ? "written" : "there already"), "
              + "\(ByteCount(note.recording.byteCount)), as it arrived"))
      }
    } catch {
      throw Workbench.Refusal(
        text: ErrorText(
          StageError(
            "cannot give back the original of \(note.fileName) (\(note.key))",
            reason: "cannot \(error.action) \(error.path): \(error.reason)",
            advice: error.advice ?? "spool inbox show \(note.key) says where its files are")
        ).render(console), code: .failed)
    }
  }
}
