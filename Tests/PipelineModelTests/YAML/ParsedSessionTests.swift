@testable import PipelineModel
import Testing

@Suite("A session file")
struct ParsedSessionTests {
  @Test("says how the mixer stands, as YAML or as JSON")
  func reading() throws {
    let yaml = ParsedSession(
      """
      masterVolume: 0.8
      sampleRate: 44.1 kHz
      channels:
        - file: takes/base.wav
          volume: 1.2
          pan: -0.5
        - file: /far/voice.m4a
          name: Anna
          isMuted: true
          isSoloed: true
          isVoice: true
          gain: -3 dB
          offset: 1.5 s
        - name: strings
      """)
    let json = ParsedSession(
      """
      {"id": "b7", "masterVolume": 0.8, "sampleRate": 44100, "tempoMap": [1, 2],
       "channels": [
        {"file": "takes/base.wav", "volume": 1.2, "pan": -0.5, "offset": null},
        {"file": "/far/voice.m4a", "name": "Anna", "isMuted": true, "isSoloed": true,
         "isVoice": true, "gain": -3, "offset": 1.5, "colour": "red"},
        {"name": "strings"}]}
      """)
    for parsed in [yaml, json] {
      #expect(parsed.problems.map(\.report) == [])
      let session = parsed.definition
      #expect(session.masterVolume == 0.8 && session.sampleRate == 44_100)
      #expect(session.channels.map(\.volume) == [1.2, 1, 1])
      #expect(session.channels.map(\.pan) == [-0.5, 0, 0])
      #expect(session.channels.map(\.name) == [nil, "Anna", "strings"])
      #expect(session.channels.map(\.isMuted) == [false, true, false])
      #expect(session.channels.map(\.isSoloed) == [false, true, false])
      #expect(session.channels.map(\.isVoice) == [false, true, false])
      #expect(session.channels.map(\.gain) == [0, -3, 0])
      #expect(session.channels.map(\.offset) == [.frames(0), .seconds(1.5), .frames(0)])
      #expect(
        session.files(from: "/far/away").map(\.value)
          == ["/far/away/takes/base.wav", "/far/voice.m4a"])
    }
    #expect(yaml.definition.channels[1].file?.location == Place(line: 7, column: 11))
  }

  @Test("may leave it to others what its channels play: an app writes how they stand alone")
  func bareChannels() {
    let parsed = ParsedSession(
      """
      {"channels": [
        {"volume": 0.5, "pan": 0, "isMuted": false, "isSoloed": false},
        {"volume": 1.5, "pan": -1, "isMuted": true, "isSoloed": false}],
       "masterVolume": 0.9}
      """)
    #expect(parsed.problems.map(\.report) == [])
    #expect(parsed.definition.channels.map(\.volume) == [0.5, 1.5])
    #expect(parsed.definition.channels.map(\.isMuted) == [false, true])
    #expect(parsed.definition.channels.map(\.location?.line) == [2, 3])
    #expect(parsed.definition.files(from: "/far") == [])
  }

  @Test(
    "with a mistake is reported at its place",
    arguments: [
      ("", "1:1 the file is empty"),
      ("[1]", "1:1 the file is a mapping, not a list"),
      ("masterVolume: 1", "1:1 the session has no channels"),
      ("channels: []", "1:11 channels is an empty list"),
      ("channels: [{ file: a, volume: 1.6 }]", "1:31 volume is \"1.6\""),
      ("channels: [{ file: a, volume: loud }]", "1:31 volume is \"loud\""),
      ("channels: [{ file: a, pan: -1.01 }]", "1:28 pan is \"-1.01\""),
      ("channels: [{ file: a, isMuted: yes }]", "1:32 isMuted is \"yes\""),
      ("channels: [{ file: a, muted: true }]", "1:23 \"muted\" is not a part of a channel"),
      ("channels: [{ file: a, volumne: 1 }]", "1:23 \"volumne\" is not a part of a channel"),
      ("chanels: [{ file: a }]", "1:1 \"chanels\" is not a part of a session"),
      ("channels: [{ file: a, offset: soon }]", "1:31 offset is \"soon\""),
      (
        "channels: [{ file: a, name: x }, { file: b, name: x }]",
        "1:51 two channels are called \"x\""
      ),
      ("{\"channels\": [", "1:15"),
    ])
  func mistakes(text: String, finding: String) {
    let problems = ParsedSession(text).problems
    #expect(
      problems.contains { $0.finding.hasPrefix(finding) }, "\(problems.map(\.report))")
  }

  @Test(
    "says when a track begins in any of these ways",
    arguments: [
      ("1.5 s", TrackOffset.seconds(1.5)), ("-23 ms", .seconds(-0.023)), ("2", .seconds(2)),
      ("2 min", .seconds(120)), ("22050 samples", .frames(22_050)), ("1 sample", .frames(1)),
      ("-512 samples", .frames(-512)), ("timestamp", .timestamp),
    ])
  func offset(text: String, offset: TrackOffset) {
    #expect(TrackOffset(text) == offset)
  }

  @Test(
    "and in no other", arguments: ["", "1 Hz", "1.5 samples", "25 h", "samples", "x timestamp"])
  func noOffset(text: String) {
    #expect(TrackOffset(text) == nil)
  }
}
