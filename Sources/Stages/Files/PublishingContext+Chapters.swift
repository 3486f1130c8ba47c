import Audio
import Media
import PipelineModel
import Platform
import SoundEngine
import Transcripts

extension PublishingContext {
  /// The chapters of the sound that the step takes: those of each recording's sidecar, else the
  /// recording's own, moved to where the stages above moved the sound, also to several places. A
  /// chapter whose sound was cut out is gone; one of which a part is left begins with that part.
  ///
  /// Warns of chapters beyond the end of a recording, and of those whose sound cannot be followed.
  /// - Returns: nil while a stage above has not told where it moved the sound.
  func chapters(_ reader: RecordingTags) throws(SpoolError) -> [MediaProbe.Marker]? {
    var found: [(input: String, marker: MediaProbe.Marker)] = []
    var known: Set<String> = []
    var hasSeveral = false
    for way in upstream.ways(to: step, byEach: true) {
      let recording = try reader.of(way.recording).source
      let markers =
        chapters[way.input].map {
          $0.map { MediaProbe.Marker(time: Seconds($0.start), title: $0.title) }
        } ?? recording?.markers ?? []
      guard !markers.isEmpty else { continue }
      let isFirst = known.insert(way.input).inserted
      hasSeveral = hasSeveral || !isFirst
      if let blind = way.steps.map(\.step).first(where: { !$0.stage.canBeFollowed }) {
        if isFirst {
          warn(
            "the chapters of \(way.recording.title) are left out: \(blind.id) does not tell where "
              + "its sound went")
        }
        continue
      }
      guard let moved = try moved(markers, along: way, recording, isFirst: isFirst) else {
        return nil
      }
      found += moved.map { (way.input, $0) }
    }
    guard hasSeveral else { return found.map(\.marker) }
    // Of two stretches of a recording, the second continues the chapter that the first ends in.
    found.sort { $0.marker.time < $1.marker.time }
    return found.indices.filter { index in
      index == 0 || found[index - 1].input != found[index].input
        || found[index - 1].marker.title != found[index].marker.title
    }.map { found[$0].marker }
  }

  /// Where the stages along a way moved chapters; nil while one has not told.
  private func moved(
    _ markers: [MediaProbe.Marker], along way: UpstreamOutputs.Way, _ recording: MediaDescription?,
    isFirst: Bool
  ) throws(SpoolError) -> [MediaProbe.Marker]? {
    let duration = recording?.duration?.value
    var map: TimelineMap?
    for (above, source) in way.steps where above.stage.movesTime {
      guard let text = try measurement(of: above) else { return nil }
      let change: TimelineMap
      do throws(SpoolError) {
        change = try TimelineMap(
          measurement: text, source: source, length: map?.after ?? duration)
      } catch {
        throw SpoolError(
          "cannot tell where \(above.id) moved the chapters", reason: error.reason ?? error.message)
      }
      map = map.map { $0.followed(by: change) } ?? change
    }
    let length = map?.before ?? duration ?? .infinity
    let beyond = markers.count { $0.time.value >= length }
    if beyond > 0, isFirst {
      warn(
        "\(beyond) chapter\(beyond == 1 ? " begins" : "s begin") beyond the end of "
          + "\(isOneRecording ? "the recording" : way.recording.title), "
          + "at \(Seconds(length).words), and \(beyond == 1 ? "is" : "are") left out")
    }
    guard let map else { return markers }
    let ordered = markers.sorted { $0.time < $1.time }
    return ordered.indices.compactMap { index in
      let marker = ordered[index]
      // Of several at one time each begins what follows.
      let next = ordered[index...].first { $0.time > marker.time }?.time.value
      return map.beginning(of: marker.time.value, to: next ?? max(map.before, marker.time.value))
        .map { MediaProbe.Marker(time: Seconds($0), title: marker.title) }
    }
  }
}

extension Stage {
  /// Whether it tells where it moved the sound.
  var movesTime: Bool {
    self is any TimeMovingStage || self is ConcatStage || self is MixdownStage
  }

  /// Whether it leaves the sound where it is, or tells where it moved it.
  fileprivate var canBeFollowed: Bool {
    movesTime || self is DecodeStage || !(self is any SoundSourceStage)
  }
}

extension TimelineMap {
  /// What the measurement of a stage that moves sound in time tells of one of its sources.
  /// - Parameters:
  ///   - source: which of those that it joined or mixed, counted from 1; nil if not known, which is no
  ///     matter where there is only one.
  ///   - length: how long the source is, in seconds, which a mix does not tell; nil if unknown.
  /// - Throws: where the text tells of no change of time, or of several sources.
  init(measurement text: String, source: Int?, length: Double?) throws(SpoolError) {
    let json: JSONValue
    do { json = try JSONReader.value(of: Array(text.utf8), depthLimit: 8).value } catch {
      throw SpoolError("cannot read a change of time", reason: "\(error)")
    }
    func chosen<Source>(_ sources: [Source], _ noun: String) throws(SpoolError) -> Source {
      let index = (source ?? 1) - 1
      guard sources.indices.contains(index), source != nil || sources.count == 1 else {
        throw SpoolError(
          "cannot follow the sound", reason: "it was joined of \(sources.count) \(noun)s",
          advice: "part: 1 … \(sources.count) says which of them the words are of")
      }
      return sources[index]
    }
    guard json["pieces"] == nil else {
      self = try TimelineMap(json: json)
      return
    }
    if json["parts"] != nil {
      let report = try Findings.decode(ConcatReport.self, from: text)
      let part = try chosen(report.parts, "part")
      let length = part.to.value - part.from.value
      self = try TimelineMap(
        before: length, after: report.duration.value,
        pieces: [Piece(from: 0, to: length, at: part.from.value, until: part.to.value)])
    } else if json["tracks"] != nil {
      let report = try Findings.decode(MixReport.self, from: text)
      let track = try chosen(report.tracks, "track")
      let offset = track.offset.duration(at: report.sampleRate).value
      let length = length ?? Self.longest
      let start = max(0, -offset)
      let isLeft = track.isHeard && start < length
      self = try TimelineMap(
        before: length, after: max(0, length + offset),
        pieces: isLeft
          ? [Piece(from: start, to: length, at: start + offset, until: length + offset)] : [])
    } else {
      self = try TimelineMap(json: json)
    }
  }

  /// Whether a measurement is that of a mix, which tells where its tracks lie, and not how long it is.
  static func isOfMix(measurement text: String) -> Bool {
    let json = try? JSONReader.value(of: Array(text.utf8), depthLimit: 8).value
    return json?["tracks"] != nil && json?["pieces"] == nil && json?["parts"] == nil
  }

  /// No sound is longer, in seconds.
  private static let longest = 1e9
}
