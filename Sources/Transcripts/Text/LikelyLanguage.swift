extension Transcript {
  /// The language that its words are most likely in, as a two-letter tag; nil where there is too little
  /// to tell, or two are equally likely. Knows the larger languages of Europe by their function words.
  /// O(words).
  package var likelyLanguage: String? {
    let words = words.map { word in
      word.text.lowercased().filter { $0.isLetter || $0 == "'" || $0 == "’" }
    }
    let counts = Self.functionWords.map { language, known in
      (language: language, count: words.count { known.contains($0) })
    }.sorted { $0.count > $1.count }
    guard let best = counts.first, best.count >= 3, 8 * best.count >= words.count,
      4 * best.count >= 5 * counts[1].count
    else { return nil }
    return best.language
  }

  /// Common words of languages, by their tags.
  private static let functionWords: [String: Set<String>] = [
    "en": "the of and to in is that was for it with as his on be at by had not are but from have "
      + "they which you were her she there would their we him been has when who will no if out so "
      + "said what up its about than into them can only other this an do my your",
    "de":
      "der die und das in den von zu mit sich des auf für ist im dem nicht ein eine als auch es "
      + "an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so "
      + "zum war haben nur oder aber vor zur bis mehr durch man ich wir ihr ihn ihm doch wenn dann "
      + "seine seinem sein wurde schon obwohl",
    "fr": "le la les de des du un une et est en que qui dans pour il elle sur pas au ce se ne par "
      + "plus avec son sa ses je nous vous ils elles mais ou où on sont été cette ces aux leur si "
      + "tout comme être avait était me mes mon ma fait à bien même",
    "es":
      "el la los las de del un una y en que por con para se no su sus al lo como más pero le ya "
      + "o este sí porque esta entre cuando muy sin sobre también me hasta hay donde quien desde "
      + "todo nos durante uno ni ese eso es fue era había está yo mi",
    "it":
      "il lo la gli le di del della dei delle un una e è in che per con non si da al alla dal nel "
      + "nella su come più ma anche se ha sono questo questa era suo sua suoi loro io tu lui lei noi "
      + "mi ci o quando molto tutto dove perché essere aveva ancora",
    "pt": "o os as de do da dos das um uma e em no na nos nas que por com para se não seu sua ao à "
      + "como mais mas foi ele ela eles já ou quando muito também só pelo pela até isso entre depois "
      + "sem mesmo eu você nós está era havia ser são é",
    "nl": "de het een en van in is dat op te zijn met voor niet aan er om hij ook als maar dan zij "
      + "bij uit nog naar door over ze wordt werd tot je mijn deze dit haar hem wat wel geen kan "
      + "worden heeft hebben had was we ik ben toen",
    "pl":
      "i w na z do się nie że to jest o jak po co ale za od tak przez dla ma był była było przy "
      + "już tylko czy ich jego jej które który która oraz może być jestem mnie ja my on ona są",
    "sv":
      "och i att det som en på är av för med till den har de inte om ett han men var sig från vi "
      + "så kan när år under också efter eller nu sin där vid mot ska skulle kommer ut får finns "
      + "hade alla andra mycket än här då över hon jag",
    "da": "og i at det som en på er af for med til den har de ikke om et han men var sig fra vi så "
      + "kan når også efter eller nu sin hvor ved mod skal skulle kommer ud får blev havde alle "
      + "andre meget end her da hun jeg være bliver",
  ].mapValues { Set($0.split(separator: " ").map(String.init)) }
}
