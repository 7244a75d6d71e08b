import { primaryLanguage } from '../kernel/language.ts'

type BuiltIn = { readonly moment: string; readonly sorry: string }

/** That no model can be had, in the language in which everybody is told it who is told it in no other. */
export const APOLOGY = 'I am sorry, we are having technical difficulties.'

/** By `primaryLanguage`. A further one is a line here. */
const WORDS: ReadonlyMap<string, BuiltIn> = new Map([
  ['cs', { moment: 'Okamžik, prosím.', sorry: 'Omlouváme se, máme technické potíže.' }],
  ['da', { moment: 'Et øjeblik, tak.', sorry: 'Vi beklager, vi har tekniske problemer.' }],
  ['de', { moment: 'Einen Moment, bitte.', sorry: 'Es tut mir leid, wir haben technische Schwierigkeiten.' }],
  ['en', { moment: 'One moment, please.', sorry: APOLOGY }],
  ['es', { moment: 'Un momento, por favor.', sorry: 'Lo siento, tenemos problemas técnicos.' }],
  ['fr', { moment: "Un instant, s'il vous plaît.", sorry: 'Toutes nos excuses, nous avons un problème technique.' }],
  ['it', { moment: 'Un momento, per favore.', sorry: 'Ci scusiamo, abbiamo problemi tecnici.' }],
  ['nl', { moment: 'Een ogenblik, alstublieft.', sorry: 'Het spijt me, we hebben technische problemen.' }],
  ['no', { moment: 'Et øyeblikk, takk.', sorry: 'Beklager, vi har tekniske problemer.' }],
  ['pl', { moment: 'Chwileczkę, proszę.', sorry: 'Przepraszamy, mamy problemy techniczne.' }],
  ['pt', { moment: 'Um momento, por favor.', sorry: 'Pedimos desculpa, estamos com problemas técnicos.' }],
  ['ru', { moment: 'Одну минуту, пожалуйста.', sorry: 'Приносим извинения, у нас технические неполадки.' }],
  ['sv', { moment: 'Ett ögonblick, tack.', sorry: 'Vi ber om ursäkt, vi har tekniska problem.' }],
  ['tr', { moment: 'Bir dakika, lütfen.', sorry: 'Özür dileriz, teknik bir sorun yaşıyoruz.' }],
  ['uk', { moment: 'Одну хвилину, будь ласка.', sorry: 'Перепрошуємо, у нас технічні проблеми.' }],
])

/**
 * What bridges an answer that is late where an agent has no words for that, and what is said when no model can be had. Null in a
 * language that is not known, or not here: a sentence in a wrong one is worse than a sound.
 */
export function builtInWords(language: string | null): BuiltIn | null {
  return language === null ? null : (WORDS.get(primaryLanguage(language)) ?? null)
}
