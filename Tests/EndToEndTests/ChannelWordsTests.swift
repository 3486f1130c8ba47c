import Foundation
import TestSupport
import Testing

@Suite("Speakers on two sides, and times that are given") struct ChannelWordsTests {
  private static let said = """
    The quick brown fox jumps over the lazy dog near the river bank. Printing is the only sense with \
    which we are at present concerned. Please call me back on Monday morning, because the meeting was \
    moved.
    """

  private struct Timed: Decodable {
    struct Word: Decodable {
      let text: String
      let startTime: Double
      let endTime: Double
      let flags: [String]?
    }
    struct Segment: Decodable {
      let startTime: Double
      let speaker: String?
    }
    let words: [Word]
    let segments: [Segment]?
  }

  @Test("channels: separate names who speaks on which side")
  func sides() throws {
    let place = try Workspace()
    let first = try say(
      "I would like to order two cups of coffee and a piece of apple pie", place, "a")
    let second = try say(
      "Scientists have discovered that the water of the ocean is rising", place, "b")
    let both = place.file("both.wav")
    // The second one begins when the first one has ended.
    try Reference.ffmpeg([
      "-i", first, "-i", second, "-filter_complex",
      "[0]apad=pad_dur=6[l];[1]adelay=6000[r];[l][r]join=inputs=2:channel_layout=stereo", both,
    ])
    let pipeline = try place.pipeline(
      """
      pipeline: sides
      inputs: { note: sound }
      stages:
        - decode
        - recognize: { channels: separate }
        - transcript: [json]
      """)
    let run = try place.run(pipeline, [both])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let found = try timed(place.out + "/both.json")
    let segments = found.segments ?? []
    #expect(Set(segments.map(\.speaker)) == ["left", "right"])
    for segment in segments {
      #expect(segment.speaker == (segment.startTime < 5.9 ? "left" : "right"), "\(segment)")
    }
    #expect(zip(found.words, found.words.dropFirst()).allSatisfy { $0.startTime <= $1.startTime })
  }

  @Test("given times give way to those that are heard, and stay where nothing is heard")
  func given() throws {
    let place = try Workspace()
    let sound = try say(Self.said, place, "call")
    let silent = place.file("long.wav")
    try Reference.ffmpeg(["-i", sound, "-af", "apad=pad_dur=6", silent])
    // The last word is not spoken; its time is kept. The others are half a second late.
    let words = Self.said.split(separator: " ").enumerated().map {
      "{\"text\": \"\($1)\", \"startTime\": \(Double($0) * 0.3 + 0.5), "
        + "\"endTime\": \(Double($0) * 0.3 + 0.7)}"
    }
    let text = try place.folder.write(
      "{\"text\": \"\(Self.said) Elizabeth\", \"words\": ["
        + words.joined(separator: ", ")
        + ", {\"text\": \"Elizabeth\", \"startTime\": 14.1, \"endTime\": 14.6}], \"isFinal\": true}",
      to: "given.json")
    let run = try place.run(PackageFiles.pipeline("words.yaml"), [silent, text])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let found = try timed(place.out + "/long.json").words
    #expect(found.count == Self.said.split(separator: " ").count + 1)
    #expect(found.first.map { $0.startTime < 0.3 } ?? false, "\(found)")
    #expect(found.last?.startTime == 14.1 && found.last?.endTime == 14.6, "\(found)")
    #expect(found.last?.flags == ["uncertain"])
  }

  private func timed(_ path: String) throws -> Timed {
    try JSONDecoder().decode(Timed.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
  }

  private func say(_ text: String, _ place: Workspace, _ name: String) throws -> String {
    let sound = place.file(name + ".wav")
    let program = try #require(Program(named: "espeak-ng"))
    #expect(try program.run(["-v", "en-us+m3", "-w", sound, text]).exitCode == 0)
    return sound
  }
}
