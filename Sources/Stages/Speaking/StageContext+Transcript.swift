import PipelineModel
import Transcripts

extension PortName {
  /// Words with or without their times.
  static let transcript = PortName("transcript")
}

extension StageContext {
  /// Keeps words, and what is to be said about them, as the outputs of a stage that found them.
  /// - Parameter figures: JSON.
  func outputs(
    of transcript: Transcript, figures: String
  ) throws(StageError) -> [PortName: StepOutput] {
    let text: String
    do throws(TranscriptError) {
      text = try TranscriptFormat.json.write(transcript.rounded)
    } catch {
      throw StageError(error)
    }
    do throws(StoreError) {
      return [
        .transcript: StepOutput(try store.keep(text, as: .transcript)),
        .measurement: StepOutput(try store.keep(figures, as: .measurement)),
      ]
    } catch { throw StageError(error) }
  }
}
