import Audio
import Glibc
import Media
import Platform

extension Command {
  /// `spool play`: plays a recording, or the sound after a stage of a run.
  static let play = Command(
    name: "play", group: "Recordings",
    summary: "Listen to a recording, to a run, or to two of them in turn.",
    discussion: """
      SOUND is a recording's file, or a run: its name, the beginning of its name, or last. The ID or \
      noteId of a recording that the store knows names its last run, and so does the name of a file that \
      is not there. Of a run, its final sound is played, the one that is exported; with STAGE, the sound after that stage. \
      Instead of a stage, before is the first stage's sound and after the final one. RUN:STAGE is \
      the same in one word. Sound that the store has not kept is computed again, which needs the \
      recording, and kept from then on.

      --compare plays a second sound in turn with the first, at the same position: a file, \
      RUN:STAGE, or a stage of the same run. The louder one is turned down to the loudness \
      (EBU R 128) of the other; the level of the recordings does not change. Without a terminal one \
      is played after the other.

      Keys on a terminal: space or k pauses; the left and right arrows move by 5 seconds, j and l by \
      10; 0 to 9 go to tenths of the length; a, b or Tab choose what is compared; q ends.

      The device is one of ALSA's configuration: aplay -L lists them. Rate, and the number of \
      channels, are converted where the device does not take them. With --json nothing is played: it \
      says what would be heard.
      """,
    positionals: [Options.sound, Options.stage],
    options: [
      Options.compare, Options.from, Options.to, Options.device, Options.plugins, Options.store,
      Options.noSandbox, Options.json, Options.quiet,
    ],
    examples: [
      Example("A recording, from a minute and a half on", "spool play note.m4a --from 1:30"),
      Example("What the newest run has made", "spool play last"),
      Example("Hear what it has changed", "spool play last --compare before"),
      Example("Hear one stage", "spool play last eq --compare decode"),
    ],
    perform: CommandContext.play)
}

extension Options {
  fileprivate static let sound = Positional<String>.required(
    "SOUND",
    help:
      "A file; or a run's name, or its beginning; last for the newest that began; or a recording's "
      + "ID, noteId or name.",
    completion: NameKind.runs.hint(orFiles: []))
  fileprivate static let stage = Positional<String?>.optional(
    "STAGE", help: "Of a run: the sound after this stage; before and after stand for both ends.",
    completion: NameKind.runStages.hint())
  fileprivate static let compare = Option<String?>.value(
    "compare", "OTHER", help: "Play this in turn with it, equally loud.",
    completion: NameKind.runStages.hint(orFiles: []))
  fileprivate static let from = Option<MediaTime?>.value(
    "from", "TIME", help: "Where to begin.", defaultText: "the beginning")
  fileprivate static let to = Option<MediaTime?>.value(
    "to", "TIME", help: "Where to end.", defaultText: "the end")
  fileprivate static let device = Option<String>.value(
    "device", "NAME", default: "default", help: "The sound device.")
}

extension CommandContext {
  fileprivate func play() throws(SpoolError) -> ExitCode {
    let start = Seconds(arguments[Options.from]?.seconds ?? 0)
    let end = (arguments[Options.to]?.seconds).map { Seconds($0) }
    if let end, end <= start { throw .usage("--to has to lie behind --from") }
    let stop = console.heed(SignalWatch.begin())
    do throws(SpoolError) {
      let finder = NamedSoundFinder(context: self, stop: stop)
      let first = try finder.reference(
        arguments[Options.sound], stage: arguments[Options.stage])
      var sounds = [try finder.sound(first)]
      if let other = arguments[Options.compare] {
        sounds.append(try finder.sound(finder.reference(other, comparedWith: first)))
      }
      try require(start, isWithin: sounds)
      defer { warn(of: sounds) }
      let programme = try Programme(sounds, from: start, to: end) { !stop.isRequested }
      guard !isJSON else {
        console.print(json: programme.json)
        return .done
      }
      return try listen(to: programme, stop)
    } catch {
      guard error.cause == .cancelled, let signal = stop.signalNumber else { throw error }
      return .interrupted(by: signal)
    }
  }

  /// Says once of each sound what was found at its end.
  private func warn(of sounds: [NamedSound]) {
    for sound in sounds {
      var told: Set<String> = []
      for text in sound.warnings.receive(atMost: .zero) where told.insert(text).inserted {
        console.report(Format.visible("warning: \(sound.name): \(text)"))
      }
    }
  }

  private func require(
    _ start: Seconds, isWithin sounds: [NamedSound]
  ) throws(SpoolError) {
    let lengths = sounds.compactMap(\.sound.duration)
    guard let longest = lengths.max(), lengths.count == sounds.count, start >= longest,
      start.value > 0
    else { return }
    throw .usage(
      "--from lies behind the end", reason: "the sound is \(SearchText.time(longest.value)) long")
  }

  private func listen(to programme: Programme, _ stop: StopRequest) throws(SpoolError) -> ExitCode {
    let keys = TerminalKeys()
    // Only keys can switch.
    let parts = keys == nil ? programme.parts.map { [$0] } : [programme.parts]
    if voice == .full, programme.parts.count > 1 { console.print(programme.account) }
    for part in parts {
      let player = try Player(
        part.map { ($0.named.sound, $0.gain) }, on: arguments[Options.device],
        from: programme.start, to: programme.end)
      if voice == .full, part.count == 1 {
        console.print(programme.parts.count > 1 ? "playing \(part[0].letter ?? "")" : part[0].line)
      }
      var listening = Listening(
        player: player, parts: part, keys: keys, stop: stop,
        lines: voice == .full ? LiveLines(console, interval: 0.1) : nil)
      let code = try listening.follow(console)
      guard code == .done else { return code }
    }
    return .done
  }
}

/// What is heard: one sound, or two that are equally loud.
struct Programme {
  struct Part {
    let named: NamedSound
    /// `A` or `B`; nil for a single sound.
    let letter: String?
    /// Nil if it was not measured, or is silent.
    let loudness: LUFS?
    let gain: Decibels

    /// `A  note.wav  48 kHz stereo  3:20.0`.
    var line: String {
      ([letter, Format.visible(named.name), named.sound.format.description]
        .compactMap(\.self)
        + [named.sound.duration.map { SearchText.time($0.value) }].compactMap(\.self))
        .joined(separator: "  ")
    }
  }

  let parts: [Part]
  let start: Seconds
  /// Nil for the end of the sound.
  let end: Seconds?

  /// Measures what is compared, and turns the louder one down. O(n).
  /// - Parameter mayGoOn: asked now and then; false ends the work.
  init(
    _ sounds: [NamedSound], from start: Seconds, to end: Seconds?, mayGoOn: () -> Bool
  ) throws(SpoolError) {
    (self.start, self.end) = (start, end)
    guard sounds.count > 1 else {
      parts = sounds.map { Part(named: $0, letter: nil, loudness: nil, gain: Decibels(0)) }
      return
    }
    // A mono sound is louder by 3 dB where it is heard from two channels.
    let format = Player.format(of: sounds.map(\.sound))
    var found: [LUFS?] = []
    for named in sounds {
      found.append(
        try named.sound.loudness(in: format, from: start, to: end, mayGoOn: mayGoOn))
    }
    let gains = Self.gains(found)
    parts = sounds.indices.map {
      Part(named: sounds[$0], letter: ["A", "B"][$0], loudness: found[$0], gain: gains[$0])
    }
  }

  /// The gains that turn everything down to the quietest; none where one is silent.
  static func gains(_ loudness: [LUFS?]) -> [Decibels] {
    let known = loudness.compactMap(\.self)
    guard known.count == loudness.count, let quietest = known.min() else {
      return loudness.map { _ in Decibels(0) }
    }
    return known.map { Decibels(quietest.value - $0.value) }
  }

  /// A line for each sound, with its loudness and what is done about it.
  var account: String {
    parts.map { part in
      let loudness = part.loudness.map { Format.decimal($0.value, places: 1) + " LUFS" }
      let gain =
        part.gain.value < 0
        ? "turned down by \(Format.decimal(-part.gain.value, places: 1)) dB" : nil
      return ([part.line, loudness ?? "no loudness"] + [gain].compactMap(\.self))
        .joined(separator: "  ")
    }.joined(separator: "\n")
  }

  var json: JSONLine {
    JSONLine([
      "from": start.value, "to": end?.value,
      "sounds": parts.map { part in
        JSONLine([
          "name": part.named.name, "file": part.named.path, "run": part.named.run,
          "stage": part.named.stage, "sampleRate": part.named.sound.format.sampleRate.value,
          "channels": part.named.sound.format.channelCount,
          "seconds": part.named.sound.duration?.value, "loudness": part.loudness?.value,
          "gain": parts.count > 1 ? part.gain.value : nil,
        ])
      },
    ])
  }
}

/// Follows a player to its end: passes keys on, and shows where it is.
private struct Listening {
  let player: Player
  let parts: [Programme.Part]
  let keys: TerminalKeys?
  let stop: StopRequest
  var lines: LiveLines?

  /// Milliseconds between two looks at keys and signals.
  private static let patience: Int32 = 50

  private static let help = "space pauses, ← and → move, 0 to 9 go to tenths, q ends"

  mutating func follow(_ console: Console) throws(SpoolError) -> ExitCode {
    let clock = SystemClock()
    keys?.begin()
    var status = player.takeStatus()
    var isQuitting = false
    if keys != nil, lines != nil, console.isTerminal {
      console.print(parts.count > 1 ? Self.help + ", Tab switches" : Self.help)
    }
    while !status.isEnded {
      if lines?.isDue(clock.elapsed) == true {
        show(status, console, clock.elapsed)
      }
      if stop.isRequested || isQuitting { player.send(.stop) }
      // The terminal must not wait for a device that hangs.
      if stop.isRequested { keys?.end() }
      if let keys {
        for key in keys.read(atMost: Self.patience, whenStopped: pause) {
          if let order = order(key, status) { player.send(order) } else { isQuitting = true }
        }
      } else {
        usleep(UInt32(Self.patience) * 1000)
      }
      let peak = status.peak
      status = player.takeStatus()
      // Between two redraws, the greater level counts.
      if lines?.isDue(clock.elapsed) == false { status.peak = max(status.peak, peak) }
    }
    keys?.end()
    show(status, console, clock.elapsed)
    player.join()
    if let failure = status.failure { throw failure }
    return stop.signalNumber.map { .interrupted(by: $0) } ?? .done
  }

  /// Pauses, and gives what undoes it.
  private func pause() -> () -> Void {
    let wasPaused = player.takeStatus().isPaused
    player.send(.pause)
    // Not for ever, if the device hangs.
    for _ in 0..<100 {
      let status = player.takeStatus()
      if status.isPaused || status.isEnded { break }
      usleep(5000)
    }
    return { [player] in if !wasPaused { player.send(.togglePause) } }
  }

  /// What a key orders; nil for the end.
  private func order(_ key: TerminalKeys.Key, _ status: Player.Status) -> Player.Order? {
    switch key {
    case .left: .move(Seconds(-5))
    case .right: .move(Seconds(5))
    case .character("j"): .move(Seconds(-10))
    case .character("l"): .move(Seconds(10))
    case .character("a"), .character("A"): .select(0)
    case .character("b"), .character("B"): .select(1)
    case .character("\t"): .selectNext
    case .character(" "), .character("k"): .togglePause
    case .character("q"), .character("Q"), .character("\u{4}"): nil
    case .character(let other):
      other.wholeNumberValue.map { .jump(Double($0) / 10) } ?? .move(Seconds(0))
    }
  }

  private mutating func show(_ status: Player.Status, _ console: Console, _ now: Double) {
    let line = line(status, width: console.width)
    lines?.draw([line], now: now)
  }

  private func line(_ status: Player.Status, width: Int) -> String {
    let part = parts[status.selected]
    let length = parts.compactMap(\.named.sound.duration).max()
    var words = [SearchText.time(status.position.value)]
    if let length {
      words[0] += " of \(SearchText.time(length.value))"
      words.append(Format.bar(status.position.value / max(length.value, 1e-9), width: 20))
    }
    let level = status.peak > 0 ? 20 * log10(Double(status.peak)) : -.infinity
    words.append(
      Format.padLeft(level.isFinite ? Format.decimal(level, places: 0) : "–", 4) + " dB")
    words.append(
      [part.letter, Format.visible(part.named.name)].compactMap(\.self).joined(separator: " "))
    if status.isPaused { words.append("paused") }
    return String(words.joined(separator: "  ").prefix(max(20, width - 1)))
  }
}
