import { describe, expect, it } from 'vitest'
import { builtInWords } from '../agents/built-in-words.ts'
import { apologySentence, carrierSentence } from './carrier-words.ts'

describe('what a carrier says in our place', () => {
  it('is in the language of the agent, with the English beside it for a carrier that does not speak that', () => {
    expect(carrierSentence(({ busy }) => busy, 'de-AT')).toEqual({
      text: 'Zurzeit sind alle Leitungen belegt. Bitte rufen Sie später noch einmal an. Auf Wiederhören.',
      language: 'de-AT',
      english: 'All our lines are busy at the moment. Please call again later. Goodbye.',
    })
    expect(apologySentence('es')).toMatchObject({ text: 'Lo siento, tenemos problemas técnicos.', language: 'es' })
  })

  it.each([['nb-NO'], ['nn'], ['no']])('is the same for those who write Norwegian as %s', (language) => {
    expect(carrierSentence(({ busy }) => busy, language).text).toMatch(/opptatt/)
    expect(apologySentence(language).text).toMatch(/^Beklager/)
  })

  it.each([[null], ['ja'], ['gsw']])('is English where the language is %s', (language) => {
    const english = 'We are sorry, the call cannot go on. Please call again later. Goodbye.'
    expect(carrierSentence(({ lost }) => lost, language)).toEqual({ text: english })
    expect(apologySentence(language)).toEqual({ text: 'I am sorry, we are having technical difficulties.' })
  })

  it('is there in each language in which an agent apologises', () => {
    const languages = 'cs da de es fr it nl no pl pt ru sv tr uk'.split(' ')
    const said = languages.map((language) => carrierSentence((words) => Object.values(words).join(' '), language))
    expect(new Set(said.map(({ text }) => text)).size).toBe(languages.length)
    expect(said.filter(({ text, english }) => text === english)).toEqual([])
    expect(languages.map(builtInWords)).not.toContain(null)
  })

  const CALLS = {
    ...{ cs: 'Hovor', da: 'opkaldet', de: 'den Anruf', en: 'the call', es: 'la llamada', fr: "l'appel" },
    ...{ it: 'la chiamata', nl: 'het gesprek', no: 'samtalen', pl: 'połączenie', pt: 'a chamada', ru: 'звонок' },
    ...{ sv: 'samtalet', tr: 'Çağrıyı', uk: 'дзвінок' },
  }

  it.each(Object.entries(CALLS))(
    'names the call that a key takes, as what it is about is told before that: %s',
    (language, call) => {
      expect(carrierSentence(({ pressOne }) => pressOne, language).text).toContain(call)
    },
  )
})
