import CEspeak
import CSpeechLoader
import Platform

/// Opens the speech libraries and tells their versions. Every use of a library opens it first.
package enum SpeechLibraries {
  /// The version of libespeak-ng, as `espeak-ng --version` prints it; nil where it cannot be opened.
  package static let espeakVersion: String? = Espeak.withLibrary {
    guard (try? openEspeak()) != nil, let text = unsafe espeak_Info(nil) else { return nil }
    return unsafe String(cString: text)
  }

  /// The version of libpocketsphinx, which has no function for it: the upstream version of Debian's
  /// package, or of a library that no package installed the SHA-256 of its file; nil where the library
  /// cannot be opened.
  package static let sphinxVersion: String? = {
    var path = [CChar](repeating: 0, count: 4097)
    let status = unsafe path.withUnsafeMutableBufferPointer {
      unsafe spool_sphinx_path($0.baseAddress, $0.count)
    }
    guard status == 0 else { return nil }
    let text = String(decoding: path.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    if text.hasPrefix("/usr/lib/"), var file = try? ModelBytes(of: "/var/lib/dpkg/status"),
      let packages = try? file.rest(),
      let version = upstreamVersion(of: sphinxPackage, in: packages)
    {
      return version
    }
    guard var file = try? ModelBytes(of: text), let bytes = try? file.rest() else { return nil }
    return "sha256 \(SHA256.digest(of: Array(bytes)).short)"
  }()

  private static let sphinxPackage = "libpocketsphinx3"
  private static let espeakPackage = "libespeak-ng1"

  /// The upstream version of a package in dpkg's status file: without the epoch, Debian's revision, and
  /// the number of Debian's repacking (`0.8+5prealpha+1-15` is `0.8+5prealpha`).
  ///
  /// Complexity: O(*n*) in the length of the file.
  static func upstreamVersion(of package: String, in status: ArraySlice<UInt8>) -> String? {
    let key = Array("Version: ".utf8)
    var isFound = false
    for line in status.split(separator: UInt8(ascii: "\n")) {
      if line.starts(with: "Package: ".utf8) {
        isFound = line.elementsEqual("Package: \(package)".utf8)
      } else if isFound, line.starts(with: key) {
        var version = String(decoding: line.dropFirst(key.count), as: UTF8.self)[...]
        if let colon = version.firstIndex(of: ":") { version = version[colon...].dropFirst() }
        if let dash = version.lastIndex(of: "-") { version = version[..<dash] }
        if let plus = version.lastIndex(of: "+"),
          version[plus...].dropFirst().allSatisfy(\.isNumber)
        {
          version = version[..<plus]
        }
        return String(version)
      }
    }
    return nil
  }

  /// Opens libpocketsphinx. Costs next to nothing after the first time.
  static func openSphinx() throws(SpoolError) {
    unsafe try open("libpocketsphinx", package: sphinxPackage, unsafe spool_sphinx_load)
  }

  /// Opens libespeak-ng. Costs next to nothing after the first time.
  static func openEspeak() throws(SpoolError) {
    unsafe try open("libespeak-ng", package: espeakPackage, unsafe spool_espeak_load)
  }

  /// Closes and reopens libespeak-ng, which discards its state. It must have been initialised, and must
  /// be initialised again; no other thread may use it meanwhile.
  static func reopenEspeak() throws(SpoolError) {
    unsafe try open("libespeak-ng", package: espeakPackage, unsafe spool_espeak_reopen)
  }

  private static func open(
    _ name: String, package: String, _ load: (UnsafeMutablePointer<CChar>?, Int) -> Int32
  ) throws(SpoolError) {
    var reason = [CChar](repeating: 0, count: 256)
    let status = unsafe reason.withUnsafeMutableBufferPointer {
      unsafe load($0.baseAddress, $0.count)
    }
    guard status != 0 else { return }
    let text = String(
      decoding: reason.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    throw SpoolError(
      "cannot use \(name)", reason: "\(text); apt install \(package)", cause: .environment)
  }
}
