import Audio
import Media
import PipelineModel
import Platform
import SoundEngine
import Transcripts

extension PublishingContext {
  /// The chapters of the sound that the step takes: those of the recording's sidecar, else the
  /// recording's own, moved to where the stages above moved the sound. A chapter whose sound was cut
  /// out is gone; one of which a part is left begins with that part. Sound that was made of several
  /// recordings has none.
  ///
  /// Warns of chapters beyond the end of the recording.
  /// - Parameter recording: what is known of the recording; nil if nothing is.
  /// - Returns: nil while a stage above has not told where it moved the sound.
  func chapters(of recording: MediaDescription?) throws(SpoolError) -> [MediaProbe.Marker]? {
    let own = recording?.markers ?? []
    let markers =
      chapters.map { $0.map { MediaProbe.Marker(time: Seconds($0.start), title: $0.title) } } ?? own
    guard !markers.isEmpty else { return [] }
    let chain = upstream.chain(to: step)
    guard chain.first?.stage is DecodeStage else {
      warn("chapters are left out: the sound is not that of one recording")
      return []
    }
    var map: TimelineMap?
    for above in chain where above.stage is any TimeMovingStage {
      guard let text = try measurement(of: above) else { return nil }
      let change: TimelineMap
      do {
        change = try TimelineMap(
          json: JSONReader.value(of: Array(text.utf8), depthLimit: 8).value)
      } catch {
        throw SpoolError("cannot tell where \(above.id) moved the chapters", reason: "\(error)")
      }
      map = map.map { $0.followed(by: change) } ?? change
    }
    let length = map?.before ?? recording?.duration?.value ?? .infinity
    let beyond = markers.count { $0.time.value >= length }
    if beyond > 0 {
      warn(
        "\(beyond) chapter\(beyond == 1 ? " begins" : "s begin") beyond the end of the recording, "
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
