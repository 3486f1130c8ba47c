package import PipelineModel
package import Platform
import Proof

extension TimeStampAuthority {
  /// The authorities of a pipeline, validated offline.
  /// - Parameter wanted: the addresses, and the absolute paths of the certificates.
  package static func checked(
    _ wanted: [(url: String, certificates: String)]
  ) throws(SpoolError) -> [TimeStampAuthority] {
    var seen: Set<String> = []
    for (url, certificates) in wanted {
      if let flaw = flaw(of: url) {
        throw SpoolError(
          "cannot ask the time stamping authority \(url)", reason: flaw,
          advice: "an address as http://tsa.example.org/tsr")
      }
      guard seen.insert(url).inserted else {
        throw SpoolError(
          "the time stamping authority \(url) is named twice",
          advice: "one entry for each authority")
      }
      do throws(SpoolError) { _ = try TrustedCertificates(at: certificates) } catch {
        throw SpoolError(
          error.message, reason: error.reason,
          advice: error.advice ?? "a file of PEM certificates; its path starts from the pipeline's")
      }
    }
    return wanted.map { TimeStampAuthority(url: $0.url, certificates: $0.certificates) }
  }

  /// What is wrong with an address; nil for `http` and `https`.
  private static func flaw(of url: String) -> String? {
    guard let scheme = ["http://", "https://"].first(where: { url.lowercased().hasPrefix($0) })
    else { return "it does not begin with http:// or https://" }
    guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      return "it has a space or a letter that is not ASCII"
    }
    let host = url.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
    if host.contains("@") { return "a password has no place in it: pipelines are passed on" }
    return host.isEmpty || host.hasPrefix(":") ? "it names no machine" : nil
  }
}
