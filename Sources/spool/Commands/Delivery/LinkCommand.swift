import Delivery
import PipelineModel
import Platform
import Store

extension Command {
  /// `spool deliver link`: addresses of delivered files for people without credentials.
  static let deliverLink = Command(
    name: "deliver link", group: "Care",
    summary: "Print links to what destinations have of a run or a recording.",
    discussion: """
      An object store gives a link that holds for a time, a week at most. A web server with public: \
      ADDRESS in destinations.yaml gives the one below that address. Anyone who has a link can read the \
      file. Exports are linked, if --what names nothing else; what is encrypted there is not.

      The exit code is 1 if no destination gives a link.
      """,
    positionals: [Options.subject],
    options: [
      Options.places, Options.contents, Options.time, Options.destinations, Options.store,
      Options.json,
    ],
    examples: [
      Example("The last run's exports, for a day", "spool deliver link last"),
      Example("For an hour", "spool deliver link 3f9a12cd --from vault --for 1h"),
    ],
    perform: CommandContext.printLinks)
}

extension Options {
  fileprivate static let subject = Positional<String>.required(
    "RUN|RECORDING", help: "A run's name, or last; or a recording's ID or name.",
    completion: NameKind.runs.hint())
  fileprivate static let places = Option<[String]>.values(
    "from", "DESTINATION", help: "Only these destinations.",
    completion: NameKind.destinations.hint())
  fileprivate static let contents = Option<[String]>.values(
    "what", "KIND", help: "exports, receipt, transcript or original; left out, exports.")
  fileprivate static let time = Option<LinkTime>.value(
    "for", "TIME", default: LinkTime.usual, help: "How long a link holds, a week at most.")
}

/// How long a link holds: `1h`, `7d`.
private struct LinkTime: ArgumentValue {
  let seconds: Int
  let argument: String

  static let usual = LinkTime(seconds: 86_400, argument: "1d")
  static let expectation = "a time from 1s to 7d, like 1h or 1d"

  private init(seconds: Int, argument: String) {
    (self.seconds, self.argument) = (seconds, argument)
  }

  init?(argument: String) {
    let units: [Character: Double] = ["d": 86_400, "h": 3600]
    let seconds =
      if let unit = argument.last.flatMap({ units[$0] }), let number = Double(argument.dropLast()) {
        number * unit
      } else {
        (try? Unit.seconds.parse(argument)) ?? 0
      }
    guard seconds >= 1, seconds <= 7 * 86_400 else { return nil }
    self.init(seconds: Int(seconds), argument: argument)
  }
}

extension CommandContext {
  fileprivate func printLinks() throws(SpoolError) -> ExitCode {
    let store = try existingStore()
    let destinations = try destinations()
    let names = arguments[Options.places]
    for name in names { _ = try destination(named: name, in: destinations) }
    let wanted = try contents(arguments[Options.contents]) ?? [.exports]
    var files: [QueuedDelivery] = []
    for owner in try deliveryOwners(named: arguments[Options.subject], in: store) {
      files += try store.deliveries.matching(.of(owner)).filter { file in
        file.state == .delivered && wanted.contains(file.file.content)
          && !files.contains { $0.id == file.id }
      }
    }
    if !names.isEmpty { files.removeAll { !names.contains($0.destination) } }
    guard !files.isEmpty else {
      throw SpoolError(
        "no destination has any of it",
        advice: deliveryCommand(["queue", "--all"]) + " lists what is delivered")
    }
    var hasLink = false
    var withoutLink: [String] = []
    for destination in destinations.all {
      let own = files.filter { $0.destination == destination.name }
      if own.isEmpty { continue }
      var isLinked = false
      if destination.encryption == nil {
        var transport = try destination.connect(Environment.variables)
        for file in own {
          let seconds = arguments[Options.time].seconds
          guard let link = try transport.link(to: RemotePath(file.path), forSeconds: seconds)
          else { break }
          isLinked = true
          if isJSON {
            console.print(
              json: JSONLine([
                "destination": destination.name, "file": file.path, "link": link,
              ]))
          } else {
            console.print(link)
          }
        }
      }
      hasLink = hasLink || isLinked
      if !isLinked { withoutLink.append(destination.name) }
    }
    if !hasLink {
      throw SpoolError(
        "\(withoutLink.joined(separator: ", ")) gives no links",
        reason: "object stores do, and web servers with public: ADDRESS in destinations.yaml",
        advice: "fetch the file from there, or send it to such a destination")
    }
    return .done
  }
}
