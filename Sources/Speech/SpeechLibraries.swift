import CSpeechLoader

/// The opening of the speech libraries, which every other use of them comes after.
enum SpeechLibraries {
  /// Opens libpocketsphinx; costs next to nothing after the first time.
  static func openSphinx() throws(SpeechError) {
    unsafe try open("libpocketsphinx", package: "libpocketsphinx3", unsafe spool_sphinx_load)
  }

  /// Opens libespeak-ng; costs next to nothing after the first time.
  static func openEspeak() throws(SpeechError) {
    unsafe try open("libespeak-ng", package: "libespeak-ng1", unsafe spool_espeak_load)
  }

  /// Opens libespeak-ng anew, so that it has said nothing yet. It must have been made ready, and
  /// must be made ready again; nothing else may use it meanwhile.
  static func reopenEspeak() throws(SpeechError) {
    unsafe try open("libespeak-ng", package: "libespeak-ng1", unsafe spool_espeak_reopen)
  }

  private static func open(
    _ name: String, package: String, _ load: (UnsafeMutablePointer<CChar>?, Int) -> Int32
  ) throws(SpeechError) {
    var reason = [CChar](repeating: 0, count: 256)
    let status = unsafe reason.withUnsafeMutableBufferPointer {
      unsafe load($0.baseAddress, $0.count)
    }
    guard status != 0 else { return }
    let text = String(
      decoding: reason.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    throw SpeechError(.library, on: name, why: "\(text); apt install \(package)")
  }
}
