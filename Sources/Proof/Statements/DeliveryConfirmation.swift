package import Platform

/// What a destination has confirmed of a run's files: a signed addition to the run's receipt.
///
/// It is an in-toto statement in an envelope of its own. The article Confirmations describes its form.
package struct DeliveryConfirmation: Hashable, Sendable {
  /// The predicate's type and version.
  package static let predicateType = "urn:spool:delivery:v1"
  /// What stands in a confirmation's name between its receipt's stem and the destination.
  package static let mark = ".delivered-"

  /// The statement to be signed.
  package let json: JSONValue

  /// The receipt that it belongs to.
  package struct SignedReceipt: Hashable, Sendable, Codable {
    /// Its path from the confirmation's folder: it lies there too, or in the payload of the bag that is
    /// that folder.
    package let name: String
    /// The SHA-256 of its bytes in hexadecimal digits.
    package let sha256: String
    /// When the last export was in place, as the receipt says; nil if it says nothing.
    package let finishedAt: String?

    /// A receipt as it is now; nil if there is none.
    /// - Parameters:
    ///   - path: absolute.
    ///   - isInBag: whether it lies in the payload of a bag, which is sealed before anything is
    ///     delivered.
    package init?(at path: String, isInBag: Bool) {
      guard let file = ReceiptFile(at: path) else { return nil }
      let own = ReceiptSearch.name(of: path)
      name = isInBag ? "\(Bag.payloadFolder)/\(own)" : own
      sha256 = file.digest.hex
      finishedAt = file.finishedAt
    }

    fileprivate init(name: String, sha256: String, finishedAt: String?) {
      (self.name, self.sha256, self.finishedAt) = (name, sha256, finishedAt)
    }

    /// The name of its confirmation, without folders: `walk.delivered-nas.json`.
    package func confirmation(by destination: String) -> String {
      stem + DeliveryConfirmation.mark + destination + ".json"
    }

    /// Its name, without folders and the endings of receipts.
    private var stem: String {
      ReceiptSearch.name(of: name).withoutEnding(ReceiptSearch.ending)
    }
  }

  /// A file that the destination has given back.
  package struct File: Hashable, Sendable {
    /// Its path below the destination.
    let path: String
    /// The SHA-256 of its bytes.
    let digest: Digest
    let byteCount: Int
    /// When they were read, in seconds since 1970.
    let confirmedAt: Double
    /// The server's own identifier of it; nil if it has none.
    let identifier: String?

    package init(
      path: String, digest: Digest, byteCount: Int, confirmedAt: Double, identifier: String?
    ) {
      self.path = path
      self.digest = digest
      self.byteCount = byteCount
      self.confirmedAt = confirmedAt
      self.identifier = identifier
    }
  }

  /// - Parameters:
  ///   - destination: its name.
  ///   - path: where the confirmation itself is to lie there.
  ///   - files: at least one.
  package init(
    of files: [File], by destination: String, at path: String, for receipt: SignedReceipt
  ) {
    let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? ""
    json = .object([
      "_type": .text(Receipt.statementType),
      "predicateType": .text(Self.predicateType),
      "subject": .list(
        files.map { file in
          .object([
            "name": .text(file.path), "digest": .object(["sha256": .text(file.digest.hex)]),
            "annotations": .object(leavingOut: [
              "byteCount": .integer(file.byteCount),
              "confirmedAt": .text(DateTime.text(of: file.confirmedAt)),
              "identifier": file.identifier.map { .text($0) },
            ]),
          ])
        }),
      "predicate": .object([
        "destination": .text(destination), "folder": .text(folder),
        "receipt": .object(leavingOut: [
          "name": .text(receipt.name), "digest": .object(["sha256": .text(receipt.sha256)]),
          "finishedAt": receipt.finishedAt.map { .text($0) },
        ]),
      ]),
    ])
  }

  /// What a file says, unverified; nil if it is no confirmation.
  package init?(unverified bytes: [UInt8]) {
    guard let envelope = try? Envelope(bytes),
      let statement = try? JSONReader.signedValue(of: envelope.payload),
      ReceiptForm.confirmation.flaw(in: statement) == nil
    else { return nil }
    json = statement
  }

  /// The receipt that it belongs to; nil if it names none.
  package var receipt: SignedReceipt? {
    guard let receipt = json["predicate"]?["receipt"], let name = receipt["name"]?.text,
      let digest = receipt["digest"]?["sha256"]?.text
    else { return nil }
    return SignedReceipt(name: name, sha256: digest, finishedAt: receipt["finishedAt"]?.text)
  }

  /// The path that it has where its receipt has this one; nil if that is not the receipt's name.
  package func path(besideReceiptAt path: String) -> String? {
    guard let receipt, let destination = json["predicate"]?["destination"]?.text,
      !destination.contains("/"),
      "/\(path)".utf8.suffix(receipt.name.utf8.count + 1).elementsEqual("/\(receipt.name)".utf8)
    else { return nil }
    let folder = String(decoding: path.utf8.dropLast(receipt.name.utf8.count), as: UTF8.self)
    return folder + receipt.confirmation(by: destination)
  }

  /// The signed envelope.
  package func signed(by key: SigningKey) -> Envelope { Envelope(json.bytes, signedBy: key) }
}

/// Its form.
extension DeliveryConfirmation {
  /// The statement's JSON Schema, draft 2020-12.
  package static var schema: JSONValue {
    ReceiptForm.schema(
      of: ReceiptForm.confirmation, predicateType, called: "confirmation", article: "Confirmations")
  }
}

extension ReceiptForm {
  /// The form of a confirmation's statement.
  static let confirmation = JSONForm.object([
    member("_type", .constant(Receipt.statementType)),
    member("predicateType", .constant(DeliveryConfirmation.predicateType)),
    member(
      "subject",
      .list(
        .object([
          member("name", name, "The file's path below the destination."),
          member("digest", digestSet),
          member(
            "annotations",
            .object([
              member("byteCount", .integer(least: 0)),
              member("confirmedAt", .time, "When its bytes were read back from there."),
              optional("identifier", name, "The server's own identifier of it."),
            ])),
        ]), least: 1), "What the destination has given back."),
    member(
      "predicate",
      .object([
        member("destination", name, "Its name in destinations.yaml."),
        member(
          "folder", .text(canBeEmpty: true),
          "The folder below the destination in which the confirmation itself was put."),
        member(
          "receipt",
          .object([
            member("name", name, "Its path from the confirmation's folder."),
            member("digest", digestSet, "Of the receipt's bytes."),
            optional("finishedAt", name, "When the last export was in place, as the receipt says."),
          ])),
      ])),
  ])
}
