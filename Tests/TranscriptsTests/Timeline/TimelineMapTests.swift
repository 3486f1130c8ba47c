import Platform
import TestSupport
import Testing
import Transcripts

@Suite("Words move with the sound")
struct TimelineMapTests {
  private typealias Piece = TimelineMap.Piece

  /// The seconds from 2 to 4 are gone, and from 6 on it is twice as fast.
  private func sample() throws -> TimelineMap {
    try TimelineMap(
      before: 10, after: 6,
      pieces: [
        Piece(from: 0, to: 2, at: 0, until: 2), Piece(from: 4, to: 6, at: 2, until: 4),
        Piece(from: 6, to: 10, at: 4, until: 6),
      ])
  }

  @Test func `a new time has the old time of its sound, or of the nearest`() throws {
    let map = try sample()
    #expect(map.origin(of: 1) == 1 && map.origin(of: 3) == 5 && map.origin(of: 5) == 8)
    let padded = try TimelineMap(
      before: 2, after: 6,
      pieces: [Piece(from: 0, to: 1, at: 1, until: 2), Piece(from: 1, to: 2, at: 4, until: 5)])
    #expect(padded.origin(of: 0) == 0 && padded.origin(of: 3) == 1 && padded.origin(of: 6) == 2)
    #expect(try TimelineMap(before: 1, after: 1, pieces: []).origin(of: 0) == nil)
  }

  @Test func `a stretch begins where the first part of it that is left begins`() throws {
    let map = try sample()
    #expect(map.beginning(of: 1, to: 3) == 1)
    #expect(map.beginning(of: 2, to: 4) == nil)
    #expect(map.beginning(of: 3, to: 5) == 2)
    #expect(map.beginning(of: 8, to: 10) == 5)
    #expect(map.beginning(of: 10, to: 10) == nil && map.beginning(of: 12, to: 20) == nil)
    let turned = try TimelineMap(
      before: 4, after: 4,
      pieces: [Piece(from: 0, to: 2, at: 2, until: 4), Piece(from: 2, to: 4, at: 0, until: 2)])
    #expect(turned.beginning(of: 1, to: 3) == 0)
  }

  /// A map of random pieces: cut, stretched, and where `isSimple` neither turned around nor faded.
  private func random(_ random: inout SeededRandom, before: Double, isSimple: Bool) throws
    -> TimelineMap
  {
    var pieces: [Piece] = []
    var (old, new) = (0.0, 0.0)
    while old < before {
      let from = old + (Bool.random(using: &random) ? Double.random(in: 0...3, using: &random) : 0)
      let to = min(from + Double.random(in: 0.1...4, using: &random), before)
      guard from < to else { break }
      let speed = Bool.random(using: &random) ? 1 : Double.random(in: 0.5...2, using: &random)
      let overlap = isSimple ? 0 : min(new, Double.random(in: 0...0.05, using: &random))
      let until = new - overlap + (to - from) / speed
      pieces.append(Piece(from: from, to: to, at: new - overlap, until: until))
      (old, new) = (to, until)
    }
    return try TimelineMap(before: before, after: new, pieces: pieces.shuffled(using: &random))
  }

  @Test("a moment is where its piece went, or nowhere")
  func places() throws {
    let map = try sample()
    #expect([0, 1, 2, 3, 4, 5, 6, 8, 10, 11].map(map.place) == [0, 1, 2, nil, 2, 3, 4, 5, 6, nil])
    #expect(try TimelineMap.unchanged(5).place(of: 3) == 3)
  }

  @Test(
    "the map back undoes what was done to what is left", arguments: 1...40 as ClosedRange<UInt64>)
  func inverse(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let map = try self.random(&random, before: 30, isSimple: true)
    let back = try #require(map.inverse)
    #expect(back.inverse == map)
    #expect(back.before == map.after)
    for _ in 0..<50 {
      let old = Double.random(in: 0...30, using: &random)
      guard let new = map.place(of: old) else { continue }
      let again = try #require(back.place(of: new))
      #expect(abs(again - old) < 1e-9 || map.pieces.contains { $0.from == old || $0.to == old })
    }
  }

  @Test("where pieces are crossfaded there is no map back")
  func fades() throws {
    let map = try TimelineMap(
      before: 4, after: 3.9,
      pieces: [Piece(from: 0, to: 2, at: 0, until: 2), Piece(from: 2, to: 4, at: 1.9, until: 3.9)])
    #expect(map.inverse == nil)
    #expect(map.place(of: 2) == 1.9)
  }

  @Test("one change after the other is one change", arguments: 1...40 as ClosedRange<UInt64>)
  func composition(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let first = try self.random(&random, before: 30, isSimple: seed.isMultiple(of: 2))
    let second = try self.random(&random, before: first.after, isSimple: true)
    let third = try self.random(&random, before: second.after, isSimple: true)
    let both = first.followed(by: second)
    #expect(both.before == first.before && both.after == second.after)
    for _ in 0..<80 {
      let old = Double.random(in: 0...30, using: &random)
      let twice = first.place(of: old).flatMap(second.place)
      let once = both.place(of: old)
      switch (once, twice) {
      case (nil, nil): break
      case (let once?, let twice?): #expect(abs(once - twice) < 1e-9)
      default:
        Issue.record("\(old) is at \(String(describing: once)) and \(String(describing: twice))")
      }
    }
    let left = first.followed(by: second).followed(by: third)
    let right = first.followed(by: second.followed(by: third))
    for _ in 0..<40 {
      let old = Double.random(in: 0...30, using: &random)
      #expect(abs((left.place(of: old) ?? -1) - (right.place(of: old) ?? -1)) < 1e-9)
    }
    #expect(try first.followed(by: .unchanged(first.after)).pieces == first.pieces)
    #expect(try TimelineMap.unchanged(30).followed(by: first).pieces == first.pieces)
  }

  @Test("words in what was cut out are flagged, or go with their text")
  func words() throws {
    let segments = [
      Segment(
        text: "One two, three.",
        words: [
          TimedWord("One", start: 1, end: 1.5), TimedWord("two,", start: 1.75, end: 2.125),
          TimedWord("three.", start: 2.5, end: 3),
        ], start: 1, end: 3, speaker: "Amy"),
      Segment(words: [TimedWord("gone", start: 3, end: 3.5)], start: 3, end: 3.5),
      Segment(
        text: "four (never timed) six",
        words: [
          TimedWord("four", start: 3.75, end: 4.5), TimedWord("(never"), TimedWord("timed)"),
          TimedWord("six", start: 7, end: 9),
        ]),
    ]
    let map = try sample()
    let kept = map.move(Transcript(language: "en", segments: segments), removed: .kept)
    #expect(kept.language == "en")
    #expect(kept.words.map(\.text) == segments.flatMap(\.words).map(\.text))
    #expect(kept.words.map(\.start) == [1, 1.75, nil, nil, 2, nil, nil, 4.5])
    #expect(kept.words.map(\.end) == [1.5, 2, nil, nil, 2.5, nil, nil, 5.5])
    #expect(kept.words.map(\.flags) == [[], .clipped, .removed, .removed, .clipped, [], [], []])
    #expect(kept.segments.map(\.start) == [1, nil, nil])
    #expect(kept.segments.map(\.end) == [2, nil, nil])
    let dropped = map.move(Transcript(segments: segments), removed: .dropped)
    #expect(dropped.segments.map(\.text) == ["One two,", "four (never timed) six"])
    #expect(dropped.words.map(\.text) == ["One", "two,", "four", "(never", "timed)", "six"])
  }

  @Test("no change moves nothing, and there and back is where it was")
  func identity() throws {
    var shape = RandomTranscript()
    (shape.times, shape.speakers) = (.some, .words)
    for seed in 1...40 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      let transcript = shape.transcript(&random)
      let length = (transcript.segments.last?.knownEnd ?? 0) + 1
      let unchanged = try TimelineMap.unchanged(length)
      #expect(unchanged.move(transcript, removed: .dropped) == transcript, "seed \(seed)")
      let map = try TimelineMap(
        before: length, after: length / 2 + 3,
        pieces: [Piece(from: 0, to: length, at: 3, until: 3 + length / 2)])
      let back = try #require(map.inverse)
      let again = back.move(map.move(transcript, removed: .kept), removed: .kept)
      #expect(again.words.map(\.text) == transcript.words.map(\.text))
      #expect(again.words.map(\.flags) == transcript.words.map(\.flags))
      for (one, other) in zip(again.words, transcript.words) {
        #expect(abs((one.start ?? -1) - (other.start ?? -1)) < 1e-9)
        #expect(abs((one.end ?? -1) - (other.end ?? -1)) < 1e-9)
      }
    }
  }

  @Test("after any change, words are in order, within the sound, and none ends before it begins")
  func order() throws {
    var shape = RandomTranscript()
    (shape.times, shape.segmentCount) = (.all, 4...10)
    for seed in 1...40 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      let transcript = shape.transcript(&random)
      let map = try self.random(&random, before: 40, isSimple: true)
      let moved = map.move(transcript, removed: .dropped)
      #expect(falseTimes(in: moved) == [])
      let times = moved.words.map { [$0.start ?? -1, $0.end ?? -1] }.joined().map(\.self)
      #expect(times == times.sorted())
      #expect(times.allSatisfy { $0 <= map.after + 1e-9 })
      #expect(moved.words.allSatisfy { !$0.flags.contains(.removed) })
      let kept = map.move(transcript, removed: .kept)
      #expect(kept.words.count == transcript.words.count)
      #expect(kept.words.filter { !$0.flags.contains(.removed) } == moved.words)
    }
  }

  @Test("a map that is none is refused with what is wrong")
  func nonsense() {
    let lists: [[Piece]] = [
      [Piece(from: 2, to: 1, at: 0, until: 1)], [Piece(from: 0, to: 1, at: .nan, until: 1)],
      [Piece(from: -1, to: 1, at: 0, until: 1)], [Piece(from: 0, to: .infinity, at: 0, until: 1)],
      [Piece(from: 0, to: 2, at: 0, until: 2), Piece(from: 1, to: 3, at: 2, until: 4)],
    ]
    for pieces in lists {
      let error = #expect(throws: SpoolError.self) {
        try TimelineMap(before: 4, after: 4, pieces: pieces)
      }
      #expect(error?.message == "cannot move the transcript")
    }
    #expect(throws: SpoolError.self) { try TimelineMap(before: .nan, after: 4, pieces: []) }
  }

  @Test("the report of a stage is read, and written in the same shape")
  func json() throws {
    let map = try sample()
    #expect(try TimelineMap(json: map.json) == map)
    let text =
      #"{"after":1,"before":2,"silences":[],"pieces":[{"from":0,"to":1,"at":0,"until":1}]}"#
    let value = try JSONReader.strictValue(of: Array(text.utf8), depthLimit: 8)
    #expect(try TimelineMap(json: value).place(of: 0.5) == 0.5)
    for wrong in [#"{}"#, #"{"before":1,"after":1,"pieces":[{"from":0}]}"#, #"{"pieces":[]}"#] {
      let value = try JSONReader.strictValue(of: Array(wrong.utf8), depthLimit: 8)
      #expect(throws: SpoolError.self) { try TimelineMap(json: value) }
    }
  }
}

extension TimelineMap {
  /// Nothing of so many seconds is cut.
  fileprivate static func unchanged(_ length: Double) throws -> TimelineMap {
    try TimelineMap(
      before: length, after: length,
      pieces: [Piece(from: 0, to: length, at: 0, until: length)])
  }

  /// The map back; nil if pieces overlap in the new time.
  fileprivate var inverse: TimelineMap? {
    try? TimelineMap(
      before: after, after: before,
      pieces: pieces.map { Piece(from: $0.at, to: $0.until, at: $0.from, until: $0.to) })
  }
}
