import { expect, it } from 'vitest'
import { stickyCaller } from './sticky-caller.ts'

it.each(['+12025550123', 'sip:ann@example.com', 'client:alice'])('sticks to %s', (from) => {
  expect(stickyCaller({ from, callSid: 'CA1' })).toBe(from)
})

it.each([
  'tel:+1-202-555-0123',
  'tel:+12025550123;phone-context=x',
  'sip:+12025550123@a.example.org',
  'SIPS:+12025550123@b.example.org:5061;transport=tls',
])('sticks to the number of %s', (from) => {
  expect(stickyCaller({ from, callSid: 'CA1' })).toBe('+12025550123')
})

it.each(['sip:ann@Example.COM', 'sips:ann@example.com;transport=tls'])('sticks to who %s is', (from) => {
  expect(stickyCaller({ from, callSid: 'CA1' })).toBe('sip:ann@example.com')
})

it.each([
  '',
  'anonymous',
  'Restricted',
  '+266696687',
  '+86282452253',
  'sip:anonymous@example.com',
  'sip:@x',
  'tel:anonymous',
])('sticks to the call when the number is withheld: "%s"', (from) => {
  expect(stickyCaller({ from, callSid: 'CA1' })).toBe('CA1')
})
