import Media
import PipelineModel

extension ExportTags {
  /// What is left of a recording's tags when what libavformat makes of its `bext` chunk is put right.
  ///
  /// What the chunk tells of its own file, such as who wrote it and how it was coded, is not true of
  /// another. A description that only repeats the title or the name is no comment. The time of day
  /// is no moment by itself: muxers would take it for one of the day of the run.
  static func corrected(
    _ tags: [String: String], _ notes: BroadcastNotes, ofRecording path: String
  ) -> [String: String] {
    guard let bext = notes.bext else {
      // libavformat reads on into the chunks behind one that is too short.
      guard notes.hasTornExtension else { return tags }
      return tags.filter { !ofTheFile.contains($0.key) && !ofTheExtension.contains($0.key) }
    }
    var result = tags.filter { !ofTheFile.contains($0.key) }
    if tags["encoded_by"] == bext.originator { result["encoded_by"] = nil }
    if let comment = tags["comment"], comment == bext.description,
      comment == tags["title"] || ExportName.stem(of: path).hasPrefix(comment)
    {
      result["comment"] = nil
    }
    if let moment = tags["creation_time"], CalendarText.date(moment) == nil {
      let day = tags["date"].flatMap { CalendarText.date($0) }
      let time = CalendarText.time(moment)
      // Without a zone, muxers would take it for one of this computer's.
      result["creation_time"] = day.flatMap { day in time.map { "\(day)T\($0)Z" } }
    }
    return result
  }

  private static let ofTheExtension: Set<String> = [
    "comment", "encoded_by", "date", "creation_time",
  ]
  private static let ofTheFile: Set<String> = [
    "originator_reference", "time_reference", "umid", "coding_history",
  ]
}
