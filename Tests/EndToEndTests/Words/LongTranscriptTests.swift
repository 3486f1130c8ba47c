import Audio
import Foundation
import TestSupport
import Testing

@Suite("Words of many hours") struct LongTranscriptTests {
  @Test("they go from step to step though they are longer than what the store reads as text")
  func passed() throws {
    let place = try Workspace()
    let count = 15_000
    let words = (0..<count).map { index in
      let start = Double(index) / Double(count)
      return "{\"text\":\"word\",\"startTime\":\(start),\"endTime\":\(start),\"confidence\":1}"
    }
    let text = try place.folder.write(
      "{\"text\":\"\",\"words\":[\(words.joined(separator: ","))]}", to: "talk.json")
    let sound = place.file("talk.wav")
    try TestSound(
      sampleRate: Hertz(16_000), channels: [Array(repeating: 0.1, count: 32_000)]
    ).writeWAV(to: sound)
    let pipeline = try place.pipeline(
      """
      pipeline: long
      inputs: { note: sound, text: transcript }
      stages:
        - decode: { from: $note }
        - trim: { start: 0.1 s }
        - retime: { transcript: $text, removed: kept }
        - transcript: { formats: [tsv] }
      """)
    let run = try place.run(pipeline, [sound, text])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
  }
}
