import { expect, it } from 'vitest'
import { stickyCaller } from './sticky-caller.ts'

it.each(['+12025550123', 'sip:ann@example.com'])('sticks to %s', (from) => {
  expect(stickyCaller({ from, callSid: 'CA1' })).toBe(from)
})

it.each(['', 'anonymous', 'Restricted', '+266696687', 'sip:anonymous@example.com', 'sip:@x'])(
  'sticks to the call when the number is withheld: "%s"',
  (from) => {
    expect(stickyCaller({ from, callSid: 'CA1' })).toBe('CA1')
  },
)
