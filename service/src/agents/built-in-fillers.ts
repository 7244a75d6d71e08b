/** By the primary subtag of a language. A further one is a line here. */
const ONE_MOMENT: ReadonlyMap<string, string> = new Map([
  ['cs', 'Okamžik, prosím.'],
  ['da', 'Et øjeblik, tak.'],
  ['de', 'Einen Moment, bitte.'],
  ['en', 'One moment, please.'],
  ['es', 'Un momento, por favor.'],
  ['fr', "Un instant, s'il vous plaît."],
  ['it', 'Un momento, per favore.'],
  ['nb', 'Et øyeblikk, takk.'],
  ['nl', 'Een ogenblik, alstublieft.'],
  ['no', 'Et øyeblikk, takk.'],
  ['pl', 'Chwileczkę, proszę.'],
  ['pt', 'Um momento, por favor.'],
  ['ru', 'Одну минуту, пожалуйста.'],
  ['sv', 'Ett ögonblick, tack.'],
  ['tr', 'Bir dakika, lütfen.'],
  ['uk', 'Одну хвилину, будь ласка.'],
])

/**
 * What bridges an answer that is late where an agent has no words for that. None in a language that is not known, or not here: a
 * sentence in a wrong one is worse than a sound.
 */
export function builtInFillers(language: string | null): string[] {
  const [primary = ''] = language?.toLowerCase().split('-') ?? []
  const words = ONE_MOMENT.get(primary)
  return words === undefined ? [] : [words]
}
