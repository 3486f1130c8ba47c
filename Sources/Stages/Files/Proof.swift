import PipelineModel
import Platform
import Proof
import Receipts

/// `proof`: a signed receipt of the whole run, beside the exports.
private struct ProofStage: DeclaredStage, WholeStage, PublishingStage {
  struct Parameters: Codable, Sendable {
    let name: String
    let place: ReceiptNames.Place
    let script: Bool
    let bag: Bool
    let organization: String?
    let authorities: [Authority]?

    struct Authority: Codable, Sendable {
      let url: String
      let certificates: String
    }
  }

  static let descriptor = StageDescriptor(
    kind: "proof", revision: 1,
    summary: "Write a signed receipt of what was taken, done and given",
    discussion: """
      When every export is in the output folder, a receipt is laid beside them: an in-toto statement \
      in a DSSE envelope, signed with the key that spool proof key show names, and the public key. With \
      them come the list for sha256sum -c, and a shell script that checks everything with sha256sum \
      and openssl alone; script: false leaves these two out. spool verify checks all of it, and says \
      which file or stage is not as it was. A receipt that is there and says the same stays as it is. \
      It vouches for what was done, and not for what the recording itself shows.

      With place: folder, receipts and what belongs to them lie in the folder receipts of the output \
      folder, which then holds nothing else but exports.

      With bag: true, all files of the run go into a folder of their own, called as the receipt is: \
      a BagIt bag (RFC 8493), with the exports and the receipt in its data/, a digest of every file \
      in manifest-sha256.txt, and bagit.txt, which is there only while all else is whole.

      authorities are asked to vouch for the time of the receipt (RFC 3161). The run does not wait for \
      them: what they have not answered when it ends is asked again later, by the next run, by a \
      watch, or by spool proof stamp. The answer is laid beside the receipt.
      """,
    flow: .whole,
    inputs: [],
    outputs: [],
    parameters: [
      ParameterDescriptor(
        "name", .fileName(fields: ["stem"]), .defaulted("{stem}"),
        "the receipt's name, and the bag's; {stem} is the recording's", isInKey: false),
      ParameterDescriptor(
        "place", .choice(ReceiptNames.Place.allCases.map(\.rawValue)), .defaulted("beside"),
        "whether the receipt lies beside the exports, or in a folder receipts there",
        isInKey: false),
      ParameterDescriptor(
        "script", .flag, .defaulted("true"),
        "whether a list of checksums and a script that needs no Spool are written, too",
        isInKey: false),
      ParameterDescriptor(
        "bag", .flag, .defaulted("false"), "whether the files go into a BagIt bag of their own",
        isInKey: false),
      ParameterDescriptor(
        "organization", .text(maximumLength: 200), .optional,
        "who answers for a bag: its Source-Organization", isInKey: false),
      ParameterDescriptor(
        "authorities",
        .list(
          of: .group([
            ParameterDescriptor(
              "url", .text(maximumLength: 2000), .required, "where it is asked, http or https"),
            ParameterDescriptor(
              "certificates", .path, .required, "a PEM file of the certificates that are trusted"),
          ]), count: 1...TimeStampNames.maximumCount), .optional,
        "who is to vouch for the receipt's time", isInKey: false),
    ],
    shorthand: "name")

  private let name: String
  private let place: ReceiptNames.Place
  private let hasScript: Bool
  private let isBag: Bool
  private let organization: String?
  private let authorities: [TimeStampAuthority]

  init(_ parameters: Parameters) throws(SpoolError) {
    name = parameters.name
    place = parameters.place
    hasScript = parameters.script
    isBag = parameters.bag
    organization = parameters.organization
    authorities = try TimeStampAuthority.checked(
      (parameters.authorities ?? []).map { ($0.url, $0.certificates) })
    guard isBag || organization == nil else {
      throw SpoolError(
        "organization is written into a bag, and there is none", advice: "add bag: true")
    }
    guard !isBag || place == .beside else {
      throw SpoolError(
        "a bag has folders of its own", reason: "place: folder is for receipts outside a bag",
        advice: "leave out place, or bag")
    }
  }

  /// There is nothing to work on before all else is done.
  func run(_ context: StageContext) -> [PortName: StepOutput] { [:] }

  func fileNames(of step: StepID, recordings: [String]) -> [String] {
    ReceiptNames(
      stem: ExportName.fill(name, recording: recordings.first), in: place, hasScript: hasScript
    ).all
  }

  var receipt: ReceiptRequest? {
    ReceiptRequest(authorities: authorities) { enclosure(recordings: $0) }
  }

  private func enclosure(recordings: [String]) -> ReceiptRequest.Enclosure? {
    guard isBag else { return nil }
    return ReceiptRequest.Enclosure(
      folder: ExportName.fill(name, recording: recordings.first), content: Bag.payloadFolder,
      seal: Bag.declarationName,
      labels: organization.map { ["Source-Organization": $0] } ?? [:])
  }

  /// The receipt is written by the run's receipt writer, when it is known what all stages
  /// published.
  func publish(_ context: PublishingContext) -> [PublishedFile] { [] }
}

extension StageRegistration { static let proof = StageRegistration(ProofStage.self) }
