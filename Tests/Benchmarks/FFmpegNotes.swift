import Audio
import Foundation

/// A folder of notes as a shell does it: `xargs -P` over ffmpeg.
struct FFmpegNotes {
  let workshop: Workshop
  let notes: String
  let coreCount: Int

  /// One command a note, with loudnorm for the loudness. It works at 192 kHz, hence the rate behind
  /// it.
  func runOneCommand(into folder: String) throws(BenchmarkError) -> ProcessUsage {
    try run(
      """
      ls | xargs -P\(coreCount) -I{} \(quiet) -i {} \
      -af '\(FFmpegMastering.filters),loudnorm=I=-16:TP=-1' -ar 44100 \(coding) \(folder)/{}
      """)
  }

  /// Two commands a note: one measures, and one applies the gain, and a limiter where a peak would
  /// pass the ceiling.
  func runTwoCommands(into folder: String) throws(BenchmarkError) -> ProcessUsage {
    let note = """
      log=$(\(workshop.ffmpeg) -nostdin -hide_banner -nostats -filter_threads 1 -i "$1" \
      -af '\(FFmpegMastering.filters),ebur128=peak=true:framelog=verbose' -f null - 2>&1)
      gain=$(echo "$log" | awk '/ I: /{i=$2} / Peak: /{p=$2} END{
        printf "volume=%.2fdB:precision=double", -16-i
        if (p-16-i > -1) printf ",alimiter=limit=0.8913:level=disabled"}')
      exec \(quiet) -i "$1" -af "\(FFmpegMastering.filters),$gain" \(coding) "\(folder)/$1"
      """
    let script = workshop.file("note.sh")
    do {
      try note.write(toFile: script, atomically: true, encoding: .utf8)
    } catch {
      throw BenchmarkError("cannot write \(script)", "\(error)")
    }
    return try run("ls | xargs -P\(coreCount) -I{} sh \(script) {}")
  }

  private var quiet: String {
    "\(workshop.ffmpeg) -nostdin -loglevel error -nostats -y -filter_threads 1"
  }
  private let coding = "-c:a aac -b:a 64k"

  init(workshop: Workshop, notes: String, coreCount: Int) {
    self.workshop = workshop
    self.notes = notes
    self.coreCount = coreCount
  }

  private func run(_ script: String) throws(BenchmarkError) -> ProcessUsage {
    try ChildProcess(
      "/bin/sh", ["-c", "cd '\(notes)' && \(script)"],
      outputPath: workshop.file("ffmpeg-notes.log")
    ).wait()
  }
}
