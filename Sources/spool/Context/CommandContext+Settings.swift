import PipelineEngine
import PipelineModel
import Platform
import Proof
import Receipts
import Store

/// The user's settings, and the collection that runs by itself.
extension CommandContext {
  /// Where settings are looked for, in this order: `$XDG_CONFIG_HOME/spool/config.yaml`, else
  /// `~/.config/spool/config.yaml`; then `/etc/spool/config.yaml`.
  static func settingsPaths(_ environment: [String: String]) -> [String] {
    // The specification requires relative paths to be ignored.
    let folder =
      environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
      ?? environment["HOME"].flatMap { $0.isEmpty ? nil : $0 + "/.config" }
    return [folder, "/etc"].compactMap { $0.map { $0 + "/spool/config.yaml" } }
  }

  /// What the settings file says, or the defaults without one.
  /// - Parameter named: the path of `--config`; else `SPOOL_CONFIG` counts.
  func settings(named: String? = nil) throws(SpoolError) -> SettingsDefinition {
    let variable = Environment.variables["SPOOL_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
    let found = Self.settingsPaths(Environment.variables).first { FilePath.exists($0) }
    guard let path = named ?? variable ?? found else { return SettingsDefinition() }
    if named ?? variable != nil { try requireThere(path) }
    let text = try TextFile.read("the settings", path)
    let parsed = ParsedSettings(text)
    guard parsed.problems.isEmpty else { throw refusal(parsed.problems, in: text, at: path) }
    return parsed.definition
  }

  /// Frees what the settings allow, at most once a day for each store. For the end of a command,
  /// after its result was shown.
  /// - Parameters:
  ///   - shouldStop: whether to leave the rest for the next time.
  ///   - tell: shows what was freed; nil for an event or a note.
  func collectIfDue(
    in store: DiskStore, shouldStop: () -> Bool, tell: ((CollectionReport) -> Void)? = nil
  ) {
    do throws(SpoolError) {
      let settings = try settings()
      guard settings.isAutomatic,
        let report = try store.collectIfDue(CollectionPolicy(settings), shouldStop: shouldStop),
        report.freedBytes > 0
      else { return }
      if let tell {
        tell(report)
      } else if isJSON {
        console.print(json: report.event)
      } else if !isQuiet {
        console.report("note: \(report.summary)")
      }
    } catch {
      // The command itself succeeded.
      let cause =
        error.kind == .invalid
        ? "\(error.message); spool store gc --dry-run shows it" : error.account
      console.report("note: nothing was freed in the store: \(Format.visible(cause))")
    }
  }
}

extension CollectionReport {
  /// The event of a collection that ran by itself.
  var event: JSONLine {
    JSONLine("collected", ["freedBytes": freedBytes, "keptBytes": keptBytes])
  }

  /// `freed 3.1 MB in the store, which no recent run needs`.
  var summary: String { "freed \(ByteCount(freedBytes)) in the store, which no recent run needs" }
}

extension CollectionPolicy {
  /// As the settings say.
  init(_ settings: SettingsDefinition) {
    self.init()
    age = settings.soundAge
    limit = settings.size
  }
}

// MARK: Keys

extension CommandContext {
  /// The folder of the keys for receipts. It asks for a passphrase at most once.
  /// - Parameter store: the store of the receipts, if it is not that of the command line.
  func keyFolder(of store: String? = nil) -> KeyFolder {
    let signing = signing
    let path = KeyFolder.locate(
      option: signing?.folder, environment: Environment.variables, store: store ?? storePath)
    let file = named(Options.passphraseFile) ?? signing?.passphraseFile
    return KeyFolder(absolute(path), passphrases: PassphraseProvider(file: file))
  }

  /// Signs confirmations with the keys that the command line names, else with those of the run that each
  /// belongs to, if they are still there, else with those of the store.
  /// - Parameter receipts: signs this command's receipts with a key that is open: its passphrase is not
  ///   asked for again.
  func confirmationWriter(
    for store: DiskStore, besides receipts: SignedReceiptWriter? = nil
  ) -> ConfirmationWriter {
    let context = self
    return ConfirmationWriter(store) { signing, mayAsk in
      let own = signing.map(context.remembering) ?? context
      let path = KeyFolder.locate(
        option: own.signing?.folder, environment: Environment.variables, store: store.path)
      if let receipts, receipts.keys.path == context.absolute(path) { return receipts.keys }
      let file = own.named(Options.passphraseFile) ?? own.signing?.passphraseFile
      return KeyFolder(
        context.absolute(path), passphrases: PassphraseProvider(file: file, mayAsk: mayAsk))
    }
  }

  func receiptWriter(for store: DiskStore) -> SignedReceiptWriter {
    SignedReceiptWriter(keys: keyFolder(of: store.path), store: store, version: Spool.version)
  }

  /// The keys as the command line names them, else as the run that goes on had them, if they are still
  /// there, else as the environment does. Nil if none is named.
  var signing: RunRequest.Signing? {
    let earlier = earlierSigning?.folder.flatMap { FilePath.exists($0) ? $0 : nil }
    let named = [named(Options.keys), earlier, Environment.variables["SPOOL_KEYS"]]
    let files = [self.named(Options.passphraseFile), earlierSigning?.passphraseFile]
    // An open descriptor is its process's own.
    let file = files.lazy.compactMap(\.self).first {
      (try? FileStamp(following: $0))?.isRegularFile == true
    }
    return RunRequest.Signing(
      folder: named.lazy.compactMap(\.self).first { !$0.isEmpty }.map(ResolvedPath.asTyped),
      passphraseFile: file.map(ResolvedPath.asTyped))
  }
}
