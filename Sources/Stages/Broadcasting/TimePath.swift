import AudioModel

/// What became of the time of a recording's sound on its way to a file, so that its cue points and
/// its place in the day can follow. A pure value.
struct TimePath: Hashable, Sendable {
  private enum Change: Hashable, Sendable {
    /// The sound begins at this frame of what it was.
    case begins(Frames)
    /// It has another rate.
    case rate(from: Hertz, to: Hertz)
  }

  /// In the order in which they came; nil where the sound was moved in any other way.
  private var changes: [Change]? = []

  /// Whether every frame is where it was.
  var isUnchanged: Bool { changes?.isEmpty ?? false }
  /// Whether it can be told where a frame is now.
  var isKnown: Bool { changes != nil }

  /// The sound begins at a frame of what it was; nil where it was moved otherwise.
  mutating func begin(at frame: Frames?) {
    guard let frame else { return changes = nil }
    if frame != .zero { changes?.append(.begins(frame)) }
  }

  /// The sound has another rate.
  mutating func resample(from old: Hertz, to new: Hertz) {
    if old != new { changes?.append(.rate(from: old, to: new)) }
  }

  /// Where a frame of the recording is now, to the nearest frame; nil where that is not known, and
  /// for what was cut off at the beginning.
  func place(of frame: Frames) -> Frames? {
    guard let changes else { return nil }
    var place = frame
    for change in changes {
      switch change {
      case .begins(let start): place = place - start
      case .rate(let old, let new): place = Self.scaled(place, old, new)
      }
      if place.count < 0 { return nil }
    }
    return place
  }

  /// How many frames a stretch of the recording has now.
  func length(_ frames: Frames) -> Frames {
    (changes ?? []).reduce(frames) { frames, change in
      guard case .rate(let old, let new) = change else { return frames }
      return Self.scaled(frames, old, new)
    }
  }

  /// How many frames lie between midnight and the first frame of the sound, where so many lay before
  /// the recording's; 0 where that is not known.
  func reference(_ reference: UInt64) -> UInt64 {
    guard let changes, reference < 1 << 50 else { return 0 }
    let result = changes.reduce(Frames(Int(reference))) { reference, change in
      switch change {
      case .begins(let start): reference + start
      case .rate(let old, let new): Self.scaled(reference, old, new)
      }
    }
    return UInt64(result.count)
  }

  private static func scaled(_ frames: Frames, _ old: Hertz, _ new: Hertz) -> Frames {
    Frames(Int((Double(frames.count) * new.value / old.value).rounded()))
  }
}
