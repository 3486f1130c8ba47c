package import Platform

/// What a recording has lost, as its decoding found and kept it: the one value behind the run's
/// summary, the reports of batches and watches, acknowledgements and receipts.
package struct RecordingDamage: Hashable, Sendable, Codable {
  /// A stretch of the decoded sound.
  package struct Place: Hashable, Sendable, Codable {
    /// Where it begins in the decoded sound.
    package let frame: Int
    /// Frames of silence in place of the lost sound; 0 if the loss is unknown or was concealed.
    package var filledFrames: Int
    /// Where in the recording's file; nil if unknown.
    package let byteOffset: Int?
    /// The decoder's own words.
    package let reason: String

    package init(frame: Int, filledFrames: Int, byteOffset: Int?, reason: String) {
      self.frame = frame
      self.filledFrames = filledFrames
      self.byteOffset = byteOffset
      self.reason = reason
    }
  }

  /// What a recording that is cut off lacks at its end, where no silence takes its place.
  package struct Shortfall: Hashable, Sendable, Codable {
    /// Frames of the decoded sound, silence in place of lost sound included.
    package let decodedFrames: Int
    /// Frames that the file promises, at the same rate; more than `decodedFrames`.
    package let declaredFrames: Int

    package init(decodedFrames: Int, declaredFrames: Int) {
      self.decodedFrames = decodedFrames
      self.declaredFrames = declaredFrames
    }
  }

  /// The number of places.
  package private(set) var count = 0
  /// Frames of silence in all places.
  package private(set) var filledFrames = 0
  /// Of the decoded sound.
  package let sampleRate: Int
  /// The first places, at most ``placeLimit``.
  package private(set) var places: [Place] = []
  /// Nil unless sound is missing at the end, and the file declares how much.
  package let shortfall: Shortfall?
  private var end = 0

  private enum CodingKeys: String, CodingKey {
    case count, filledFrames, sampleRate, places, shortfall
  }

  /// Beyond these, places are only counted.
  package static let placeLimit = 20

  /// Nil if there are none.
  /// - Parameter places: in order; those that touch count as one.
  package init?(
    _ places: some Sequence<Place>, sampleRate: Int, shortfall: Shortfall? = nil
  ) {
    self.sampleRate = sampleRate
    self.shortfall = shortfall
    for place in places { add(place) }
    if count == 0 { return nil }
  }

  private mutating func add(_ place: Place) {
    filledFrames += place.filledFrames
    if count == 0 || place.frame > end {
      count += 1
      if places.count < Self.placeLimit { places.append(place) }
    } else if count == places.count {
      places[count - 1].filledFrames += place.filledFrames
    }
    end = max(end, place.frame + place.filledFrames)
  }
}

extension RecordingDamage: CustomStringConvertible {
  /// One line for users: `damaged at 2 places, 0.464 s of silence in place of what is lost; the first
  /// at 10.774 s (byte 582177): CRC error`. A shortfall follows: `; 6.953 s of the 11.55 s that the
  /// file promises were decoded, 4.597 s are missing at the end`.
  package var description: String {
    let filled =
      filledFrames == 0 ? "" : ", \(seconds(filledFrames)) s of silence in place of what is lost"
    guard let first = places.first else { return "damaged\(filled)" }
    let place = "at \(seconds(first.frame)) s" + (first.byteOffset.map { " (byte \($0))" } ?? "")
    let places =
      count == 1
      ? "damaged \(place)\(filled): \(first.reason)"
      : "damaged at \(count) places\(filled); the first \(place): \(first.reason)"
    guard let shortfall else { return places }
    let (decoded, declared) = (shortfall.decodedFrames, shortfall.declaredFrames)
    return places
      + "; \(seconds(decoded)) s of the \(seconds(declared)) s that the file promises were decoded, "
      + "\(seconds(declared - decoded)) s are missing at the end"
  }

  /// With milliseconds.
  private func seconds(_ frames: Int) -> Double {
    (Double(frames) / Double(max(1, sampleRate)) * 1000).rounded() / 1000
  }
}

extension RecordingDamage {
  /// As a member of larger JSON.
  package var json: JSONValue {
    .object(leavingOut: [
      "count": .integer(count), "filledFrames": .integer(filledFrames),
      "sampleRate": .integer(sampleRate),
      "shortfall": shortfall.map {
        .object([
          "decodedFrames": .integer($0.decodedFrames),
          "declaredFrames": .integer($0.declaredFrames),
        ])
      },
      "places": .list(
        places.map { place in
          .object(leavingOut: [
            "frame": .integer(place.frame), "filledFrames": .integer(place.filledFrames),
            "byteOffset": place.byteOffset.map { .integer($0) }, "reason": .text(place.reason),
          ])
        }),
    ])
  }
}

extension StepRecord {
  private struct Finding: Decodable { let damage: RecordingDamage? }

  /// The damage that it met in a recording, from its findings; nil if there was none, and in old
  /// records.
  package var damage: RecordingDamage? {
    guard let findings, findings.contains("\"damage\"") else { return nil }
    return (try? Finding(jsonText: findings))?.damage
  }
}

extension RunRecord {
  /// The damage that its steps met, by step.
  package var damage: [String: RecordingDamage] {
    Dictionary(
      steps.compactMap { step in step.damage.map { (step.id.name, $0) } },
      uniquingKeysWith: { first, _ in first })
  }
}
