extension Transcript {
  /// With one speaker per segment: a segment is split where its words' speaker changes; inner parts
  /// begin and end with their words. O(length of the text).
  package var inTurns: Transcript {
    var result = self
    result.segments = segments.flatMap(\.turns)
    return result
  }

  /// The words that begin a turn, by their numbers: captions of one speaker, and those without a
  /// speaker, continue it. Without speakers, each segment is a turn. Nil where there is one segment.
  package var turnStarts: Set<Int>? {
    guard segments.count > 1 else { return nil }
    let turns = inTurns.segments
    let hasSpeakers = turns.contains { $0.speaker != nil }
    var (starts, index, speaker) = (Set<Int>(), 0, String?.none)
    for turn in turns {
      if !hasSpeakers || turn.speaker != nil && turn.speaker != speaker { starts.insert(index) }
      (index, speaker) = (index + turn.words.count, turn.speaker ?? speaker)
    }
    return starts
  }

  /// Captions in the order of a text whose voices overlap: there each turn is whole, while captions
  /// follow each other by time. Those without a time, or that are in no turn, stay behind the one before
  /// them. O(*n* × *t*) for *n* captions and *t* turns, where turns overlap.
  package func inOrder(of text: Transcript) -> Transcript {
    let turns = text.inTurns.segments.map { turn in
      (start: turn.knownStart ?? 0, end: turn.knownEnd ?? 0, speaker: turn.speaker)
    }
    guard zip(turns, turns.dropFirst()).contains(where: { $1.start < $0.end }) else { return self }
    var (turn, speaker) = (0, String?.none)
    let keyed = segments.enumerated().map { index, caption in
      speaker = caption.speaker ?? speaker
      if let start = caption.knownStart {
        let open = turns.indices.filter { turns[$0].start - 0.01 <= start && start < turns[$0].end }
        turn = open.first { turns[$0].speaker == speaker } ?? open.first ?? turn
      }
      return (turn: turn, index: index, caption: caption)
    }
    var result = self
    result.segments = keyed.sorted { ($0.turn, $0.index) < ($1.turn, $1.index) }.map(\.caption)
    return result
  }

  /// The transcript without speakers. O(words).
  package var withoutSpeakers: Transcript {
    var result = self
    for index in segments.indices {
      result.segments[index].speaker = nil
      for word in segments[index].words.indices { result.segments[index].words[word].speaker = nil }
    }
    return result
  }
}

extension Segment {
  /// The parts of the segment with one speaker each.
  var turns: [Segment] {
    guard words.contains(where: { $0.speaker != nil && $0.speaker != speaker }) else {
      var same = self
      for index in words.indices { same.words[index].speaker = nil }
      return [same]
    }
    let bytes = Array(text.utf8)
    let places = WordPlaces.find(words.map(\.text), in: bytes)
    var turns: [(segment: Segment, from: Int)] = []
    for (word, place) in zip(words, places) {
      let voice = word.speaker ?? speaker
      if turns.isEmpty || turns[turns.count - 1].segment.speaker != voice {
        // A word that is not in the text starts at the previous word's place.
        let from = turns.isEmpty ? 0 : place?.lowerBound ?? turns[turns.count - 1].from
        turns.append((Segment(text: "", words: [], speaker: voice), from))
      }
      var own = word
      own.speaker = nil
      turns[turns.count - 1].segment.words.append(own)
    }
    let ends = turns.dropFirst().map(\.from) + [bytes.count]
    var result = zip(turns, ends).map { turn, end in
      var segment = turn.segment
      segment.text = WrittenWords.trimmed(String(decoding: bytes[turn.from..<end], as: UTF8.self))
      (segment.start, segment.end) = (segment.knownStart, segment.knownEnd)
      return segment
    }
    result[0].start = start ?? result[0].start
    result[result.count - 1].end = end ?? result[result.count - 1].end
    return result
  }
}
