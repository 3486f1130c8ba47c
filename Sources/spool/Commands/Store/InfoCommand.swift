import Intake
import PipelineEngine
import PipelineModel
import Platform
import Store

extension Command {
  /// `spool store info`: where the store lies, how big it is, and what it holds.
  static let storeInfo = Command(
    name: "store info", group: "Care",
    summary: "Say where the store lies, how big it is and what is in it.",
    discussion: """
      Tells the sizes by kind and by recording, the largest first, what spool store gc would free now, the \
      command that frees much more, if any, how much room is left on the disk, and when the store was last checked and backed up. The sizes are \
      those that the store has recorded: no file of it is read. Damaged files that nothing can make again \
      are named; no collection frees them.
      """,
    options: [Options.settings, Options.store, Options.json],
    examples: [Example("How big it is", "spool store info")],
    perform: CommandContext.showStore)
}

extension CommandContext {
  fileprivate func showStore() throws(SpoolError) -> ExitCode {
    let contents = try existingStore().contents(
      CollectionPolicy(settings(named: arguments[Options.settings])))
    answer(JSONLine(contents, adding: ["byteCount": contents.byteCount]), text(contents))
    return .done
  }

  private func text(_ contents: StoreContents) -> String {
    let free = contents.freeByteCount.map { ", \(ByteCount($0)) free on its disk" } ?? ""
    let collectable =
      contents.collectableByteCount == 0
      ? "spool store gc would free nothing"
      : "spool store gc would free \(ByteCount(contents.collectableByteCount))"
    let store = StoreOption(namedStore)
    // Where it is no tenth of the store, freeing it is of little use.
    let isMuch =
      contents.soundByteCount > contents.collectableByteCount
      && contents.soundByteCount * 10 >= contents.byteCount
    let sound =
      isMuch
      ? [
        Format.visible(store.completing("spool store gc --sound --grace 0s"))
          + " frees \(ByteCount(contents.soundByteCount)) now: sound that is computed again when "
          + "it is wanted"
      ] : []
    func time(_ time: DateTime?) -> String { time.map { Format.time($0) } ?? "never" }
    let care =
      "last check without damage \(time(contents.checkedAt)), "
      + "last backup \(time(contents.backedUpAt))"
    let lines =
      [Format.visible(contents.path), "\(ByteCount(contents.byteCount))\(free)", ""]
      + ShareTable.lines(kinds: contents.kinds, recordings: contents.recordings)
      + ["", collectable] + sound + Self.lines(lastCopies: contents.lastCopies) + [care]
    return lines.joined(separator: "\n")
  }

  /// The most damaged files that are named.
  private static let namedCopies = 5

  private static func lines(lastCopies paths: [String]) -> [String] {
    if paths.isEmpty { return [] }
    let isOne = paths.count == 1
    let more = paths.count - namedCopies
    return [
      "\(Count.of(paths.count, "damaged file")) \(isOne ? "is" : "are") kept, for nothing can make "
        + "\(isOne ? "it" : "them") again:"
    ]
      + paths.prefix(namedCopies).map { "  " + Format.visible($0) }
      + (more > 0 ? ["  and \(more) more"] : [])
  }
}

/// Sizes by kind and by recording as a table.
enum ShareTable {
  /// The most lines.
  private static let lineLimit = 14
  /// The most recordings that are named.
  private static let namedRecordings = 5

  static func lines(
    kinds: [StoreContents.Share], recordings: [StoreContents.Share]
  ) -> [String] {
    var lines = kinds.map { line($0.name, $0) }
    guard !recordings.isEmpty else { return lines }
    let named = recordings.prefix(max(1, min(namedRecordings, lineLimit - lines.count - 2)))
    lines.append("of recordings")
    lines += named.map { line("  " + Format.visible($0.name), $0) }
    let others = recordings.dropFirst(named.count)
    if !others.isEmpty {
      let size = ByteCount(others.reduce(0) { $0 + $1.byteCount })
      lines.append("\(padded(size))  in \(Count.of(others.count, "smaller recording"))")
    }
    return lines
  }

  private static func line(_ name: String, _ share: StoreContents.Share) -> String {
    "\(padded(ByteCount(share.byteCount)))  \(name)  (\(Count.of(share.files, "file")))"
  }

  private static func padded(_ size: ByteCount) -> String {
    Format.padLeft(size.description, 9)
  }
}
