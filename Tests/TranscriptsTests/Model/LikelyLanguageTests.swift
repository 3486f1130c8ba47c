import Testing
import Transcripts

@Suite("The language of a text is guessed by its function words") struct LikelyLanguageTests {
  @Test(
    "a paragraph is enough",
    arguments: [
      (
        "en",
        "The old man went through the forest with his dog, and it was dark when they came home."
      ),
      ("de", "Der alte Müller ging mit seinem Hund durch den Wald, obwohl es schon dunkel wurde."),
      (
        "fr",
        "Parfois, à peine ma bougie éteinte, mes yeux se fermaient si vite que je n'avais pas le temps."
      ),
      (
        "es",
        "En un lugar de la Mancha, de cuyo nombre no quiero acordarme, no ha mucho que vivía un hidalgo."
      ),
      (
        "it",
        "Nel mezzo del cammin di nostra vita mi ritrovai per una selva oscura che la diritta via era smarrita."
      ),
      (
        "pt",
        "O homem foi para casa com o cão, mas não havia mais ninguém na rua quando ele chegou."
      ),
      (
        "nl",
        "De oude man ging met zijn hond door het bos, maar het was al donker toen hij naar huis ging."
      ),
      ("pl", "Stary człowiek był w lesie z psem i nie wiedział, że to jest już po zmroku."),
      (
        "sv", "Den gamle mannen gick med sin hund, och det var mörkt när han kom hem till de andra."
      ),
      (
        "da",
        "Den gamle mand gik med sin hund, og det var blevet mørkt, da han kom hjem til de andre efter dem."
      ),
    ])
  func known(language: String, text: String) {
    #expect(Transcript(segments: [Segment(text: text)]).likelyLanguage == language)
  }

  @Test(
    "names and few words are in no language", arguments: ["", "Anna Otto", "lorem ipsum dolor"])
  func unknown(text: String) {
    #expect(Transcript(segments: [Segment(text: text)]).likelyLanguage == nil)
  }
}
