import { describe, expect, it } from 'vitest'
import { greetingIn, keysIn, saysPhrase, wordsToSay } from './words.ts'

describe('keysIn', () => {
  it.each([
    ['The caller pressed 1.', '1'],
    ['[DTMF] 4 2 #', '42#'],
    ['The caller entered the digits: 1,2,3,4', '1234'],
    ['Keypad input: *9', '*9'],
    ['The caller entered 1234#', '1234#'],
    ['The caller said 12.', null],
    ['The caller pressed nothing.', null],
  ])('%s → %s', (text, keys) => {
    expect(keysIn(text)).toBe(keys)
  })
})

describe('wordsToSay', () => {
  it.each([
    ['Say exactly: "Thank you for holding."', 'Thank you for holding.'],
    ['Greet the caller with “Good morning.”', 'Good morning.'],
    ['Ask the caller: "Are you still there?"', 'Are you still there?'],
    ['Repeat this verbatim: One moment, please.', 'One moment, please.'],
    ['Say exactly this, and nothing else: Welcome to "The Shop". Goodbye.', 'Welcome to "The Shop". Goodbye.'],
    ['You may say "yes". Say exactly: "No." Then wait.', 'No.'],
    ['Be brief and kind.', null],
    ['The "gold" tariff is ours.', null],
  ])('%s → %s', (instructions, words) => {
    expect(wordsToSay(instructions)).toBe(words)
  })
})

describe('greetingIn', () => {
  it('finds the greeting that instructions quote, and none where there is none', () => {
    expect(greetingIn('You are Ada. Begin the call by saying "Ada speaking."')).toBe('Ada speaking.')
    expect(greetingIn('You are Ada.')).toBeNull()
  })
})

describe('saysPhrase', () => {
  it.each([
    ['I said: Good-bye!', 'good bye', true],
    ['goodbyes are hard', 'goodbye', false],
    ['two, or three', 'TWO OR THREE', true],
    ['', 'anything', false],
  ])('"%s" says "%s": %s', (heard, phrase, says) => {
    expect(saysPhrase(heard, phrase)).toBe(says)
  })
})
