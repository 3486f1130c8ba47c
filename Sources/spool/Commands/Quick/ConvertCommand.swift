import Platform

extension Command {
  /// `spool convert`: recordings in another format.
  static let convert = Command(
    name: "convert", group: "Quick",
    summary: "Write recordings in another format.",
    discussion: """
      Samples that fit stay as they are, bit for bit: a WAV file of 16 bits becomes a FLAC file of \
      16 bits. Tags and cover art are carried over, unless --title, --artist, --tag or --cover state \
      others; of a video, the sound is taken. --format \
      wav,mp3 with a folder writes several formats at once.
      """,
    positionals: [QuickOptions.recordings], options: [QuickOptions.out] + QuickOptions.single,
    examples: [
      Example("WAV to FLAC", "spool convert in.wav -o out.flac"),
      Example("A folder of MP3 files", "spool convert *.wav --format mp3 -b 192k -o mp3/"),
      Example("The sound of a video", "spool convert talk.mp4 -o talk.m4a"),
    ],
    perform: CommandContext.convertQuickly)
}

extension CommandContext {
  fileprivate func convertQuickly() throws(SpoolError) -> ExitCode {
    try runQuick(QuickWork(keepsSamples: true, stages: quickDecode))
  }
}
