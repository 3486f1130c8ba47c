import Foundation
import TestSupport
import Testing

@Suite(
  "Tags and a cover that a pipeline states are in the files",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct StatedTagsTests {
  private let place: Workspace

  init() throws {
    place = try Workspace()
    let own = ["-metadata", "title=Own", "-metadata", "artist=Anna", "-metadata", "genre=Talk"]
    try Reference.record(place.file("voice.flac"), seconds: 1, coding: own)
    try Reference.record(
      place.file("music.flac"), seconds: 1, coding: ["-metadata", "title=Song"])
    for (name, color) in [("red.png", "red"), ("blue.jpg", "blue")] {
      try Reference.ffmpeg([
        "-f", "lavfi", "-i", "color=\(color):s=64x48", "-frames:v", "1", place.file(name),
      ])
    }
  }

  /// An episode of two recordings, of which the music is nearer to the export.
  private func episode(_ export: String) throws -> String {
    try place.pipeline(
      """
      pipeline: episode
      inputs: { voice: sound, music: sound }
      vars: { title: { value: Untitled, overridable: true }, number: 7 }
      stages:
        - decode: { from: $voice }
          id: spoken
        - gain: -3 dB
          id: quieter
        - decode: { from: $music }
          id: played
        - mixdown: { from: [quieter, played] }
        - export: \(export)
      """)
  }

  private var inputs: [String] { [place.file("voice.flac"), place.file("music.flac")] }

  private static let all = "[wav, m4a, alac, flac, mp3, opus, ogg]"
  private static let names = [
    "wav", "m4a", "alac.m4a", "flac", "mp3", "opus", "ogg",
  ]

  @Test("in every format, with the values of variables; WAV tells what it has no place for")
  func formats() throws {
    let run = try place.run(
      episode(
        """
        { formats: \(Self.all), recording: $voice, cover: red.png, metadata: { title: $title,
              album: On the Road, album-artist: We, composer: Karl, date: 2026-03-14,
              track: $number, disc: 1/2, comment: 'Grüße, "all"', copyright: mine, genre: "" } }
        """), inputs, ["--set", "title=Under way"])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    let expected = [
      "title": "Under way", "artist": "Anna", "album": "On the Road", "album_artist": "We",
      "composer": "Karl", "date": "2026-03-14", "track": "7", "disc": "1/2",
      "comment": "Grüße, \"all\"", "copyright": "mine",
    ]
    for name in Self.names {
      let facts = try SoundFacts(of: place.out + "/voice.\(name)")
      let isWave = name == "wav"
      #expect(facts.hasPicture == !isWave, "\(name)")
      for (tag, text) in expected
      where !isWave || !["album_artist", "composer", "disc"].contains(tag) {
        // ffprobe shows a number without the total that M4A has room for.
        let found = facts.tags[tag]
        #expect(found == text, "\(name) \(tag) \(facts.tags)")
      }
      #expect(facts.tags["genre"] == nil, "\(name)")
    }
    #expect(
      run.warnings == ["the wav file has no place for cover, album-artist, composer, disc"])
  }

  @Test("as another program reads them, with the picture as the front cover")
  func foreignReader() throws {
    guard let python = Program(named: "python3"),
      try python.run(["-c", "import mutagen"]).exitCode == 0
    else { return }
    let run = try place.run(
      episode(
        "{ formats: [mp3, m4a, flac, opus, ogg], name: x, cover: red.png, "
          + "metadata: { title: Hello, track: 3/12 } }"), inputs)
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    let script = """
      import base64, sys, mutagen
      from mutagen.flac import Picture
      folder = sys.argv[1]
      png = open(sys.argv[2], 'rb').read()
      mp3 = mutagen.File(folder + '/x.mp3').tags
      apic = mp3.getall('APIC')[0]
      print(mp3['TIT2'].text, mp3['TRCK'].text, int(apic.type), apic.mime, apic.data == png)
      m4a = mutagen.File(folder + '/x.m4a').tags
      print(m4a['\\xa9nam'], m4a['trkn'], bytes(m4a['covr'][0]) == png)
      flac = mutagen.File(folder + '/x.flac')
      p = flac.pictures[0]
      print(flac['title'], flac['tracknumber'], int(p.type), p.mime, p.width, p.data == png)
      for name in ['x.opus', 'x.ogg']:
          file = mutagen.File(folder + '/' + name)
          p = Picture(base64.b64decode(file['metadata_block_picture'][0]))
          print(file['title'], file['tracknumber'], int(p.type), p.mime, p.width, p.data == png)
      """
    let result = try python.run(["-c", script, place.out, place.file("red.png")])
    let vorbis = "['Hello'] ['3/12'] 3 image/png 64 True"
    #expect(
      result.text.split(separator: "\n").map(String.init) == [
        "['Hello'] ['3/12'] 3 image/png True", "['Hello'] [(3, 12)] True", vorbis, vorbis, vorbis,
      ], "\(result.errorOutput)")
  }

  @Test("and a change of them, or of the picture's file, writes the files again and runs nothing")
  func changes() throws {
    let path = try episode(
      "{ formats: [mp3], recording: $voice, metadata: { title: $title }, cover: cover }")
    func cover(_ name: String) throws {
      try? FileManager.default.removeItem(atPath: place.file("cover"))
      try FileManager.default.copyItem(atPath: place.file(name), toPath: place.file("cover"))
    }
    try cover("red.png")
    let first = try place.run(path, inputs)
    try #require(first.exitCode == 0, "\(first.errorOutput)")
    let before = try place.export("voice.mp3")
    let again = try place.run(path, inputs)
    #expect(again.made == [] && again.files.map(\.wasThere) == [true])
    let renamed = try place.run(path, inputs, ["--set", "title=Another"])
    #expect(renamed.exitCode == 0 && renamed.made == [], "\(renamed.errorOutput)")
    #expect(try SoundFacts(of: place.out + "/voice.mp3").tags["title"] == "Another")
    try cover("blue.jpg")
    let repainted = try place.run(path, inputs)
    #expect(repainted.exitCode == 0 && repainted.made == [], "\(repainted.errorOutput)")
    #expect(repainted.files.map(\.wasThere) == [false])
    #expect(try place.export("voice.mp3") != before)
    // The recording of the tags is not what the sound is made of.
    try Reference.record(
      place.file("voice.flac"), seconds: 1, coding: ["-metadata", "artist=Berta"])
    let retagged = try place.run(path, inputs)
    #expect(retagged.made == ["spoken"], "\(retagged.errorOutput)")
    #expect(try SoundFacts(of: place.out + "/voice.mp3").tags["artist"] == "Berta")
  }

  @Test("and the recording that counts is the one that is named, else what all say alike")
  func recording() throws {
    let named = try place.run(episode("{ formats: [mp3], recording: $voice }"), inputs)
    #expect(named.exitCode == 0 && named.warnings == [], "\(named.errorOutput)")
    #expect(try SoundFacts(of: place.out + "/voice.mp3").tags["title"] == "Own")
    try Reference.record(
      place.file("music.flac"), seconds: 1,
      coding: ["title=Song", "genre=Talk", "comment=bed", "date=2026", "catalognumber=7"].flatMap {
        ["-metadata", $0]
      })
    let other = try place.run(episode("{ formats: [mp3, wav] }"), inputs)
    #expect(other.exitCode == 0, "\(other.errorOutput)")
    #expect(
      other.warnings == [
        "title, artist, date, description, catalognumber of the recordings differ and are left out: "
          + "recording: $input takes those of one, metadata and cover state others"
      ])
    for name in ["music.mp3", "music.wav"] {
      let tags = try SoundFacts(of: place.out + "/" + name).tags
      #expect(tags["genre"] == "Talk" && tags["title"] == nil && tags["artist"] == nil, "\(tags)")
    }
    #expect(try SoundFacts(of: place.out + "/music.mp3").tags["comment"] == nil)
    let stated = try place.run(
      episode("{ formats: [mp3], metadata: { title: Us, artist: Anna, comment: '' } }"), inputs)
    #expect(
      stated.warnings == [
        "date, description, catalognumber of the recordings differ and are left out: recording: "
          + "$input takes those of one, metadata and cover state others"
      ], "\(stated.errorOutput)")
    let rest = try place.run(
      episode(
        "{ formats: [mp3], metadata: { title: Us, artist: Anna, date: '', description: '', comment: '' } }"
      ), inputs)
    #expect(
      rest.warnings == [
        "catalognumber of the recordings differs and is left out: recording: $input takes those of "
          + "one, metadata and cover state others"
      ], "\(rest.errorOutput)")
  }

  @Test("A show has the title of the only sidecar, and WAV files are described by it")
  func show() throws {
    try Reference.record(
      place.file("intro.wav"), seconds: 1,
      coding: [
        "-metadata", "title=Jingle v1", "-metadata", "description=intro", "-write_bext", "1",
      ])
    let talk = place.file("talk.flac")
    try Reference.record(talk, seconds: 1)
    let path = try place.pipeline(
      """
      pipeline: show
      inputs: { intro: sound, talk: sound }
      stages:
        - decode: { from: $intro }
          id: jingle
        - decode: { from: $talk }
        - concat: { from: [jingle, decode] }
        - export: { formats: [wav, mp3], name: episode-12 }
      """)
    let files = [place.file("intro.wav"), talk]
    func description() throws -> String? {
      try SoundFacts(of: place.out + "/episode-12.wav").tags["comment"]
    }
    let bare = try place.run(path, files)
    try #require(bare.exitCode == 0, "\(bare.errorOutput)")
    #expect(try description() == nil)
    _ = try place.folder.write(#"{"title": "Bees"}"#, to: "talk.json")
    #expect(try place.run(path, files).exitCode == 0)
    #expect(try SoundFacts(of: place.out + "/episode-12.mp3").tags["title"] == "Bees")
    #expect(try description() == "Bees")
    _ = try place.folder.write(#"{"title": "Hello"}"#, to: "intro.json")
    let torn = try place.run(path, files)
    #expect(
      torn.warnings.contains(
        "the title in the sidecar of intro.wav and of 1 more is left out: recording: $input chooses "
          + "one"), "\(torn.errorOutput)")
    let named = try place.run(
      place.pipeline(
        String(contentsOfFile: path, encoding: .utf8)
          .replacing("[wav, mp3],", with: "[mp3], recording: $talk,")), files)
    #expect(
      named.warnings == [
        "the title in the sidecar of intro.wav is left out: recording: $talk counts"
      ],
      "\(named.errorOutput)")
    #expect(try SoundFacts(of: place.out + "/episode-12.mp3").tags["title"] == "Bees")
  }

  @Test("in all pieces of a split")
  func pieces() throws {
    let path = try place.pipeline(
      "pipeline: p\ninputs: { r: sound }\nstages:\n  - decode\n"
        + "  - split: { at: [0.5 s], formats: [mp3], cover: red.png, metadata: { album: Parts } }\n"
    )
    let run = try place.run(path, [place.file("voice.flac")])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    for name in ["voice-01.mp3", "voice-02.mp3"] {
      let facts = try SoundFacts(of: place.out + "/" + name)
      #expect(facts.hasPicture && facts.tags["album"] == "Parts" && facts.tags["title"] == "Own")
    }
  }

  @Test("A comment and a description are two tags in Vorbis comments too")
  func comments() throws {
    let run = try place.run(
      episode(
        "{ formats: [flac, mp3], name: x, recording: $voice, metadata: { comment: C, description: D } }"
      ),
      inputs)
    #expect(run.warnings == [], "\(run.errorOutput)")
    let flac = try place.export("x.flac")
    #expect(flac.firstRange(of: Data("COMMENT=C".utf8)) != nil)
    #expect(flac.firstRange(of: Data("description=D".utf8)) != nil)
    #expect(try SoundFacts(of: place.out + "/x.mp3").tags["comment"] == "C")
  }

  @Test(
    "What cannot be a tag or a cover is refused at its place, before any work",
    arguments: [
      ("cover: none.jpg", "12:36", "No such file"),
      ("cover: rad.png", "12:36", "did you mean \"red.png\"?"),
      ("cover: voice.flac", "12:36", "neither JPEG"),
      ("metadata: { date: 14.3.2026 }", "12:47", "\"14.3.2026\" is no date"),
      ("metadata: { track: A1 }", "12:48", "\"A1\" is no number"),
      ("metadata: { titel: x }", "12:41", "did you mean \"title\"?"),
      ("metadata: { title: 'No. $number' }", "12:48", "has the variable $number in a text"),
      ("recording: $musik", "12:40", "did you mean \"$music\"?"),
    ])
  func refusals(parameter: String, location: String, flaw: String) throws {
    let path = try episode("{ formats: mp3, \(parameter) }")
    for command in [["pipeline", "check", path], ["run", path] + inputs + ["--out", place.out]] {
      let result = try place.spool(command)
      #expect(result.exitCode == 2)
      #expect(result.errorOutput.contains("\(path):\(location): "), "\(result.errorOutput)")
      #expect(result.errorOutput.contains(flaw), "\(result.errorOutput)")
      #expect(!result.errorOutput.contains("allowed: check"), "\(result.errorOutput)")
      #expect(result.errorOutput.contains("1 problem in"), "\(result.errorOutput)")
    }
    #expect(place.exports == [])
  }

  @Test("A batch writes files again whose cover has changed, and no others")
  func batch() throws {
    let path = try place.pipeline(
      "pipeline: p\nstages:\n  - decode\n  - export: { formats: [mp3], cover: cover }\n")
    try FileManager.default.createDirectory(
      atPath: place.file("in"), withIntermediateDirectories: false)
    try FileManager.default.moveItem(
      atPath: place.file("voice.flac"), toPath: place.file("in/voice.flac"))
    func batch(_ cover: String) throws -> Data {
      try? FileManager.default.removeItem(atPath: place.file("cover"))
      try FileManager.default.copyItem(atPath: place.file(cover), toPath: place.file("cover"))
      let result = try place.spool(["batch", path, "in", "--out", place.out])
      #expect(result.exitCode == 0, "\(result.errorOutput)")
      return try place.export("voice.mp3")
    }
    let first = try batch("red.png")
    let second = try batch("red.png")
    let third = try batch("blue.jpg")
    #expect(first == second && second != third)
  }
}
