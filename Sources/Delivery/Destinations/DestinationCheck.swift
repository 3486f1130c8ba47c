package import Platform
package import Store

/// What was found when a destination was tried for real, with a file that was removed afterwards.
package struct DestinationCheck: Sendable {
  package enum Step: String, CaseIterable, Sendable {
    /// The secrets were read, the server was reached, and the folder is there.
    case connect
    /// A file was written, read back, compared and given its name.
    case deliver
    /// It was found under its name, and read back.
    case confirm
    /// It was removed. A destination that forbids it keeps the file: that is no fault.
    case remove
    /// What lies there was listed, which bringing everything back needs, and delivering does not.
    case list
  }

  /// The steps that were taken, in order, each with what went wrong.
  package private(set) var steps: [(step: Step, error: SpoolError?)] = []
  /// Seconds by which the destination's clock is ahead; nil if unknown. Accurate to about a second, and
  /// late by what the delivery took.
  package private(set) var clockDifference: Double?
  /// The bytes that can still be stored; nil if the destination does not say it.
  package private(set) var freeByteCount: Int?
  /// The file that could not be removed.
  package private(set) var remainder: RemotePath?

  /// Whether files can be delivered.
  package var isGood: Bool {
    steps.allSatisfy { $0.error == nil || [.remove, .list].contains($0.step) }
  }

  /// Why nothing can be brought back that no store knows; nil if it can, or nothing can be delivered.
  package var listTrouble: SpoolError? { steps.first { $0.step == .list }?.error }

  /// Tries a destination. Blocks.
  /// - Parameters:
  ///   - environment: for the secrets and for programs.
  ///   - folder: where the file for it can be made.
  ///   - queue: says what was delivered there; nil if nothing knows it.
  ///   - mayGoOn: called at least once a second; false ends it.
  package init(
    _ destination: Destination, _ environment: [String: String], in folder: String,
    delivered queue: DeliveryQueue? = nil, mayGoOn: () -> Bool = { true }
  ) {
    do throws(SpoolError) {
      if let queue { try destination.requireMounted(queue) }
      var transport = try destination.connect(environment)
      _ = try transport.find(RemotePath.probe(UploadState().token))
      steps.append((.connect, nil))
      try deliver(to: destination, with: &transport, environment, in: folder, mayGoOn)
      if isGood { steps.append((.list, Self.listTrouble(of: &transport, mayGoOn))) }
    } catch {
      steps.append((.connect, error))
    }
  }

  /// Lists up to the first file.
  private static func listTrouble(
    of transport: inout any Transport & ~Copyable, _ mayGoOn: () -> Bool
  ) -> SpoolError? {
    do throws(SpoolError) {
      try transport.list(mayGoOn: mayGoOn) { _ throws(SpoolError) in throw .cancelled }
    } catch {
      return error.cause == .cancelled ? nil : error
    }
    return nil
  }

  private mutating func deliver(
    to destination: Destination, with transport: inout any Transport & ~Copyable,
    _ environment: [String: String], in folder: String, _ mayGoOn: () -> Bool
  ) throws(SpoolError) {
    let path = RemotePath.probe(UploadState().token)
    let text = "This file, \(path), tests a destination. It can be removed.\n"
    var state: UploadState?
    let local = "\(folder)/\(path)"
    let (files, bytes) = (FileOperations.uncounted, Array(text.utf8))
    try doing("write", local) { () throws(SystemError) in
      try files.replace(local, with: bytes, draft: local + ".new", mode: 0o600)
    }
    defer { try? files.unlinkIfThere(local) }
    var (sent, byteCount, digest) = (local, bytes.count, SHA256.digest(of: bytes))
    if let encryption = destination.encryption {
      sent += Encryption.ending
      let copy = try encryption.encrypt(local, to: sent, environment, mayGoOn: mayGoOn)
      (byteCount, digest) = (copy.byteCount, copy.digest)
    }
    defer { try? files.unlinkIfThere(sent) }
    let file = try OutgoingFile(sent, digest: digest, contentType: "text/plain")
    let start = Double(Clock.now()) / 1e9
    do throws(SpoolError) {
      let sent = try transport.send(file, to: path, from: nil, note: { state = $0 }) { _ in
        mayGoOn()
      }
      steps.append((.deliver, nil))
      // Half of the time that it took is the best guess of when it was written.
      let end = Double(Clock.now()) / 1e9
      clockDifference = sent.modified.map { $0 - (start + end) / 2 }
    } catch {
      steps.append((.deliver, error))
      if let state, !destination.isAppendOnly { try? transport.discard(state, of: path) }
      return
    }
    do throws(SpoolError) {
      let found = try transport.confirm(
        path, byteCount: byteCount, digest: digest, mayGoOn: mayGoOn)
      let missing = SpoolError(
        "find", path.description, reason: "the destination has it no more", cause: .environment)
      steps.append((.confirm, found == nil ? missing : nil))
      freeByteCount = try transport.freeByteCount()
    } catch {
      steps.append((.confirm, error))
    }
    if destination.isAppendOnly {
      remainder = path
      return
    }
    do throws(SpoolError) {
      try transport.removeProbe(path)
      steps.append((.remove, nil))
    } catch {
      steps.append((.remove, error))
      remainder = path
    }
  }
}
