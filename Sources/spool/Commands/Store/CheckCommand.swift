import Intake
import Media
import PipelineEngine
import PipelineModel
import Platform
import Proof
import Receipts
import Stages
import Store

extension Command {
  /// `spool store check`: verifies everything in the store.
  static let check = Command(
    name: "store check", group: "Care",
    summary: "Look whether everything in the store is as it was written.",
    discussion: """
      Every artifact is read and compared with the digest that is its name; every checkpoint with \
      its artifacts, its key and its record; the database with itself; the ledger of receipts with its \
      signed head, by the keys that are known here. Nothing is changed, but damage of originals is remembered: \
      spool status names these recordings. Exports that were moved or edited since are mentioned, \
      and are no damage.

      The exit code is 0 for a sound store, 4 for a damaged one, and 1 where it could not be told: also where \
      no key is known here that signed the ledger.
      """,
    options: [Options.quick, Options.store, Options.keys, Options.json, Options.quiet],
    examples: [
      Example("Read everything", "spool store check"),
      Example("A look that takes no time", "spool store check --quick"),
    ],
    perform: CommandContext.checkStore)
}

extension Options {
  fileprivate static let quick = Option<Bool>.flag(
    "quick", help: "Look at names and lengths only, and read no artifact.")
}

extension CommandContext {
  fileprivate func checkStore() throws(SpoolError) -> ExitCode {
    let stop = console.heed(SignalWatch.begin())
    let meter = readingMeter()
    var options = Inspection.Options.withFaultsOfEncodings
    options.isQuick = arguments[Options.quick]
    let path = storePath
    try requireStore()
    let keys = try keyFolder().knownKeys()
    do throws(SpoolError) {
      var report = try Inspection(of: path, options, stop: stop) { meter.show($0) }.run()
      if report.databaseFault == nil {
        let store = try DiskStore(reading: path)
        let audit = LogAudit(try store.receipts.records(), keys: keys)
        report.receipts = audit.records.entries.receipts.count
        report.add(try audit.damage(in: store))
        store.remember(report)
      }
      meter.clear()
      if report.isSound, report.isTold, report.isThorough { DiskStore.noteCheck(ofStore: path) }
      if isJSON {
        let isSound = report.isSound && report.isTold
        console.print(json: JSONLine(report, adding: ["sound": isSound]))
      } else if !isQuiet || !report.isSound || !report.isTold {
        let lines = FindingList(report.findings, store: namedStore).lines
        console.print(console.completed((lines + summary(report)).joined(separator: "\n")))
      }
      return !report.isSound ? .verificationFailed : report.isTold ? .done : .failed
    } catch {
      meter.clear()
      if let signal = stop.signalNumber { return .interrupted(by: signal) }
      throw error
    }
  }

  private func summary(_ report: InspectionReport) -> [String] {
    let read = report.isThorough ? "read" : "looked at, not read"
    let size = ByteCount(report.artifactBytes)
    let damage = report.findings.filter(\.isDamage)
    let repairable = damage.count { $0.isRepairable }
    let repair = StoreOption(namedStore).completing("spool store repair")
    let looked =
      "\(Count.of(report.artifacts, "artifact")) (\(size)) \(read), "
      + "\(Count.of(report.checkpoints, "checkpoint")), \(Count.of(report.runs, "run")), "
      + "\(Count.of(report.exports, "export")), \(Count.of(report.backups, "backup"))"
      + ((report.receipts ?? 0) == 0 ? "" : ", \(Count.of(report.receipts ?? 0, "receipt"))")
      + (report.unfinished == 0 ? "" : ", \(Count.of(report.unfinished, "unfinished pass"))")
    let verdict =
      if !report.isSound {
        "the store is damaged: \(Count.of(damage.count, "problem"))"
          + (repairable == damage.count
            ? "; \(repair) puts it right"
            : repairable == 0
              ? "; a repair cannot put it right" : "; \(repair) puts \(repairable) of them right")
      } else if !report.isTold {
        "no damage was found, but the ledger of receipts could not be checked"
      } else if report.isThorough {
        "the store is sound"
      } else {
        "nothing is missing, and no length is wrong; no bytes were read"
      }
    let ballast =
      report.ballastBytes > 0 || report.runs == 0
      ? []
      : [
        "no room is kept for spool store gc on a full disk; the next run keeps it where there is plenty"
      ]
    return (report.findings.isEmpty ? [] : [""]) + [looked] + ballast + [verdict]
  }
}

extension LogAudit {
  /// What is wrong with the ledger of receipts, and with what runs say of it.
  func damage(in store: DiskStore) throws(SpoolError) -> [InspectionFinding] {
    let named = Set(findings.map(\.name))
    let missing = missing(from: try store.runs.newest(limit: .max))
      .filter { !named.contains($0.name) }
    // An unknown signer's log is not compared.
    return inspectionFindings
      + (isUntold ? [] : missing).map {
        InspectionFinding(
          log: $0.name, problem: $0.reason,
          advice: "put a backup in its place with spool store restore; without one, keep this "
            + "store as it is, and let what comes go into another (--store)")
      }
  }
}

extension Inspection.Options {
  /// With all cores, and the faults of unfinished encodings, which the store knows nothing of.
  static var withFaultsOfEncodings: Inspection.Options {
    var options = Inspection.Options()
    options.threadCount = CoreCount.online
    options.workFault = {
      EncodingWork.fault(in: $0, notes: $1).map { ($0.path, $0.problem) }
    }
    return options
  }
}
