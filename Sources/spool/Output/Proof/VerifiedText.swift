import PipelineEngine
import Platform
import Proof

/// The results of verification as text. Quiet commands show problems only.
extension CommandContext {
  /// One line for each sound receipt, if they are few; every problem; and a count.
  /// - Parameter certificates: the file that time stamps were checked against; nil for those beside
  ///   them.
  func verified(receipts: [VerificationResult], certificates: String?) -> [String] {
    report(receipts, "receipt", "as they were signed") { receipt in
      let counts =
        "\(Count.of(receipt.stageCount, "stage")), \(Count.of(receipt.fileCount, "file")), "
        + "\(ByteCount(receipt.byteCount)), key \(receipt.keyID?.prefix(16) ?? "")"
      return ["verified  \(Format.visible(receipt.path))   \(counts)"]
        + receipt.timeStamps.map { stamp in
          let trusted =
            stamp.certificates.map { "\($0), which lies beside it" } ?? certificates ?? ""
          return Format.visible(
            "  stamped  \(stamp.name)   there on \(stamp.stamp.timeText), says "
              + "\(stamp.stamp.authority), trusted by \(trusted)")
        }
        + receipt.awaitedStamps.map {
          Format.visible(
            "  awaited  \($0)   the authority has not answered yet: spool proof stamp asks again")
        }
    }
  }

  /// One line for each sound confirmation, if they are few or have remarks; every problem; and a count.
  func verified(confirmations: [VerificationResult]) -> [String] {
    report(
      confirmations, "confirmation", "as they were signed", listsRemarks: true, namesOthers: true
    ) { result in
      let there =
        result.checkedCount == result.fileCount
        ? Count.of(result.fileCount, "file")
        : "\(Count.of(result.fileCount, "file")), of which \(result.checkedCount) lie here"
      return [
        Format.visible(
          "confirmed \(result.path)   \(result.destination ?? "") had \(there) on "
            + "\(result.confirmedAt ?? ""), key \(result.keyID?.prefix(16) ?? "")")
      ] + result.notes.map { Format.visible("  note    \($0.name)   \($0.reason)") }
    }
  }

  /// One line for each sound bag, if they are few or have remarks; every problem; and a count.
  func verified(bags: [VerificationResult]) -> [String] {
    report(bags, "bag", "valid", listsRemarks: true) { bag in
      [
        "valid bag \(Format.visible(bag.path))   \(Count.of(bag.fileCount, "file")), "
          + "\(ByteCount(bag.byteCount))"
      ]
        + bag.notes.map {
          "  note    \(Format.visible($0.name))   \(Format.visible($0.reason))"
        }
    }
  }

  /// Each sound quote, if they are few; every problem; and a count.
  func verified(quotes: [VerificationResult]) -> [String] {
    report(quotes, "quote", "proven", countsFiles: false) { result in
      guard let quote = result.quote else { return [] }
      var lines = [
        "proven    \(Format.visible(result.path))   key \(result.keyID?.prefix(16) ?? "")",
        "  quoted  \(quote.rangeText) of \(Format.visible(quote.export))",
        "  clip    \(quote.clipText), \(Count.of(quote.blocks.count, "block"))",
      ]
      lines += result.timeStamps.map {
        Format.visible(
          "  stamped \($0.name)   there on \($0.stamp.timeText), says \($0.stamp.authority)")
      }
      lines += result.notes.map { Format.visible("  note    \($0.name)   \($0.reason)") }
      if result.hasWords { lines.append("  words   not proven: listen to the clip") }
      return lines
    }
  }

  /// Suggested commands.
  func adviceOnKeys(
    _ receipts: [VerificationResult], in places: [String], keys: [String]
  ) -> [String] {
    guard receipts.flatMap(\.problems).contains(where: { $0.kind == .key }) else { return [] }
    let again = ShellWords.line(["spool", "verify"] + places)
    return [
      keys.isEmpty
        ? "get the signer's public key from the signer, and compare its name, which spool proof key show "
          + "FILE tells; then \(again) --key FILE, or spool proof key import FILE for good"
        : "name the key that signed: \(again) --key FILE; spool proof key show FILE tells a key's name"
    ]
  }

  /// The sound results, every problem, and a count of several results.
  /// - Parameters:
  ///   - noun: what was verified.
  ///   - quality: what all of it has to be.
  ///   - listsRemarks: whether sound results with remarks are always shown.
  ///   - namesOthers: whether they name files that need not lie here.
  ///   - sound: the lines of a sound result.
  private func report(
    _ results: [VerificationResult], _ noun: String, _ quality: String, countsFiles: Bool = true,
    listsRemarks: Bool = false, namesOthers: Bool = false, sound: (VerificationResult) -> [String]
  ) -> [String] {
    let broken = results.filter { !$0.isSound }
    let listed = results.filter {
      $0.isSound && !isQuiet && (results.count <= 20 || listsRemarks && !$0.notes.isEmpty)
    }
    let lines = listed.flatMap(sound) + broken.flatMap { Self.broken($0.path, $0.problems) }
    if isQuiet || results.count < 2 { return lines }
    var counts = Count.of(results.count, noun)
    if countsFiles {
      let (all, read) = (
        results.reduce(0) { $0 + $1.fileCount }, results.reduce(0) { $0 + $1.checkedCount }
      )
      counts += ", \(Count.of(all, "file"))"
      counts += namesOthers && read < all ? ", of which \(read) lie here" : ""
      counts += ", \(ByteCount(results.reduce(0) { $0 + $1.byteCount }))"
    }
    // Without the signer's key, nothing shows that anything was changed.
    let unknown = broken.count { Self.isUntrusted($0.problems) }
    let verdict = [
      broken.isEmpty ? "all \(quality)" : nil,
      broken.count > unknown ? "\(broken.count - unknown) not \(quality)" : nil,
      unknown > 0 ? "\(unknown) signed with a key that is not known here" : nil,
    ].compactMap(\.self).joined(separator: ", ")
    return lines + (lines.isEmpty ? [] : [""]) + ["\(counts): \(verdict)"]
  }

  /// Whether the signer's key is not known, and nothing else is wrong.
  private static func isUntrusted(_ problems: [Deviation]) -> Bool {
    !problems.isEmpty && problems.allSatisfy { $0.kind == .key }
  }

  /// What was checked, and a line for each problem with culprit and reason in columns.
  private static func broken(
    _ path: String, _ problems: [Deviation], isUntrusted: Bool? = nil
  ) -> [String] {
    let isUntrusted = isUntrusted ?? Self.isUntrusted(problems)
    let culprits = problems.map { problem in
      switch problem.kind {
      case .key, .signature: "key \(Format.visible(String(problem.name.prefix(16))))"
      default: Format.visible(problem.name)
      }
    }
    let width = culprits.map(\.count).max() ?? 0
    return ["\(isUntrusted ? "UNTRUSTED " : "BROKEN    ")\(Format.visible(path))"]
      + zip(culprits, problems).map { culprit, problem in
        "  \(culprit)\(String(repeating: " ", count: width - culprit.count))  "
          + Format.visible(problem.reason)
      }
  }
}

/// The result of looking receipts up in a store's transparency log.
extension CommandContext {
  /// The problems, and unless quiet, what was checked.
  /// - Parameters:
  ///   - log: the store's; nil if it was not searched.
  ///   - withdrawals: those of the receipts looked up.
  ///   - absent: where receipts were written that did not move with these.
  ///   - isAsked: whether the log was wanted, whether or not there is a store.
  func verified(
    _ log: LogView?, _ receipts: [VerificationResult], _ withdrawals: [Withdrawal],
    absent: [String], isAsked: Bool
  ) -> [String] {
    guard let log else {
      return isQuiet ? [] : ["ledger: not checked\(isAsked ? " (no store here)" : "")"]
    }
    if !log.findings.isEmpty {
      return Self.broken(
        "the ledger in \(log.path)", log.findings, isUntrusted: log.isUntold)
    }
    let lost = absent.prefix(1).map { first in
      let more = absent.count < 2 ? "" : " and \(absent.count - 1) more"
      return Format.visible(
        "absent: \(first)\(more), written beside these before they were moved; if moved elsewhere, "
          + "check it there")
    }
    if isQuiet { return lost }
    if log.isEmpty { return ["ledger: empty, nothing was ever signed in it"] }
    let included = receipts.count { $0.isInLog == true }
    let others = receipts.count { $0.isInLog == nil }
    let withdrawn = withdrawals.map { withdrawal in
      Format.visible(
        "withdrawn \(withdrawal.path)   on \(withdrawal.time)   "
          + "key \(withdrawal.signer?.id.hex.prefix(16) ?? "")"
          + (withdrawal.reason.map { ": \($0)" } ?? ""))
    }
    let summary =
      "ledger: as it was signed, with \(Count.of(included, "receipt")) of these"
      + (others > 0 ? "; \(Count.of(others, "receipt")) signed elsewhere not looked for" : "")
    // Receipts at another path than recorded, usually because their folder was moved.
    let homes = receipts.compactMap(\.writtenAs)
    let more = homes.count < 2 ? "" : " and \(homes.count - 1) more"
    let moved = homes.prefix(1).map {
      Format.visible("moved:  written as \($0)\(more), and not where it lies now")
    }
    return withdrawn + [summary] + moved + lost
  }

  /// The result of the lookup as `--json` shows it; nil if nothing has to be said: the results of
  /// sound receipts have lines of their own.
  static func verifiedLine(
    of log: LogView?, _ results: [VerificationResult], _ withdrawals: [Withdrawal],
    absent: [String]
  ) -> JSONLine? {
    let problems = log?.findings ?? []
    if problems.isEmpty, withdrawals.isEmpty, absent.isEmpty { return nil }
    return JSONLine([
      "ledger": log?.path, "checked": log != nil, "receipts": results.count { $0.isInLog != nil },
      "withdrawn": withdrawals.map { withdrawal in
        JSONLine([
          "receipt": withdrawal.path, "time": withdrawal.time,
          "key": withdrawal.signer?.id.hex, "reason": withdrawal.reason,
        ])
      },
      "absent": absent.isEmpty ? nil : absent, "problems": problems,
    ])
  }
}

/// Results as `--json` shows them.
extension VerificationResult {
  var receiptLine: JSONLine {
    JSONLine([
      "verified": isSound, "problems": problems, "receipt": path,
      "key": keyID, "run": run, "sources": sources,
      "stages": stageCount, "files": fileCount, "bytes": byteCount,
      // Without `certificates`, they were checked against those that the user named.
      "timeStamps": timeStamps.map {
        JSONLine([
          "name": $0.name, "time": $0.stamp.timeText, "authority": $0.stamp.authority,
          "certificates": $0.certificates,
        ])
      },
      "awaitedStamps": awaitedStamps, "inLedger": isInLog,
    ])
  }

  var confirmationLine: JSONLine {
    JSONLine([
      "verified": isSound, "problems": problems, "confirmation": path, "key": keyID,
      "destination": destination, "receipt": receiptName, "confirmedAt": confirmedAt,
      "files": fileCount, "checked": checkedCount, "bytes": byteCount, "notes": notes,
    ])
  }

  var bagLine: JSONLine {
    JSONLine([
      "verified": isSound, "problems": problems, "bag": path,
      "files": fileCount, "bytes": byteCount, "notes": notes,
    ])
  }

  var quoteLine: JSONLine {
    JSONLine([
      "verified": isSound, "problems": problems, "quote": path,
      "key": keyID, "shows": quote?.line, "notes": notes,
    ])
  }
}

extension Quote {
  /// The quoted range: `00:12:04.000 to 00:12:31.000`.
  var rangeText: String { times(of: range) }

  /// The range of the clip.
  var clipText: String { times(of: samples.extent.frames(of: blocks)) }

  private func times(of frames: Range<Int>) -> String {
    let times = samples.extent.time(of: frames)
    return "\(Self.time(times.lowerBound)) to \(Self.time(times.upperBound))"
  }

  /// A position with milliseconds: `00:12:04.500`.
  static func time(_ seconds: Double) -> String {
    let whole = Int((seconds * 1000).rounded())
    return Format.zeros(whole / 3_600_000, 2) + ":" + Format.zeros(whole / 60_000 % 60, 2) + ":"
      + Format.zeros(whole / 1000 % 60, 2) + "." + Format.zeros(whole % 1000, 3)
  }

  /// The quote as `--json` shows it; times in seconds of the export.
  var line: JSONLine {
    let extent = samples.extent
    let clip = extent.frames(of: blocks)
    return JSONLine([
      "export": export, "from": extent.time(of: range.lowerBound),
      "to": extent.time(of: range.upperBound), "clipFrom": extent.time(of: clip.lowerBound),
      "clipTo": extent.time(of: clip.upperBound), "blocks": blocks.count,
      "siblings": siblings.count, "root": samples.root.hex,
    ])
  }
}
