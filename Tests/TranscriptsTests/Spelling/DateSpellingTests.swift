import Testing
import Transcripts

@Suite("Dates, times and rates as people say them") struct DateSpellingTests {
  @Test(
    "the likeliest way is the first",
    arguments: [
      ("May 5,", "may fifth"), ("5 May", "the fifth of may"), ("5th May", "the fifth of may"),
      ("5 May, 1999", "the fifth of may nineteen ninety nine"),
      ("There were 5. May left.", "there were five may left"),
      ("Dec. 25", "december twenty fifth"), ("at least 5 may go", "at least five may go"),
      ("In May, 5 left", "in may five left"), ("May 50", "may fifty"),
      ("12/25/2024", "december twenty fifth twenty twenty four"),
      ("2024-12-25", "december twenty fifth twenty twenty four"),
      ("25.12.2024", "the twenty fifth of december twenty twenty four"),
      ("12/25", "twelve twenty five"), ("9-5", "nine to five"), ("9am–5pm", "nine a m to five p m"),
      ("1980s–1990s", "nineteen eighties to nineteen nineties"), ("1st-3rd", "first to third"),
      ("1.2-3.4", "one point two to three point four"), ("14:00", "fourteen hundred"),
      ("10:00", "ten"), ("2 tsp.", "two teaspoons"),
      ("a tbsp.", "a tablespoon"), ("c. 1850", "circa eighteen fifty"), ("c.", "c"),
      ("978-3-16", "nine seven eight three one six"), ("1.2.3", "one dot two dot three"),
      ("10.0.0.1:8080", "ten dot zero dot zero dot one colon eighty eighty"),
      ("4111111111111111", "four" + String(repeating: " one", count: 15)),
      (String(repeating: "7", count: 300), String(repeating: "seven ", count: 299) + "seven"),
    ])
  func first(written: String, spoken: String) {
    #expect(ways(written).compactMap(\.first).joined(separator: " ") == spoken)
  }

  @Test(
    "others are listened for, and they are few",
    arguments: [
      ("May 5", "five"), ("May 5", "the fifth"), ("5 May", "fifth of"), ("5 May", "five"),
      ("12/25/2024", "twelve twenty five twenty twenty four"),
      ("5/6/2024", "the fifth of june twenty twenty four"), ("12/25", "december twenty fifth"),
      ("14:00", "two o'clock"), ("14:30", "two thirty"), ("55mph", "fifty five miles an hour"),
      ("km/h", "kilometers an hour"), ("£8/hr", "eight pounds an hour"), ("5/day", "five a day"),
      ("9.8m/s", "nine point eight meters a second"), ("2mg/day", "two milligrams per day"),
    ])
  func others(written: String, spoken: String) {
    #expect(ways(written).contains { $0.contains(spoken) })
    #expect(ways(written).allSatisfy { $0.count <= 6 })
  }

  @Test("a number of more than a thousand digits is not read")
  func endless() {
    #expect(ways(String(repeating: "7", count: 1001))[0].isEmpty)
  }

  private func ways(_ text: String) -> [[String]] {
    EnglishSpelling().ways(of: text.split(separator: " ").map(String.init)).map { ways in
      ways.map { $0.joined(separator: " ") }
    }
  }
}
