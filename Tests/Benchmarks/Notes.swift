import Audio
import Foundation

/// A folder of voice notes of 30 s, mono AAC at 64 kbit/s, made once by ffmpeg from a sample whose
/// level comes and goes, so that no two are alike.
struct Notes {
  let workshop: Workshop
  let count: Int

  /// The folder's path.
  func folder() throws(BenchmarkError) -> String {
    let path = workshop.file("notes-\(count)")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    if names.count == count { return path }
    report("Making \(count) notes, once")
    _ = try workshop.emptyFolder("notes-\(count)")
    _ = try ChildProcess(
      workshop.ffmpeg,
      [
        "-nostdin", "-hide_banner", "-nostats", "-y",
        "-stream_loop", "-1", "-i", workshop.packageFile("samples/note-2.m4a"),
        "-af", "volume='pow(10,(-9+8*sin(2*PI*t/371))/20)':eval=frame", "-ac", "1",
        "-t", "\(30 * count)", "-c:a", "aac", "-b:a", "64k",
        "-f", "segment", "-segment_time", "30", "-segment_format", "mp4", path + "/note-%05d.m4a",
      ], outputPath: workshop.file("notes.log")
    ).wait()
    // The last segment may be a packet long.
    let made = ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    for name in made.dropFirst(count) {
      try? FileManager.default.removeItem(atPath: path + "/" + name)
    }
    return path
  }
}
