internal import AudioModel
internal import CLibAV
internal import CLibAVLoader

extension MediaProbe {
  /// The markers of the recording at `path`, in order of time: the beginnings of its chapters (M4A,
  /// Matroska, MP3, FLAC, Ogg), and the cue points of WAV, which libavformat takes for chapters too;
  /// their names only where these follow them in the file. None where the file marks nothing.
  public static func markers(of path: String) throws(MediaError) -> [Marker] {
    let file = try InputFile(path: path)
    var markers: [Marker] = []
    for number in unsafe 0..<Int(file.context.pointee.nb_chapters) {
      guard let chapter = unsafe file.context.pointee.chapters[number]?.pointee else { continue }
      let base = unsafe chapter.time_base
      let start = unsafe chapter.start
      guard start >= 0, base.num > 0, base.den > 0 else { continue }
      let title = unsafe [String: String].tags(chapter.metadata)["title"]
      markers.append(
        Marker(
          time: Seconds(Double(start) * Double(base.num) / Double(base.den)),
          title: title.flatMap { $0.isEmpty ? nil : $0 }))
    }
    return markers.sorted { $0.time < $1.time }
  }
}
