import Glibc
import Hashing
import PipelineEngine
import PipelineModel
import Proof

/// Where one receipt is made: turns what the engine knows into what a receipt says, and puts files
/// into the user's folder.
struct ReceiptDesk {
  let testimony: Testimony

  /// Where it puts files.
  private let folder: String

  /// - Parameter folder: where it puts files, if that is not where the run's are.
  init(_ testimony: Testimony, in folder: String? = nil) {
    self.testimony = testimony
    self.folder = folder ?? testimony.folder
  }

  /// What the public key is called in the folder: `spool.pub`, unless another key has that name.
  func keyName(for key: VerifyingKey) -> String {
    let usual = "spool.pub"
    let path = folder + "/" + usual
    guard unsafe access(path, F_OK) == 0,
      let other = try? testimony.custody.digest(ofFile: path),
      other != SHA256.digest(of: key.pem)
    else { return usual }
    return "spool-\(key.id.hex.prefix(8)).pub"
  }

  /// Puts a text into the user's folder.
  func publish(_ text: String, as name: String) throws(StageError) -> PublishedFile {
    try publish(text, as: name, of: testimony.recording)
  }

  /// Puts a text into the user's folder, made of a recording or of none.
  func publish(
    _ text: String, as name: String, of recording: RecordingIdentity?
  ) throws(StageError) -> PublishedFile {
    let digest = SHA256.digest(of: text)
    return try testimony.custody.deliver(
      digest, digest: digest, to: folder + "/" + name, of: recording, step: testimony.step,
      isReplacing: testimony.isReplacing
    ) { (temporary) throws(StageError) in
      try Self.write(Array(text.utf8), to: temporary)
      return nil
    }
  }

  /// Makes sure that a text can be put into the user's folder, as far as that can be told before.
  func checkPlace(of text: String, as name: String) throws(StageError) {
    let path = folder + "/" + name
    let custody = testimony.custody
    guard !testimony.isReplacing else { return }
    if custody.isForeign(path, to: SHA256.digest(of: text)) { throw ReceiptWitness.isForeign(path) }
    guard custody.byteCount(ofPublished: path) != nil, let own = testimony.recording,
      let other = try? custody.recording(ofPublished: path), !own.isSameRecording(as: other),
      !custody.isSameFile(own.path, other.path)
    else { return }
    throw StageError(path, holds: other, not: own)
  }

  /// Fills a file that is there.
  static func write(_ bytes: [UInt8], to path: String) throws(StageError) {
    let file = unsafe open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
    guard file >= 0 else { throw failure(path) }
    defer { close(file) }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure(path) }
      rest = rest.dropFirst(count)
    }
  }

  private static func failure(_ path: String) -> StageError {
    let code = errno
    return StageError(
      "cannot write \(path)", reason: unsafe String(cString: strerror(code)),
      cause: code == ENOSPC || code == EDQUOT ? .fullDisk : .environment)
  }
}
