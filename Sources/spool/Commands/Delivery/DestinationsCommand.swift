import Delivery
import Glibc
import PipelineEngine
import PipelineModel
import Platform
import Store

extension Command {
  /// `spool deliver destinations`: the destinations, and how they stand.
  static let deliverDestinations = Command(
    name: "deliver destinations", group: "Care",
    summary: "List the destinations, and how they stand.",
    discussion: """
      Destinations are the second places that recordings go to. destinations.yaml names them: in \
      $XDG_CONFIG_HOME/spool, else in ~/.config/spool, else in /etc/spool; --destinations names \
      another file. Passwords and keys never stand in it: it says in which variable of the environment, \
      in which file or in which credential of systemd they are.
      """,
    options: [Options.destinations, Options.store, Options.json],
    examples: [Example("How do they stand?", "spool deliver destinations")],
    perform: CommandContext.listDestinations)

  /// `spool deliver check`: tries destinations for real.
  static let deliverCheck = Command(
    name: "deliver check", group: "Care",
    summary: "Try destinations: write, read back, rename, delete.",
    discussion: """
      A small file of Spool's own is sent to each destination, read back, compared, and removed. \
      Nothing else there is touched. An empty folder to which the store has delivered files counts as \
      that of a disk which is not mounted. The exit code is 1 if one of them cannot be used.
      """,
    positionals: [Options.names], options: [Options.destinations, Options.store, Options.json],
    examples: [Example("All of them", "spool deliver check")],
    perform: CommandContext.checkDestinations)

  /// `spool deliver new`: a commented file of destinations.
  static let deliverNew = Command(
    name: "deliver new", group: "Care",
    summary: "Write a commented file of destinations to change.",
    positionals: [Options.file],
    examples: [Example("Where Spool looks for it", "spool deliver new")],
    perform: CommandContext.writeDestinations)
}

extension Options {
  fileprivate static let names = Positional<[String]>.repeated(
    "DESTINATION", minimum: 0, help: "Names of destinations; left out, all of them.",
    completion: NameKind.destinations.hint())
  fileprivate static let file = Positional<String?>.optional(
    "FILE", help: "The file to write; left out, ~/.config/spool/destinations.yaml.",
    completion: .files(extensions: ["yaml"]))
}

extension CommandContext {
  fileprivate func listDestinations() throws(SpoolError) -> ExitCode {
    let destinations = try destinations()
    let store = try readableStore().store
    let states = try store.deliveries.destinations()
    let tally = try store.deliveries.tally()
    let now = SystemClock().now
    func count(_ name: String, _ wanted: [QueuedDelivery.State]) -> Int {
      tally.filter { $0.destination == name && wanted.contains($0.state) }
        .reduce(0) { $0 + $1.count }
    }
    guard !isJSON else {
      for destination in destinations.all {
        let (name, state) = (destination.name, states[destination.name])
        console.print(
          json: JSONLine([
            "name": name, "kind": destination.kind.name, "place": destination.kind.place,
            "waiting": count(name, [.waiting, .uploading]),
            "delivered": count(name, [.delivered]), "failed": count(name, [.failed]),
            "isPaused": state?.isPaused ?? false,
            "isEncrypted": destination.encryption != nil,
            "isAppendOnly": destination.isAppendOnly,
            "isSending": destination.isSending(at: now),
            "heldUntil": state?.heldUntil.map { DateTime(secondsSince1970: $0) },
            "trouble": state?.trouble,
          ]))
      }
      return .done
    }
    guard let path = destinations.path else {
      console.print(
        "no destinations are known: spool deliver new writes a file of them to change")
      return .done
    }
    if destinations.all.isEmpty {
      console.print(Format.visible("\(path) names no destinations"))
      return .done
    }
    let width = (destinations.all.map(\.name.count).max() ?? 0) + 2
    for destination in destinations.all {
      let name = destination.name
      let counts = [
        (count(name, [.waiting, .uploading]), "on its way"), (count(name, [.failed]), "failed"),
        (count(name, [.delivered]), "delivered"),
      ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
      let facts =
        [
          states[name].flatMap { Self.line($0, at: now) },
          Self.hours(of: destination, at: now),
          destination.encryption == nil ? nil : "encrypted",
          destination.isAppendOnly ? "append-only" : nil,
        ].compactMap(\.self) + counts
      console.print(
        Format.visible(
          "\(Format.pad(name, width))\(Format.pad(destination.kind.name, 9))"
            + destination.kind.place
            + (facts.isEmpty ? "" : "  (\(facts.joined(separator: ", ")))")))
    }
    return .done
  }

  fileprivate func checkDestinations() throws(SpoolError) -> ExitCode {
    let destinations = try destinations()
    var chosen = destinations.all
    if !arguments[Options.names].isEmpty {
      chosen = []
      for name in arguments[Options.names] {
        chosen.append(try destination(named: name, in: destinations))
      }
    }
    if chosen.isEmpty {
      throw .usage(
        "there is no destination to try",
        reason: destinations.path.map { "\($0) names none" },
        advice: destinations.path == nil
          ? "spool deliver new writes a file of them"
          : "take the # from one of its examples, and change that")
    }
    let folder = Environment.temporaryFolder
    // A store that cannot be read says nothing of a destination.
    let queue = (try? readableStore())?.store.deliveries
    let stop = console.heed(SignalWatch.begin())
    var code = ExitCode.done
    for destination in chosen {
      let check = DestinationCheck(
        destination, Environment.variables, in: folder, delivered: queue
      ) { !stop.isRequested }
      if let signal = stop.signalNumber { return .interrupted(by: signal) }
      let error = check.steps.lazy.compactMap(\.error).first
      if !check.isGood { code = .failed }
      if isJSON {
        console.print(
          json: JSONLine([
            "name": destination.name, "isUsable": check.isGood,
            "freeByteCount": check.freeByteCount, "clockDifference": check.clockDifference,
            "trouble": check.isGood ? nil : error?.account,
            "listTrouble": check.listTrouble?.account,
          ]))
      } else if check.isGood {
        console.print(
          Format.visible(
            "\(destination.name): \(Self.line(check, isAppendOnly: destination.isAppendOnly))"))
        if let trouble = check.listTrouble {
          console.report(
            Format.visible(
              "warning: \(destination.name): \(command: .restore) \(option: .from) it will bring nothing back: "
                + trouble.account))
        }
      } else if let error {
        console.report(Format.visible("\(destination.name): ") + error.text(console))
      }
    }
    return code
  }

  private static func line(_ check: DestinationCheck, isAppendOnly: Bool) -> String {
    var facts = ["a file was written, read back and given its name"]
    if let remainder = check.remainder {
      facts.append(
        isAppendOnly
          ? "it stays there as \(remainder)"
          : "it could not be removed, and stays there as \(remainder)")
    } else {
      facts[0] += ", and removed"
    }
    if let room = check.freeByteCount { facts.append("\(ByteCount(room)) free") }
    if let difference = check.clockDifference, abs(difference) > 60 {
      facts.append(
        "its clock is \(Format.duration(abs(difference))) \(difference > 0 ? "ahead" : "behind")")
    }
    return facts.joined(separator: "; ")
  }

  fileprivate func writeDestinations() throws(SpoolError) -> ExitCode {
    let usual = Self.destinationsPaths(Environment.variables).first
    guard let path = arguments[Options.file] ?? usual else {
      throw .usage("no file is named", advice: "spool deliver new FILE")
    }
    let full = absolute(path)
    let files = FileOperations.system
    if arguments[Options.file] == nil { try files.makeFolders(FilePath.folder(of: full)) }
    try doing("write", path, advice: "choose another name") { () throws(SystemError) in
      let file = try files.open(full, O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
      try files.write(Array(Destinations.example.utf8), to: file)
    }
    console.print(
      Format.visible(
        "wrote \(ShellWords.visible(path: path)): take the # away from what you use"))
    console.print(NextCommand(["spool", "deliver", "check"]).text)
    return .done
  }
}
