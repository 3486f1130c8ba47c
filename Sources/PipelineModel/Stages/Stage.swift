import FoundationEssentials
package import Platform

/// A stage with its parameters: a pure function of its inputs.
///
/// A type conforms to a refinement that defines how it runs: `WholeStage`, or a family's stage
/// protocol.
package protocol Stage: Sendable {
  /// How it treats a batch as an album; nil for a stage that treats each recording by itself.
  var album: AlbumAnalysis? { get }
  /// The receipt of the whole run that it asks for; nil for a stage that asks for none.
  var receipt: ReceiptRequest? { get }
  /// What it asks to have delivered of the whole run; nil for a stage that asks for nothing.
  var delivery: DeliveryRequest? { get }
  /// The input whose words it writes for people, as far as they were corrected: the run then gives them
  /// at the port `corrected` too. Nil for a stage that takes what it is given.
  var correctedInput: PortName? { get }
  /// Whether the same input always gives the same. What another one gives is kept in the store, and a
  /// pass with it is never resumed.
  var isRepeatable: Bool { get }
}

extension Stage {
  package var album: AlbumAnalysis? { nil }
  package var receipt: ReceiptRequest? { nil }
  package var delivery: DeliveryRequest? { nil }
  package var correctedInput: PortName? { nil }
  package var isRepeatable: Bool { true }
}

/// A stage kind as a Swift type.
package protocol DeclaredStage: Stage {
  /// Decoded from the resolved values: camel-case names, base units.
  associatedtype Parameters: Codable & Sendable
  static var descriptor: StageDescriptor { get }
  /// The versions of the libraries whose output can differ, which are part of every key.
  static var libraries: [String: String] { get }
  /// Validates relations between parameters; does no other work.
  init(_ parameters: Parameters) throws(SpoolError)
}

extension DeclaredStage {
  package static var libraries: [String: String] { [:] }
}

/// A stage whose libraries' versions depend on its parameters: a plugin's.
package protocol VersionedStage: Stage {
  /// Versions that are part of its keys, besides those of its kind.
  var libraries: [String: String] { get }
}

/// A stage that needs more of the machine than Spool installs: a program, a package, a file.
package protocol EquippedStage: Stage {
  /// Checks for it before a run begins.
  /// - Throws: what is missing, and how to get it.
  func checkEquipment() throws(SpoolError)
}

/// A stage that cannot work with all sources that its ports take.
package protocol ConnectedStage: Stage {
  /// Checks what its sources are, before a run begins.
  /// - Parameters:
  ///   - sources: by port, or by the place in a port's list.
  ///   - above: a step above; nil where it is not known, which is no flaw here.
  func checkSources(
    _ sources: [PortName: StepSource], above: (StepID) -> BoundStep?
  ) throws(SpoolError)
}

/// A stage that reads finished artifacts and writes finished artifacts.
package protocol WholeStage: Stage {
  func run(_ context: StageContext) throws(SpoolError) -> [PortName: StepOutput]
}

/// A stage that states what must hold of its inputs. Its verdict is asked for in every run, on outputs
/// of this run or an earlier one, as soon as they are there.
package protocol JudgingStage: Stage {
  /// Whether its verdict can end a run, so that nothing is published before it.
  var canFail: Bool { get }
  /// What its outputs hold against the run; nil if nothing.
  func verdict(
    on outputs: [PortName: StepOutput], in store: any ArtifactStore
  ) throws(SpoolError) -> Verdict?
}

/// What follows where something does not hold.
package enum Verdict: Hashable, Sendable {
  /// The run goes on, and tells of it.
  case warning(String)
  /// The run fails.
  case failure(SpoolError)
  /// The run fails, unless a person has accepted the recording as it is.
  case quarantine(SpoolError)
}

/// A stage that publishes files to the user's folder once its outputs exist, from this run or an
/// earlier one. Names and tags are in no key.
package protocol PublishingStage: Stage {
  /// The names of the files that `publish` will write to the output folder.
  /// - Parameter recordings: their source recordings, nearest first.
  func fileNames(of step: StepID, recordings: [String]) -> [String]
  /// All possible names of published files, if they depend on the sound: no other step of the same
  /// run may use them. Many, so call this once per run.
  func conceivableFileNames(of step: StepID, recordings: [String]) -> [String]
  /// Files of the user that become part of the published ones, by their paths: a cover.
  var attachments: [String] { get }
  /// Whether a file of one of these names may be an export of this stage, as far as its first bytes tell.
  func mayHaveWritten(_ name: String, beginning: [UInt8]) -> Bool
  /// Whether `publish` leaves alone what others wrote in the place of a file, and what the run reads:
  /// its own file then gets another name beside it, and nothing stops the run.
  var stepsAside: Bool { get }
  /// Reads what `publish` will need of the recordings, before the work begins: files are published
  /// during the work, when memory is scarce. Errors are left to `publish`.
  func preparePublishing(of recordings: [SourceFile])
  /// Writes files to the run's output folder.
  func publish(_ context: PublishingContext) throws(SpoolError) -> [PublishedFile]
}

extension PublishingStage {
  package func conceivableFileNames(of step: StepID, recordings: [String]) -> [String] {
    fileNames(of: step, recordings: recordings)
  }

  package var attachments: [String] { [] }
  package func mayHaveWritten(_ name: String, beginning: [UInt8]) -> Bool { true }
  package var stepsAside: Bool { false }

  package func preparePublishing(of recordings: [SourceFile]) {}
}

/// A receipt of the whole run, written after everything else is in the user's folder. The file names
/// of the stage that asks for it are those of the receipt and its companions.
package struct ReceiptRequest: Sendable {
  /// The authorities for the receipt's time stamp.
  package let authorities: [TimeStampAuthority]
  /// The own folder for all files of the run; nil for the output folder. The recordings are given as
  /// for `fileNames`.
  package let enclosure: @Sendable (_ recordings: [String]) -> Enclosure?

  package init(
    authorities: [TimeStampAuthority] = [],
    enclosure: @escaping @Sendable ([String]) -> Enclosure? = { _ in nil }
  ) {
    self.authorities = authorities
    self.enclosure = enclosure
  }
}

/// All that a running stage may use.
package struct StageContext: Sendable {
  package let step: StepID
  /// By port.
  package let inputs: [PortName: StepOutput]
  /// The input files, by port.
  package let files: [PortName: SourceFile]
  package let store: any ArtifactStore
  /// Records the stage's progress for resumption after a crash.
  package let journal: Journal
  /// Throws when the stage has to stop, for the user or its `timeout`; called at least once a second,
  /// except within work that cannot be left off.
  package let check: @Sendable () throws(SpoolError) -> Void
  /// Reports progress, from 0 to 1.
  package let reportProgress: @Sendable (Double) -> Void
  /// Reports a problem that does not end the work.
  package let warn: @Sendable (String) -> Void

  package init(
    step: StepID, inputs: [PortName: StepOutput], files: [PortName: SourceFile] = [:],
    store: any ArtifactStore, journal: Journal,
    check: @escaping @Sendable () throws(SpoolError) -> Void,
    reportProgress: @escaping @Sendable (Double) -> Void,
    warn: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.step = step
    self.inputs = inputs
    self.files = files
    self.store = store
    self.journal = journal
    self.check = check
    self.reportProgress = reportProgress
    self.warn = warn
  }
}

/// All that a stage may use while it publishes files.
package struct PublishingContext: Sendable {
  package let step: StepID
  package let outputs: [PortName: StepOutput]
  /// Their source recordings, nearest first.
  package let recordings: [SourceFile]
  /// The argument for `fileNames`: the recordings' names, or the user's names for them.
  package let names: [String]
  /// The identity of the nearest recording; nil if unknown.
  package let recording: RecordingIdentity?
  /// The chapters that the recordings' sidecars tell of, by input.
  package let chapters: [String: [RunRequest.Chapter]]
  /// The titles that the recordings' sidecars tell, by input.
  package let titles: [String: String]
  /// The user's folder; it exists.
  package let folder: String
  /// Whether files that Spool did not write may be replaced.
  package let isReplacing: Bool
  package let store: any ArtifactStore
  package let exportFolder: any ExportFolder
  /// The steps above, and their outputs so far. During the work, a file that needs an unfinished
  /// step's output may be published at the end.
  package let upstream: UpstreamOutputs
  /// Reports a problem that does not end the work.
  package let warn: @Sendable (String) -> Void

  package init(
    step: StepID, outputs: [PortName: StepOutput], recordings: [SourceFile], names: [String],
    recording: RecordingIdentity? = nil, chapters: [String: [RunRequest.Chapter]] = [:],
    titles: [String: String] = [:], folder: String, isReplacing: Bool,
    store: any ArtifactStore,
    exportFolder: any ExportFolder, upstream: UpstreamOutputs,
    warn: @escaping @Sendable (String) -> Void
  ) {
    self.step = step
    self.outputs = outputs
    self.recordings = recordings
    self.names = names
    self.recording = recording
    self.chapters = chapters
    self.titles = titles
    self.folder = folder
    self.isReplacing = isReplacing
    self.store = store
    self.exportFolder = exportFolder
    self.upstream = upstream
    self.warn = warn
  }
}

/// A stage kind as plain values, from a Swift type or a plugin.
package struct StageRegistration: Sendable {
  package let descriptor: StageDescriptor
  /// The library versions that enter its keys. Called late, since it may load the libraries.
  package let libraries: @Sendable () -> [String: String]
  package let make: @Sendable (Value) throws(SpoolError) -> any Stage
  /// A step's own descriptor, if the kind's depends on the step.
  private let shape: (@Sendable (DocumentNode) -> StageDescriptor)?

  /// Registers a kind that is known only at run time, a plugin's.
  /// - Parameter shape: the descriptor for a step with these written parameters, if its ports are
  ///   declared there; nil if all steps of the kind are alike.
  package init(
    _ descriptor: StageDescriptor, libraries: @escaping @Sendable () -> [String: String],
    shape: (@Sendable (DocumentNode) -> StageDescriptor)? = nil,
    make: @escaping @Sendable (Value) throws(SpoolError) -> any Stage
  ) {
    self.descriptor = descriptor
    self.libraries = libraries
    self.shape = shape
    self.make = make
  }

  /// The kind's shape for a step with these parameters.
  func shaped(by parameters: DocumentNode) -> StageRegistration {
    guard let shape else { return self }
    return StageRegistration(shape(parameters), libraries: libraries, make: make)
  }

  /// - Parameter shape: as above.
  package init<S: DeclaredStage>(
    _ type: S.Type, shape: (@Sendable (DocumentNode) -> StageDescriptor)? = nil
  ) {
    self.shape = shape
    let descriptor = S.descriptor
    self.descriptor = descriptor
    libraries = { S.libraries }
    make = { (value) throws(SpoolError) -> any Stage in
      let decoder = JSONDecoder()
      decoder.keyDecodingStrategy = .custom { path in
        CamelCaseKey(kebabCase: path.last?.stringValue ?? "")
      }
      let parameters: S.Parameters
      do {
        parameters = try decoder.decode(
          S.Parameters.self, from: Data(value.canonicalJSON.utf8))
      } catch {
        // Declaration and type disagree: an error in the stage, found by the catalogue's tests.
        throw SpoolError("cannot read the parameters of \(descriptor.kind)", reason: "\(error)")
      }
      return try S(parameters)
    }
  }
}

/// `true-peak` in a pipeline is `truePeak` in Swift.
private struct CamelCaseKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(kebabCase: String) {
    let words = kebabCase.split(separator: "-")
    stringValue =
      words.prefix(1).joined()
      + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
  }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

/// The stage kinds that a pipeline may use.
package struct StageCatalog: Sendable {
  private let registrations: [String: StageRegistration]
  /// In the order of registration.
  package let kinds: [String]
  /// Where further kinds come from, for people; nil if there is no such place.
  private let elsewhere: String?

  /// Registering a kind twice is an error.
  package init(_ list: [StageRegistration], elsewhere: String? = nil) {
    self.elsewhere = elsewhere
    kinds = list.map(\.descriptor.kind)
    registrations = Dictionary(uniqueKeysWithValues: list.map { ($0.descriptor.kind, $0) })
  }

  package subscript(kind: String) -> StageRegistration? { registrations[kind] }

  /// All kinds, and where further ones come from, for messages.
  package var offer: String {
    ([kinds.joined(separator: ", ")] + (elsewhere.map { [$0] } ?? [])).joined(separator: "; ")
  }

  /// In order.
  package var descriptors: [StageDescriptor] { kinds.compactMap { self[$0]?.descriptor } }
}

/// How a stage treats the recordings of a batch as an album: its work on each of them depends on all.
///
/// Before a batch processes its first file, it surveys every recording at the stage's input, in as
/// many rounds as the stage asks for. The result becomes part of the parameters, and so of the key,
/// of every recording's own stage.
package struct AlbumAnalysis: Sendable {
  package struct Round: Hashable, Sendable {
    /// The parameters of the survey.
    package let asked: [String: Double]
    /// The findings of each recording, by path, as JSON. Unreadable recordings are missing.
    package let findings: [String]

    package init(asked: [String: Double], findings: [String]) {
      self.asked = asked
      self.findings = findings
    }
  }

  package enum Move: Hashable, Sendable {
    /// Survey every recording with these parameters, in base units.
    case survey([String: Double])
    /// Use these parameters for every recording, in base units; none if each is independent.
    case settle([String: Double])
  }

  /// The stage that surveys a recording: a sink that takes its first input and gives a measurement.
  package let survey: StageRegistration
  /// The next move; called first without any round. It must settle eventually.
  package let move: @Sendable ([Round]) throws(SpoolError) -> Move

  package init(
    survey: StageRegistration,
    move: @escaping @Sendable ([Round]) throws(SpoolError) -> Move
  ) {
    self.survey = survey
    self.move = move
  }

  /// Surveys until it is settled what holds for every recording.
  /// - Parameter hear: gives the findings of a round, counted from 1.
  package func figures(
    hear: (_ asked: [String: Double], _ round: Int) throws(SpoolError) -> [String]
  ) throws(SpoolError) -> [String: Double] {
    var rounds: [Round] = []
    while true {
      switch try move(rounds) {
      case .survey(let asked):
        rounds.append(Round(asked: asked, findings: try hear(asked, rounds.count + 1)))
      case .settle(let figures): return figures
      }
    }
  }
}

/// The results for a plan's album steps: parameters in base units, by step.
package typealias AlbumFigures = [StepID: [String: Double]]
